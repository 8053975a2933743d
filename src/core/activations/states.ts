import { changesOf } from "../audit/changes.ts";
import { assertMove, type Transitions } from "../kernel/state-machine.ts";
import { type ActivationStep, activationStep } from "../outbox/activation-step.ts";
import { recordEvent } from "../outbox/record.ts";
import { updateRow } from "../store/rows.ts";
import type { ActivationStatus, ProcessingStatus } from "../store/schema/values.ts";
import type { Tx } from "../store/store.ts";
import { type ActivationRow, auditActivation } from "./activation.ts";
import { customerOf, indexActivation, sealMobileNumber } from "./customer.ts";

/** The state of a request: the one machine behind the two statuses that partners see. */
export type ActivationState = ProcessingStatus | "cancelled";

/**
 * Contract: Physical-SIM activation status. `pending` is the contract's activation_requested: only then may it be
 * edited or cancelled. `manual_required` is left by the operator, or by a carrier that did activate after all.
 */
export const activationTransitions: Transitions<ActivationState> = {
  pending: ["processing", "cancelled"],
  processing: ["confirmed", "completed", "failed", "manual_required"],
  confirmed: ["completed", "failed", "manual_required"],
  manual_required: ["processing", "completed", "failed"],
  completed: [],
  failed: [],
  cancelled: [],
};

interface Statuses {
  status: ActivationStatus;
  processing_status: ProcessingStatus;
}

/** The two statuses of each state. A cancelled request never began to be processed. */
export const statusesOf: Readonly<Record<ActivationState, Statuses>> = {
  pending: { status: "pending", processing_status: "pending" },
  processing: { status: "processing", processing_status: "processing" },
  confirmed: { status: "processing", processing_status: "confirmed" },
  completed: { status: "completed", processing_status: "completed" },
  failed: { status: "failed", processing_status: "failed" },
  manual_required: { status: "failed", processing_status: "manual_required" },
  cancelled: { status: "cancelled", processing_status: "pending" },
};

/** The state that a row's two statuses express. */
export function stateOf({ status, processing_status }: Statuses): ActivationState {
  return status === "cancelled" ? "cancelled" : processing_status;
}

/** What may change of a request, beside its state. */
type Changing =
  | "activation_date"
  | "processing_mode"
  | "not_before"
  | "note"
  | "confirmation_number"
  | "error_type"
  | "error_message"
  | "cancel_reason"
  | "due_at"
  | "leased_until"
  | "deadline_at"
  | "faults"
  | "exchanges"
  | "queued_at"
  | "submitted_at"
  | "confirmed_at"
  | "activated_at"
  | "cancelled_at"
  | "finished_at";

/** A change: a move to another state, other fields, or both. Fields that are left out stay. */
export type Change = Partial<Pick<ActivationRow, Changing>> & {
  state?: ActivationState;
  mobile_number?: string | null;
};

/** Writes what changed; the state only moves as the transition table allows. Answers the new row. */
export async function progressActivation(tx: Tx, row: ActivationRow, change: Change): Promise<ActivationRow> {
  const { state, mobile_number, ...fields } = change;
  if (state !== undefined) assertMove(activationTransitions, stateOf(row), state);
  const number = mobile_number === undefined ? {} : sealMobileNumber(tx, row, mobile_number);
  const changed = { ...fields, ...number, ...(state === undefined ? {} : statusesOf[state]), updated_at: tx.now };
  await updateRow(tx, "activations", { id: row.id }, changed);
  const next = { ...row, ...changed };
  if (mobile_number !== undefined) await indexActivation(tx, next);
  if (state === "manual_required") await auditHold(tx, row, next);
  return next;
}

/** The row forgets it once staff send it again; the audit trail does not. */
async function auditHold(tx: Tx, row: ActivationRow, next: ActivationRow): Promise<void> {
  const changes = changesOf(row, next, ["status", "processing_status"]);
  await auditActivation(tx, row, { action: "activations.hold", actor: "worker", changes, note: next.error_type });
}

/**
 * Writes the event of a step that was just taken; `row` is the row after it. `corrects` is when the step was taken (ms)
 * whose recorded result is another one from now on.
 */
export async function announceStep(
  tx: Tx,
  step: ActivationStep,
  row: ActivationRow,
  { corrects }: { corrects?: number } = {},
): Promise<void> {
  const { id, iccid, carrier, activation_date } = row;
  const { customer_name, mobile_number } = customerOf(tx, row);
  const subject = { id, iccid, carrier, activation_date, customer_name };
  await recordEvent(tx, {
    partnerId: row.partner_id,
    environment: row.environment,
    subjectId: id,
    // Requests are real in the sandbox too, and so are their times.
    at: tx.now,
    ...activationStep(step, subject, { ...row, mobile_number }, { now: tx.now, corrects }),
  });
  tx.signal("deliveries");
}
