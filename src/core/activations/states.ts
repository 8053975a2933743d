import type { Transitions } from "../kernel/state-machine.ts";
import type { ActivationStatus, ProcessingStatus } from "../store/schema/values.ts";

/** The state of a request: the one machine behind the two statuses that partners see. */
export type ActivationState =
  | "pending"
  | "processing"
  | "confirmed"
  | "completed"
  | "failed"
  | "manual_required"
  | "cancelled";

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
