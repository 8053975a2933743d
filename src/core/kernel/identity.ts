import type { Checked } from "./checked.ts";
import { damageIn, isPlaceholder } from "./damaged-text.ts";
import { birthFault, dateFault, expiryFault } from "./dated.ts";
import { type IdentityField, identityFields, identityNames } from "./identity-fields.ts";
import { readIssuer, withoutFill } from "./passport-issuer.ts";
import type { FieldErrors } from "./problem.ts";

/** A checked identity. The passport's number is as it was sent, without blanks and fill; its issuer is alpha-3. */
export type Identity = {
  [F in IdentityField]: (typeof identityFields)[F]["required"] extends true ? string : string | null;
};

/** Identity fields as they were sent: absent, null and empty mean the same. */
export type SentIdentity = { readonly [F in IdentityField]?: string | null | undefined };

/**
 * Checks and normalizes the identity fields that are there; which ones must be there is the caller's to say. A date of
 * birth must lie before `today` (YYYY-MM-DD). `fields` holds what was sent and is good, trimmed, the issuer as an
 * alpha-3 code; `errors` a sentence for each bad field.
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
      return checkText(text, max, NAMES.includes(field));
    case "birth_date":
      return checkDate(text, (date) => birthFault(date, today));
    case "passport_number":
      return checkNumber(text, max);
    case "country":
      return readIssuer(text);
    case "date":
      return checkDate(text, (date) => expiryFault(date, today));
  }
}

const NAMES: readonly IdentityField[] = ["first_name", "last_name"];

function checkText(text: string, most: number, isName: boolean): CheckedField {
  if ([...text].length > most) return { problems: `must be at most ${most} characters` };
  const damage = damageIn(text, { isName });
  return damage === null ? { ok: text } : { problems: damage };
}

function checkDate(text: string, faultOf: (date: string) => string | null): CheckedField {
  const fault = dateFault(text) ?? faultOf(text);
  return fault === null ? { ok: text } : { problems: fault };
}

function checkNumber(given: string, most: number): CheckedField {
  const text = withoutFill(given);
  if (isPlaceholder(text)) return { problems: "is no document number: leave it out, or correct it" };
  const damage = damageIn(text, { isName: false });
  if (damage !== null) return { problems: damage };
  const fits = text.length <= most && /^[A-Z0-9]{3,20}$/.test(normalizePassportNumber(text));
  return fits ? { ok: text } : { problems: "must be 3 to 20 letters and digits, besides spaces and hyphens" };
}

/** A passport number as numbers are compared: NFKC, upper case, without spaces, hyphens and MRZ fill. */
export function normalizePassportNumber(number: string): string {
  return withoutFill(number.normalize("NFKC"))
    .replace(/[\s\u00ad\u2010-\u2015\u2212-]+/g, "")
    .replace(/[a-z]/g, (letter) => letter.toUpperCase());
}
