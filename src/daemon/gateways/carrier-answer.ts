import { Compile } from "typebox/compile";
import type { CarrierOutcome } from "../../core/activations/outcome.ts";
import { CarrierAnswer } from "../schemas/carrier.ts";

/** An exchange with a carrier as it goes into the books. */
export interface Reported {
  outcome: CarrierOutcome;
  statusCode: number | null;
  latencyMs: number | null;
  /** What may be kept of the answer. */
  answer: string | null;
}

const validator = Compile(CarrierAnswer);

/** What a carrier's JSON means; null: it is not what docs/carriers.md describes. */
export function readCarrierAnswer(body: unknown): CarrierOutcome | null {
  return validator.Check(body) ? outcomeOf(body) : null;
}

/** The outcome that a well-formed answer tells; null: activated without its number. */
export function outcomeOf(answer: CarrierAnswer): CarrierOutcome | null {
  const confirmationNumber = answer.confirmation_number ?? null;
  switch (answer.outcome) {
    case "accepted":
      return { kind: "accepted" };
    case "confirmed":
      return { kind: "confirmed", confirmationNumber };
    case "activated":
      return answer.mobile_number === undefined
        ? null
        : { kind: "activated", mobileNumber: answer.mobile_number, confirmationNumber };
    case "refused":
      return {
        kind: "refused",
        errorType: answer.error_type ?? "carrier_refused",
        errorMessage: answer.error_message ?? "The carrier refused the request.",
      };
    case "temporary":
      return { kind: "temporary" };
  }
}

const kept = ["outcome", "mobile_number", "confirmation_number", "error_type", "error_message"] as const;

/** The members of an answer that support may keep: only those the exchange knows, each cut to a sane length. */
export function keptAnswer(body: unknown): string {
  if (typeof body !== "object" || body === null) return JSON.stringify(typeof body);
  const known = kept.flatMap((name) => {
    const value: unknown = Reflect.get(body, name);
    return typeof value === "string" ? [[name, value.slice(0, 500)]] : [];
  });
  return JSON.stringify(Object.fromEntries(known));
}
