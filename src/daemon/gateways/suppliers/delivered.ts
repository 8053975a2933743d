import { activationCode, readActivationCode } from "../../../core/esims/activation-code.ts";
import { iccidFault, plainDigits } from "../../../core/kernel/iccid.ts";
import type { BoughtEsim } from "../../../core/supply/provider.ts";

/** What a provider shows of an eSIM that it delivers. */
interface Shown extends Pick<BoughtEsim, "reference"> {
  iccid: string | null | undefined;
  /** What may be its activation code: the first that is one counts. */
  codes: readonly (string | null | undefined)[];
  confirmationCode?: string | null;
}

/** An eSIM that can be handed over; null: what is shown of it is not enough. */
export function deliveredEsim({ iccid, codes, confirmationCode = null, reference }: Shown): BoughtEsim | null {
  const digits = plainDigits(iccid ?? "");
  const [code] = codes.map((one) => readActivationCode(one ?? "")).flatMap((one) => ("ok" in one ? one.ok : []));
  if (code === undefined || iccidFault(digits, { least: 13 }) !== null) return null;
  return { iccid: digits, activationCode: activationCode(code), confirmationCode, reference };
}
