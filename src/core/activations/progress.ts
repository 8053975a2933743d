import { assertMove } from "../kernel/state-machine.ts";
import { updateRow } from "../store/rows.ts";
import type { Tx } from "../store/store.ts";
import type { ActivationRow } from "./activation.ts";
import { type ActivationState, activationTransitions, stateOf, statusesOf } from "./states.ts";

/** Columns that no change names: whose request it is and for which SIM, and what follows from its state. */
type Fixed =
  | "id"
  | "partner_id"
  | "environment"
  | "iccid"
  | "status"
  | "processing_status"
  | "created_at"
  | "updated_at";

/** A change: a move to another state, other fields, or both. Fields that are left out stay. */
export type Change = Partial<Omit<ActivationRow, Fixed>> & { state?: ActivationState };

/** Writes what changed; the state only moves as the transition table allows. Answers the new row. */
export async function progressActivation(tx: Tx, row: ActivationRow, change: Change): Promise<ActivationRow> {
  const { state, ...fields } = change;
  if (state !== undefined) assertMove(activationTransitions, stateOf(row), state);
  const changed = { ...fields, ...(state === undefined ? {} : statusesOf[state]), updated_at: tx.now };
  await updateRow(tx, "activations", { id: row.id }, changed);
  return { ...row, ...changed };
}
