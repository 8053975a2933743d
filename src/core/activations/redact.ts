import type { KycField } from "../store/schema/values.ts";
import type { Kyc } from "./identity.ts";

/** What must never come out, even where a carrier repeats it in its own words. */
const secretFields: readonly KycField[] = [
  "passport_no",
  "puk",
  "date_of_birth",
  "address",
  "suburb",
  "postcode",
  "passport_expiry",
  "sim_last4",
];

const REDACTED = "[redacted]";

/** Shorter values, such as four digits of a SIM, meet by chance: they count only as whole words. */
const DISTINCT_LENGTH = 6;

/** `text` with every identity value of this request redacted, however it is spaced or its dates are written. */
export function redact(text: string, kyc: Kyc | null): string {
  return kyc === null ? text : withoutValues(text, valuesOf(kyc));
}

/** The same for a number that a carrier made up: four digits in it are a coincidence, and it must stay whole. */
export function redactNumber(number: string, kyc: Kyc | null): string {
  return kyc === null
    ? number
    : withoutValues(
        number,
        valuesOf(kyc).filter((value) => value.length >= DISTINCT_LENGTH),
      );
}

function valuesOf(kyc: Kyc): string[] {
  return secretFields.flatMap((field) => spellings(field, kyc[field]));
}

function withoutValues(text: string, values: string[]): string {
  // The longest first: an address may hold its own suburb.
  const longestFirst = values.sort((a, b) => b.length - a.length);
  return longestFirst.reduce((left, value) => left.replace(loosely(value), REDACTED), text);
}

function spellings(field: KycField, value: string | null): string[] {
  if (value === null || value.length < 3) return [];
  const date = /^(\d{4})-(\d{2})-(\d{2})$/.exec(value);
  if (date === null || !/date|expiry/.test(field)) return [value];
  const [, year = "", month = "", day = ""] = date;
  return [`${year}${month}${day}`, `${day}${month}${year}`, `${month}${day}${year}`];
}

/** A value with any spaces, hyphens, slashes or dots between its characters, in any case. */
function loosely(value: string): RegExp {
  const characters = [...value].filter((character) => !/[\s./-]/.test(character));
  const escaped = characters.map((character) => character.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&"));
  const pattern = escaped.join("[\\s./-]*");
  if (characters.length >= DISTINCT_LENGTH) return new RegExp(pattern, "giu");
  return new RegExp(`(?<![\\p{L}\\p{N}])${pattern}(?![\\p{L}\\p{N}])`, "giu");
}
