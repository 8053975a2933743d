import { invalid, messageOnly, plainMoment, refused, success } from "./airalo-answers.ts";
import { readFields } from "./airalo-fields.ts";
import type { AiraloMemory } from "./airalo-memory.ts";
import type { ProviderAnswer, ProviderRequest } from "./provider.ts";

const reasons = [
  ...["INSTALLATION_FAILURE", "NO_COVERAGE", "APN_FAILURE", "TRIP_CANCELLATION", "INTERMITTENT_CONNECTION"],
  ...["BLOCKED_NETWORK", "CHANGE_OF_PLAN", "DELETED_ESIM", "EARLY_EXPIRY", "HOTSPOT_NOT_WORKING", "IMSI_CHANGE"],
  ...["INCOMPATIBLE_DEVICE", "LOCKED_DEVICE", "NO_VOICE_TEXT_SERVICES", "OVERCHARGED", "SLOW_SPEED"],
  ...["TOP_UP_PACKAGE_FAILURE", "UNKNOWN_CHARGES", "WRONG_PURCHASE", "UNABLE_TO_ACCESS_APPS"],
  ...["SERVICE_DEGRADATION", "QR_ISSUE_PARTNERS", "OTHERS"],
];

const MOST_ICCIDS = 5;
const LONGEST_NOTES = 255;

/** `POST /refund`: asks for a refund, which people decide on later; no money moves. */
export function requestRefund(memory: AiraloMemory, request: ProviderRequest): ProviderAnswer {
  const fields = readFields(request, ["multipart"]);
  const iccids = fields.list("iccids");
  if (iccids === null) return messageOnly(422, "The iccids field is required.");
  if (iccids.length > MOST_ICCIDS) return messageOnly(422, `The iccids may not have more than ${MOST_ICCIDS} items.`);
  const reason = fields.text("reason");
  if (reason === null) return messageOnly(422, "The reason field is required.");
  if (!reasons.includes(reason)) {
    const listed = reasons.join(", ");
    return invalid({ reason: `The selected reason is invalid. It must be one of the following: ${listed}` });
  }
  const notes = fields.text("notes");
  if (reason === "OTHERS" && notes === null) {
    return invalid({ notes: "The notes field is required when reason is OTHERS." });
  }
  if ([...(notes ?? "")].length > LONGEST_NOTES) {
    return invalid({ notes: `The notes may not be greater than ${LONGEST_NOTES} characters.` });
  }
  if (!/^[^@\s]+@[^@\s]+$/.test(fields.text("email") ?? "a@b")) {
    return invalid({ email: "The email must be a valid email address." });
  }
  const unknown = iccids.filter((iccid) => !memory.sims.has(iccid));
  // The one refusal that is published for a request in order.
  const strangers = request.steered?.outcome === "refuse" ? iccids : unknown;
  if (strangers.length > 0) {
    return messageOnly(422, `The following ICCIDs do not belong to your company: ${strangers.join(", ")}`);
  }
  if (request.steered?.outcome === "busy") return refused(53);
  const created_at = plainMoment(request.now).slice(0, -3);
  return success({ refund_id: String(memory.next()), created_at }, 202);
}
