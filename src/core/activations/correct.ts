import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from "libphonenumber-js/min";
import type { Actor } from "../audit/record.ts";
import { requireCarrier } from "../carriers/carrier.ts";
import type { ActivationId } from "../kernel/brand.ts";
import { countryCode } from "../kernel/country.ts";
import { invalid, Problem } from "../kernel/problem.ts";
import type { Read, Tx } from "../store/store.ts";
import { type Activation, type ActivationRow, auditActivation, requireActivation, toActivation } from "./activation.ts";
import { customerOf } from "./customer.ts";
import { announceStep, progressActivation, stateOf } from "./states.ts";

/**
 * Replaces the mobile number that was recorded for a completed request, with activation.activated again, which carries
 * `corrected_at`. Throws `not_found`, `validation`, `conflict` unless it is completed and the number another one.
 */
export async function correctActivation(
  tx: Tx,
  input: { id: ActivationId; mobileNumber: string; actor: Actor },
): Promise<Activation> {
  const row = await requireActivation(tx, input.id);
  const mobile_number = await checkedMobile(tx, row, input.mobileNumber);
  const state = stateOf(row);
  if (state !== "completed") {
    const words = `This activation is ${state}; only a completed one has a number to correct.`;
    throw new Problem("conflict", words, { members: { current_status: row.status } });
  }
  if (mobile_number === customerOf(tx, row).mobile_number)
    throw new Problem("conflict", `Its number is ${mobile_number} already.`);
  const next = await progressActivation(tx, row, { mobile_number });
  await auditActivation(tx, row, { action: "activations.correct", actor: input.actor, fields: ["mobile_number"] });
  await announceStep(tx, "activated", next, { corrects: row.activated_at ?? tx.now });
  return toActivation(tx, next);
}

/**
 * The mobile number that staff typed for a request, in E.164: given so, or in the national form of the carrier's
 * country, which is its region. Throws `validation`.
 */
export async function checkedMobile(q: Read, row: ActivationRow, typed: string): Promise<string> {
  const { region } = await requireCarrier(q, row.carrier_prefix);
  const country = countryCode(region);
  const number = internationalNumber(typed, country);
  if (number !== null) return number;
  const national = country === null ? "" : `, or a number of ${region} as it is written there`;
  throw invalid({ mobile: [`must be an international number such as +61491570156${national}`] });
}

/**
 * A telephone number in E.164, of one typed with its country's code or in the national form of `country` (ISO 3166-1
 * alpha-2; null: only E.164 is understood). Null: it is neither, or no
 * number of its country is so long.
 */
function internationalNumber(typed: string, country: string | null): string | null {
  const home: { defaultCountry: CountryCode } | Record<string, never> =
    country !== null && isSupportedCountry(country) ? { defaultCountry: country } : {};
  const number = parsePhoneNumberFromString(typed.trim(), { ...home, extract: false });
  return number?.isValid() === true && number.ext === undefined ? number.number : null;
}
