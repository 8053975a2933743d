import countries from "i18n-iso-countries/index.js"; // the package's entry would read its name lists in 80 languages
import { isCivilDate } from "./calendar-day.ts";
import type { Checked } from "./checked.ts";
import { type IdentityField, identityFields, identityNames } from "./identity-fields.ts";
import type { FieldErrors } from "./problem.ts";

/** A checked identity. A passport's number is as it was sent, less blanks around it; its country is alpha-3. */
export type Identity = {
  [F in IdentityField]: (typeof identityFields)[F]["required"] extends true ? string : string | null;
};

/** Identity fields as they were sent: absent, null and empty mean the same. */
export type SentIdentity = { readonly [F in IdentityField]?: string | null | undefined };

/**
 * Checks and normalises the identity fields that are there; which ones must be there is the caller's to say. A date of
 * birth must lie before `today` (YYYY-MM-DD). `fields` holds what was sent and is good, trimmed, the country as
 * alpha-3; `errors` a sentence for each bad field.
 */
export function checkIdentityFields(
  sent: SentIdentity,
  today: string,
): { fields: Partial<Record<IdentityField, string>>; errors: FieldErrors } {
  const fields: Partial<Record<IdentityField, string>> = {};
  const errors: FieldErrors = {};
  for (const field of checkOrder) {
    const text = sent[field]?.trim() ?? "";
    if (text === "") continue;
    const outcome = checkField(field, text, today);
    if ("ok" in outcome) fields[field] = outcome.ok;
    else errors[field] = [outcome.problems];
  }
  return { fields, errors };
}

/** Free text first: errors are listed in this order. */
const checkOrder: readonly IdentityField[] = [
  ...identityNames.filter((field) => identityFields[field].kind === "text"),
  ...identityNames.filter((field) => identityFields[field].kind !== "text"),
];

/** The text as it is kept, or one sentence. */
type CheckedField = Checked<string, string>;

function checkField(field: IdentityField, text: string, today: string): CheckedField {
  const { kind, max } = identityFields[field];
  switch (kind) {
    case "text":
      return checkText(text, max);
    case "birth_date":
      return checkBirthDate(text, today);
    case "passport_number":
      return checkNumber(text, max);
    case "country":
      return checkCountry(text);
    case "date":
      return isCivilDate(text) ? { ok: text } : { problems: NO_DATE };
  }
}

const NO_DATE = "must be a real date as YYYY-MM-DD";

function checkText(text: string, most: number): CheckedField {
  return [...text].length <= most ? { ok: text } : { problems: `must be at most ${most} characters` };
}

function checkBirthDate(text: string, today: string): CheckedField {
  if (!isCivilDate(text)) return { problems: NO_DATE };
  return text < today ? { ok: text } : { problems: "must be in the past" };
}

function checkNumber(text: string, most: number): CheckedField {
  const fits = text.length <= most && /^[A-Z0-9]{3,20}$/.test(normalisePassportNumber(text));
  return fits ? { ok: text } : { problems: "must be 3 to 20 letters and digits, besides spaces and hyphens" };
}

function checkCountry(text: string): CheckedField {
  const code = toAlpha3(text);
  return code === null ? { problems: "must be an ISO 3166-1 country code such as GBR" } : { ok: code };
}

/** A passport number as numbers are compared: upper case, without spaces and hyphens. */
export function normalisePassportNumber(number: string): string {
  return number.replace(/[\s\u00ad\u2010-\u2015\u2212-]+/g, "").replace(/[a-z]/g, (letter) => letter.toUpperCase());
}

/** The ISO 3166-1 alpha-3 code of a country given by its alpha-2 or alpha-3 code in any case, or null. */
export function toAlpha3(code: string): string | null {
  const upper = code.trim().toUpperCase();
  if (/^[A-Z]{3}$/.test(upper)) return countries.alpha3ToAlpha2(upper) === undefined ? null : upper;
  return /^[A-Z]{2}$/.test(upper) ? (countries.alpha2ToAlpha3(upper) ?? null) : null;
}
