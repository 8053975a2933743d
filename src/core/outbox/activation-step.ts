import type { NewEvent, StoredPayload } from "../events/catalog.ts";
import { isoTime } from "../kernel/clock.ts";

/** The steps of a request, or of a traveler's order item, that have an event. */
export type ActivationStep = "submitted" | "confirmed" | "activated" | "failed";

type Submitted = StoredPayload<"activation.submitted">;

/** What the event of any step says about its request or order item. */
export type StepSubject = Omit<Submitted, "status" | "processing_status" | "submitted_at" | "test">;

/** What is known of the result when the step is taken. */
interface StepResult {
  confirmation_number: string | null;
  mobile_number: string | null;
  error_type: string | null;
  error_message: string | null;
}

/** When a step is taken (ms). */
interface StepTime {
  now: number;
  /** When the step was taken whose result a correction corrects (ms). */
  corrects?: number | undefined;
}

/** The event of a step, as its kind has it (contract: Events). */
export function activationStep(
  step: ActivationStep,
  subject: StepSubject,
  result: StepResult,
  { now, corrects }: StepTime,
): NewEvent {
  const at = isoTime(corrects ?? now);
  const { confirmation_number, mobile_number, error_type, error_message } = result;
  switch (step) {
    case "submitted": {
      const state = { status: "processing", processing_status: "processing" } as const;
      return { kind: "activation.submitted", data: { ...subject, ...state, submitted_at: at } };
    }
    case "confirmed": {
      const state = { status: "processing", processing_status: "confirmed" } as const;
      return { kind: "activation.confirmed", data: { ...subject, ...state, confirmation_number, confirmed_at: at } };
    }
    case "activated": {
      const state = { status: "completed", processing_status: "completed" } as const;
      const numbers = { mobile_number, confirmation_number };
      const corrected = corrects === undefined ? {} : { corrected_at: isoTime(now) };
      return {
        kind: "activation.activated",
        data: { ...subject, ...state, ...numbers, activated_at: at, ...corrected },
      };
    }
    case "failed": {
      const state = { status: "failed", processing_status: "failed" } as const;
      return { kind: "activation.failed", data: { ...subject, ...state, error_type, error_message, failed_at: at } };
    }
  }
}
