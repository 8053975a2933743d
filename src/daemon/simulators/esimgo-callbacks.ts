import { createHmac } from "node:crypto";
import type { EsimgoAssignment, EsimgoEsim, EsimgoOptions } from "./esimgo-account.ts";
import { bytesLeft, initialBytes } from "./esimgo-assignments.ts";
import { seconds } from "./esimgo-call.ts";
import type { ProviderCallback } from "./provider.ts";

/** What a callback of version 3 says. */
export interface EsimgoNotice {
  alertType: "FirstAttachment" | "FirstUse" | "Utilisation";
  iccid: string;
  bundle?: Record<string, unknown>;
}

/** A notice of the use of a bundle, as it is now. */
export function usageNotice(
  alertType: "FirstUse" | "Utilisation",
  { iccid }: EsimgoEsim,
  assignment: EsimgoAssignment,
): EsimgoNotice {
  const { bundle, startedAt, endsAt } = assignment;
  const fields = {
    id: assignment.id,
    reference: assignment.reference,
    name: bundle.name,
    description: bundle.description,
    initialQuantity: initialBytes(assignment),
    remainingQuantity: bytesLeft(assignment),
    startTime: startedAt === null ? null : seconds(startedAt),
    endTime: endsAt === null ? null : seconds(endsAt),
    unlimited: bundle.unlimited,
  };
  return { alertType, iccid, bundle: fields };
}

/** A notice as it is sent: signed over the exact bytes, with the API key as the key. */
export function signedCallback(
  notice: EsimgoNotice,
  { url, key, signature = "base64" }: { url: string; key: string; signature?: EsimgoOptions["signature"] },
): ProviderCallback {
  const body = bodyOf(notice);
  const headers = {
    "content-type": "application/json",
    "x-signature-sha256": createHmac("sha256", key).update(body).digest(signature),
  };
  return { url, headers, body };
}

/** FirstUse has the ICCID as a bare number, as its published example does: more digits than a double holds. */
function bodyOf({ alertType, iccid, bundle }: EsimgoNotice): string {
  if (alertType !== "FirstUse") return JSON.stringify({ iccid, alertType, bundle });
  return `{"iccid":${iccid},"alertType":"FirstUse","bundle":${JSON.stringify(bundle)}}`;
}
