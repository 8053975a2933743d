import countries from "i18n-iso-countries/index.js"; // the package's entry would read its name lists in 80 languages
import { isCivilDate } from "./calendar-day.ts";
import type { FieldErrors } from "./problem.ts";

/** What identifies a traveller, in the passport pool and in activation requests (contract: input tables of both). */
export interface Identity {
  first_name: string;
  last_name: string;
  title: string | null;
  date_of_birth: string;
  /** As it was sent, less blanks around it; compare numbers by `normalisePassportNumber`. */
  passport_no: string;
  /** ISO 3166-1 alpha-3. */
  passport_country: string;
  passport_expiry: string;
  address: string | null;
  suburb: string | null;
  state: string | null;
  postcode: string | null;
}

export type IdentityField = keyof Identity;

/** Identity fields as they were sent: absent, null and empty mean the same. */
export type SentIdentity = { readonly [F in IdentityField]?: string | null | undefined };

/** Most characters of the fields that are free text. */
export const identityLengths = {
  first_name: 100,
  last_name: 100,
  title: 20,
  passport_no: 40,
  address: 200,
  suburb: 100,
  state: 50,
  postcode: 20,
} as const;

const freeTexts = ["first_name", "last_name", "title", "address", "suburb", "state", "postcode"] as const;

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
  const check = (field: IdentityField, verdict: (text: string) => { keep: string } | { error: string }) => {
    const text = sent[field]?.trim() ?? "";
    if (text === "") return;
    const outcome = verdict(text);
    if ("keep" in outcome) fields[field] = outcome.keep;
    else errors[field] = [outcome.error];
  };
  for (const field of freeTexts) check(field, (text) => checkText(text, identityLengths[field]));
  check("date_of_birth", (text) => checkBirthDate(text, today));
  check("passport_no", checkNumber);
  check("passport_country", checkCountry);
  check("passport_expiry", (text) => (isCivilDate(text) ? { keep: text } : { error: NO_DATE }));
  return { fields, errors };
}

const NO_DATE = "must be a real date as YYYY-MM-DD";

function checkText(text: string, most: number): { keep: string } | { error: string } {
  return [...text].length <= most ? { keep: text } : { error: `must be at most ${most} characters` };
}

function checkBirthDate(text: string, today: string): { keep: string } | { error: string } {
  if (!isCivilDate(text)) return { error: NO_DATE };
  return text < today ? { keep: text } : { error: "must be in the past" };
}

function checkNumber(text: string): { keep: string } | { error: string } {
  const fits = text.length <= identityLengths.passport_no && /^[A-Z0-9]{3,20}$/.test(normalisePassportNumber(text));
  return fits ? { keep: text } : { error: "must be 3 to 20 letters and digits, besides spaces and hyphens" };
}

function checkCountry(text: string): { keep: string } | { error: string } {
  const code = toAlpha3(text);
  return code === null ? { error: "must be an ISO 3166-1 country code such as GBR" } : { keep: code };
}

/** A passport number as numbers are compared: upper case, without spaces and hyphens. */
export function normalisePassportNumber(number: string): string {
  return number.replace(/[\s\u00ad\u2010-\u2015\u2212-]+/g, "").replace(/[a-z]/g, (letter) => letter.toUpperCase());
}

/** The ISO 3166-1 alpha-3 code of a country given by its alpha-2 or alpha-3 code in any case, or null. */
function toAlpha3(code: string): string | null {
  const upper = code.trim().toUpperCase();
  if (/^[A-Z]{3}$/.test(upper)) return countries.alpha3ToAlpha2(upper) === undefined ? null : upper;
  return /^[A-Z]{2}$/.test(upper) ? (countries.alpha2ToAlpha3(upper) ?? null) : null;
}
