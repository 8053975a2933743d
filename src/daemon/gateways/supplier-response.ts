import { Compile } from "typebox/compile";
import { readActivationCode } from "../../core/esims/activation-code.ts";
import { counted } from "../../core/kernel/counted.ts";
import { plainDigits } from "../../core/kernel/iccid.ts";
import type { SuppliedEsim, SupplyOutcome } from "../../core/supplier-requests/outcome.ts";
import { SupplierResponse } from "../schemas/supplier.ts";

const validator = Compile(SupplierResponse);

/** What is known of the request that a response belongs to. */
export interface OrderedUnits {
  /** eSIMs that `activated` must bring: all of a lot; none, or one, where a profile is pushed to a device. */
  least: number;
  most: number;
}

/** What a supplier's JSON means for a request; anything docs/suppliers.md does not describe is a temporary fault. */
export function readSupplierResponse(body: unknown, asked: OrderedUnits): SupplyOutcome {
  return validator.Check(body) ? supplyOutcome(body, asked) : { kind: "temporary", reason: "its response is invalid" };
}

/** The outcome of a well-formed response. */
export function supplyOutcome(answer: SupplierResponse, asked: OrderedUnits): SupplyOutcome {
  switch (answer.outcome) {
    case "accepted":
      return { kind: "accepted" };
    case "confirmed":
      return { kind: "confirmed", confirmationNumber: answer.confirmation_number ?? null };
    case "activated":
      return delivered(answer, asked);
    case "refused":
      return {
        kind: "refused",
        errorType: answer.error_type ?? "supplier_refused",
        errorMessage: answer.error_message ?? "The supplier refused the request.",
      };
    case "temporary":
      return { kind: "temporary", reason: "it asked for a retry" };
  }
}

function delivered(
  { esims: handed = [], confirmation_number }: SupplierResponse,
  { least, most }: OrderedUnits,
): SupplyOutcome {
  const esims = handed.flatMap(({ iccid, activation_code, confirmation_code = null }): SuppliedEsim[] => {
    const code = readActivationCode(activation_code);
    return "ok" in code ? [{ iccid: plainDigits(iccid), ...code.ok, confirmation_code }] : [];
  });
  if (esims.length !== handed.length)
    return { kind: "temporary", reason: "an activation code in its response is invalid" };
  if (esims.length < least || esims.length > most) {
    return { kind: "temporary", reason: `it delivered ${counted(esims.length, "eSIM")} where ${most} were asked for` };
  }
  return { kind: "activated", confirmationNumber: confirmation_number ?? null, esims };
}
