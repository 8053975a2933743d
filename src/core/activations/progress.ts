import { eq } from "drizzle-orm";
import type { ActivationId } from "../kernel/brand.ts";
import { assertMove } from "../kernel/state-machine.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import type { ActivationRow } from "./activation.ts";
import { type ActivationState, activationTransitions, stateOf, statusesOf } from "./states.ts";

/** What may change about a request after its creation. */
type Progress = Pick<
  ActivationRow,
  | "activation_date"
  | "note"
  | "status"
  | "processing_status"
  | "processing_mode"
  | "mobile_number"
  | "confirmation_number"
  | "error_type"
  | "error_message"
  | "cancel_reason"
  | "not_before"
  | "due_at"
  | "leased_until"
  | "faults"
  | "exchanges"
  | "deadline_at"
  | "queued_at"
  | "submitted_at"
  | "confirmed_at"
  | "activated_at"
  | "cancelled_at"
  | "finished_at"
>;

/** A change: a move to another state, other fields, or both. Fields that are left out stay. */
export type Change = Partial<Omit<Progress, "status" | "processing_status">> & { state?: ActivationState };

const write = statement((db, t, slot: Slots<Progress & { id: ActivationId; updated_at: number }>) =>
  db
    .update(t.activations)
    .set({
      activation_date: slot.activation_date,
      note: slot.note,
      status: slot.status,
      processing_status: slot.processing_status,
      processing_mode: slot.processing_mode,
      mobile_number: slot.mobile_number,
      confirmation_number: slot.confirmation_number,
      error_type: slot.error_type,
      error_message: slot.error_message,
      cancel_reason: slot.cancel_reason,
      not_before: slot.not_before,
      due_at: slot.due_at,
      leased_until: slot.leased_until,
      faults: slot.faults,
      exchanges: slot.exchanges,
      deadline_at: slot.deadline_at,
      queued_at: slot.queued_at,
      submitted_at: slot.submitted_at,
      confirmed_at: slot.confirmed_at,
      activated_at: slot.activated_at,
      cancelled_at: slot.cancelled_at,
      finished_at: slot.finished_at,
      updated_at: slot.updated_at,
    })
    .where(eq(t.activations.id, slot.id)),
);

/** Writes what changed; the state only moves as the transition table allows. Answers the new row. */
export async function progressActivation(tx: Tx, row: ActivationRow, change: Change): Promise<ActivationRow> {
  const { state, ...fields } = change;
  if (state !== undefined) assertMove(activationTransitions, stateOf(row), state);
  const next = { ...row, ...fields, ...(state === undefined ? {} : statusesOf[state]), updated_at: tx.now };
  await write(tx, next);
  return next;
}
