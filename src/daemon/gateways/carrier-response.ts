import { Compile } from "typebox/compile";
import type { CarrierOutcome } from "../../core/activations/outcome.ts";
import { CarrierResponse } from "../schemas/carrier.ts";

/** An exchange with a carrier as it is recorded. */
export interface Reported {
  outcome: CarrierOutcome;
  statusCode: number | null;
  latencyMs: number | null;
  /** The part of the response that may be kept. */
  answer: string | null;
}

const validator = Compile(CarrierResponse);

/** What a carrier's JSON means; null: it is not what docs/carriers.md describes. */
export function readCarrierResponse(body: unknown): CarrierOutcome | null {
  return validator.Check(body) ? outcomeOf(body) : null;
}

/** The outcome of a well-formed response; null: activated without its number. */
export function outcomeOf(answer: CarrierResponse): CarrierOutcome | null {
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

/** The members of a response that are kept for support: only known ones, each cut to 500 characters. */
export function keptResponse(body: unknown): string {
  if (typeof body !== "object" || body === null) return JSON.stringify(typeof body);
  const known = kept.flatMap((name) => {
    const value: unknown = Reflect.get(body, name);
    return typeof value === "string" ? [[name, value.slice(0, 500)]] : [];
  });
  return JSON.stringify(Object.fromEntries(known));
}
