import type { Actor } from "../audit/record.ts";
import type { ActivationId } from "../kernel/brand.ts";
import type { Owner } from "../kernel/owner.ts";
import { Problem } from "../kernel/problem.ts";
import { requireAgent } from "../passports/passport.ts";

import type { Tx } from "../store/store.ts";
import type { Activation, Target } from "./activation.ts";
import { cancelActivation } from "./cancel.ts";
import { type Edit, rescheduleActivation } from "./reschedule.ts";

/** What may become of an item. */
export const bulkStatuses = ["cancelled", "rescheduled", "failed"] as const;
type BulkStatus = (typeof bulkStatuses)[number];

/** What became of one item, under the identifier it came with. */
export interface BulkOutcome {
  activation_id?: ActivationId;
  iccid?: string;
  status: BulkStatus;
  /** not_found, not_cancellable:<status>, not_editable:<status>, invalid_activation_date, passport_expired. */
  reason?: string;
  activation?: Activation;
}

/** The outcomes in the order of the request, and how many there are of each. */
export interface BulkResult {
  results: BulkOutcome[];
  summary: { total: number; successful: number; failed: number };
}

/**
 * Cancels up to 200 requests, one after the other in the order given, each for itself (contract: bulk/cancel). Throws
 * only `no_agent_record`.
 */
export async function bulkCancel(
  tx: Tx,
  input: { owner: Owner; targets: Target[]; reason: string | null; actor: Actor },
): Promise<BulkResult> {
  const { owner, targets, reason, actor } = input;
  await requireAgent(tx, owner.partnerId);
  const results: BulkOutcome[] = [];
  for (const target of targets) {
    const outcome = () => cancelActivation(tx, { owner, target, reason, actor });
    results.push(await outcomeOf(target, "cancelled", outcome));
  }
  return summed(results);
}

/** Changes up to 200 requests in the same way (contract: bulk/reschedule). Throws only `no_agent_record`. */
export async function bulkReschedule(
  tx: Tx,
  input: { owner: Owner; items: { target: Target; edit: Edit }[]; actor: Actor },
): Promise<BulkResult> {
  const { owner, items, actor } = input;
  await requireAgent(tx, owner.partnerId);
  const results: BulkOutcome[] = [];
  for (const { target, edit } of items) {
    const outcome = () => rescheduleActivation(tx, { owner, target, edit, actor });
    results.push(await outcomeOf(target, "rescheduled", outcome));
  }
  return summed(results);
}

/** Refusals come before anything is written, so one can be kept and the transaction go on. */
async function outcomeOf(
  target: Target,
  status: Exclude<BulkStatus, "failed">,
  act: () => Promise<Activation>,
): Promise<BulkOutcome> {
  const key = "id" in target ? { activation_id: target.id } : { iccid: target.iccid };
  try {
    return { ...key, status, activation: await act() };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { ...key, status: "failed", reason: reasonOf(error) };
  }
}

/** A refusal's own reason where it has one, e.g. passport_expired; else its slug, with the status that it names. */
export function reasonOf({ slug, members }: Problem): string {
  if (typeof members.reason === "string") return members.reason;
  return typeof members.current_status === "string" ? `${slug}:${members.current_status}` : slug;
}

function summed(results: BulkOutcome[]): BulkResult {
  const failed = results.filter((result) => result.status === "failed").length;
  return { results, summary: { total: results.length, successful: results.length - failed, failed } };
}
