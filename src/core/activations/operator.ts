import type { Actor } from "../audit/record.ts";
import { requireCarrier } from "../carriers/carrier.ts";
import type { ActivationId } from "../kernel/brand.ts";
import { Problem } from "../kernel/problem.ts";
import type { Tx } from "../store/store.ts";
import { type Activation, type ActivationRow, requireActivation, toActivation } from "./activation.ts";
import { applyOutcome } from "./apply-outcome.ts";
import { auditActivation } from "./audit.ts";
import type { CarrierOutcome } from "./outcome.ts";
import { progressActivation } from "./progress.ts";
import { type ActivationState, stateOf } from "./states.ts";

/** What staff record of a request that they work in a carrier's portal. */
export type OperatorMove =
  | { verb: "confirm"; confirmationNumber: string }
  | { verb: "complete"; mobileNumber: string }
  | { verb: "fail"; errorType: string; errorMessage: string }
  | { verb: "retry" };

/** The states in which each verb makes sense; retry also in processing, see `waitsForStaff`. */
const operatorVerbs: Readonly<Record<OperatorMove["verb"], readonly ActivationState[]>> = {
  confirm: ["processing"],
  complete: ["processing", "confirmed", "manual_required"],
  fail: ["processing", "confirmed", "manual_required"],
  retry: ["manual_required"],
};

/**
 * Confirms, completes, fails or retries a physical-SIM request of any partner by hand, with the same effects as a
 * carrier's answer. Throws `not_found`, `conflict` naming its state.
 */
export async function moveActivation(
  tx: Tx,
  input: { id: ActivationId; move: OperatorMove; actor: Actor },
): Promise<Activation> {
  const { id, move, actor } = input;
  const row = await requireActivation(tx, id);
  const state = stateOf(row);
  if (!operatorVerbs[move.verb].includes(state) && !(move.verb === "retry" && (await waitsForStaff(tx, row)))) {
    const possible = operatorVerbs[move.verb].join(", ");
    throw new Problem("conflict", `This activation is ${state}; ${move.verb} works on ${possible}.`, {
      members: { current_status: row.status },
    });
  }
  const next = move.verb === "retry" ? await retry(tx, row) : await record(tx, row, { move, actor });
  const fields = Object.keys(move).filter((name) => name !== "verb");
  await auditActivation(tx, row, { action: `activations.${move.verb}`, actor, fields });
  return toActivation(next);
}

/**
 * Whether a request was left to staff by a carrier that was worked by hand then and no longer is. Nothing sends it by
 * itself: staff may have typed it into the portal already.
 */
async function waitsForStaff(tx: Tx, row: ActivationRow): Promise<boolean> {
  const idle = stateOf(row) === "processing" && row.due_at === null && row.deadline_at === null;
  return idle && (await requireCarrier(tx, row.carrier_prefix)).adapter !== "manual";
}

async function record(
  tx: Tx,
  row: ActivationRow,
  { move, actor }: { move: Exclude<OperatorMove, { verb: "retry" }>; actor: Actor },
): Promise<ActivationRow> {
  // What only a person can decide first takes the request back from the staff's pile.
  const open = stateOf(row) === "manual_required" && move.verb === "fail" ? await reopen(tx, row) : row;
  const answer = await applyOutcome(tx, { id: open.id, outcome: outcomeOf(move), source: "operator", actor });
  return answer.row;
}

function outcomeOf(move: Exclude<OperatorMove, { verb: "retry" }>): CarrierOutcome {
  switch (move.verb) {
    case "confirm":
      return { kind: "confirmed", confirmationNumber: move.confirmationNumber };
    case "complete":
      return { kind: "activated", mobileNumber: move.mobileNumber, confirmationNumber: null };
    case "fail":
      return { kind: "refused", errorType: move.errorType, errorMessage: move.errorMessage };
  }
}

/** The carrier is asked again, at once, under the same reference, with all tries before it. */
async function retry(tx: Tx, row: ActivationRow): Promise<ActivationRow> {
  const open = stateOf(row) === "processing" ? row : await reopen(tx, row);
  const again = await progressActivation(tx, open, { due_at: tx.now, exchanges: 0 });
  tx.signal("activations");
  return again;
}

function reopen(tx: Tx, row: ActivationRow): Promise<ActivationRow> {
  const cleared = { error_type: null, error_message: null, faults: 0, deadline_at: null, leased_until: null };
  return progressActivation(tx, row, { state: "processing", ...cleared });
}
