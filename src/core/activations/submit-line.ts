import { Problem } from "../kernel/problem.ts";
import type { Tx } from "../store/store.ts";
import { type Activation, requireActivation, toActivation } from "./activation.ts";
import { refuseDiffering } from "./differs.ts";
import { listActivations } from "./list.ts";
import { checkSubmission, enterRequest, type NewActivation, type Submission } from "./submit.ts";

/** A line of a bulk submission. */
export interface Line extends Omit<Submission, "draw"> {
  /** Submit it although a request for the same ICCID and date was cancelled or failed. */
  again: boolean;
}

/** A line that has its request; `replayed`: the request was there before. */
export interface SubmittedLine {
  activation: Activation;
  replayed: boolean;
}

/** Whether a line takes its identity from the pool: it names no passport. */
export function isDrawn({ passport_no }: Pick<NewActivation, "passport_no">): boolean {
  return (passport_no?.trim() ?? "") === "";
}

/** Whether a request still holds its ICCID: open, completed, or left to staff. */
export function isHeld({ status, processing_status }: Pick<Activation, "status" | "processing_status">): boolean {
  return (status !== "cancelled" && status !== "failed") || processing_status === "manual_required";
}

/** Most requests of one ICCID that are looked through for one of the same date. */
const MOST_BEFORE = 100;

/**
 * Takes a line into the queue as `submitActivation` takes a request; a line without a passport number draws from the
 * pool. ICCID and date identify it: where the owner's request for both is held and says the same, that one is the
 * answer and nothing changes. Throws `duplicate` with the reason `differs` where it says something else, what
 * `submitActivation` throws, and unless `again` `conflict` with the reason `ended_before:<status>`.
 */
export async function submitLine(tx: Tx, { again, ...line }: Line): Promise<SubmittedLine> {
  const { request, partnerId, environment } = line;
  const submission = { ...line, draw: isDrawn(request) };
  const checked = await checkSubmission(tx, submission);
  const { iccid, activation_date } = request;
  const { data } = await listActivations(tx, { partnerId, environment, iccid, limit: MOST_BEFORE });
  const before = data.filter((one) => one.activation_date === activation_date);
  const held = before.find(isHeld);
  if (held !== undefined) {
    refuseDiffering(tx, await requireActivation(tx, held.id), { ...request, ...checked.fields });
    return { activation: held, replayed: true };
  }
  const [ended] = before;
  if (ended !== undefined && !again) return refuseAgain(ended);
  return { activation: toActivation(tx, await enterRequest(tx, submission, checked)), replayed: false };
}

function refuseAgain({ status }: Activation): never {
  const words = `A request for this ICCID and date was ${status} before; with again: true it is submitted again.`;
  throw new Problem("conflict", words, { members: { reason: `ended_before:${status}` } });
}
