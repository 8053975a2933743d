import type { Checked } from "../kernel/checked.ts";
import { checkIdentityFields, type SentIdentity } from "../kernel/identity.ts";
import {
  type OptionalField,
  optionalFields,
  type PassportField,
  passportFields,
  type RequiredField,
  requiredFields,
} from "../kernel/identity-fields.ts";
import type { FieldErrors } from "../kernel/problem.ts";
import type { NewPassport } from "./passport.ts";

const ONE_NAME = "is required: a holder with one name has it as first_name, and - as last_name";

/** A record as it was sent: absent, null and empty mean the same. */
export type SentPassport = SentIdentity & { readonly reference?: string | null | undefined };

/** Checks one record whole; `problems` names every bad field of it. `today` is YYYY-MM-DD. */
export function checkPassport(sent: SentPassport, today: string): Checked<NewPassport, FieldErrors> {
  const { fields, errors } = checkFields(sent, today);
  const missing = requiredFields.filter((field) => fields[field] === undefined && errors[field] === undefined);
  for (const field of missing) errors[field] = [field === "last_name" ? ONE_NAME : "is required"];
  if (Object.keys(errors).length > 0) return { problems: errors };
  const need = (field: RequiredField) => fields[field] ?? ""; // none is missing: see above
  const maybe = (field: OptionalField) => fields[field] ?? null;
  return {
    ok: {
      first_name: need("first_name"),
      last_name: need("last_name"),
      title: maybe("title"),
      date_of_birth: need("date_of_birth"),
      passport_no: need("passport_no"),
      passport_country: need("passport_country"),
      passport_expiry: need("passport_expiry"),
      address: maybe("address"),
      suburb: maybe("suburb"),
      state: maybe("state"),
      postcode: maybe("postcode"),
      reference: maybe("reference"),
    },
  };
}

/** Checks the fields that are there, identity and reference alike. */
function checkFields(sent: SentPassport, today: string) {
  const { fields, errors } = checkIdentityFields(sent, today);
  const reference = sent.reference?.trim() ?? "";
  if ([...reference].length > passportFields.reference.max) {
    errors.reference = [`must be at most ${passportFields.reference.max} characters`];
  }
  return { fields: { ...fields, ...(reference === "" ? {} : { reference }) }, errors };
}

/** What a PATCH says: a text changes the field, null clears it, absent leaves it. */
export type PassportChange = { readonly [F in PassportField]?: string | null };

/** The checked change, or every bad field; a field that must be there cannot be cleared. `today` is YYYY-MM-DD. */
export function checkChange(change: PassportChange, today: string): Checked<Partial<NewPassport>, FieldErrors> {
  const { fields, errors } = checkFields(change, today);
  const isEmpty = (field: PassportField) => change[field] !== undefined && (change[field]?.trim() ?? "") === "";
  for (const field of requiredFields.filter(isEmpty)) errors[field] = ["cannot be cleared"];
  if (Object.keys(change).length === 0) errors.body = ["must have at least one field to change"];
  if (Object.keys(errors).length > 0) return { problems: errors };
  const cleared = Object.fromEntries(optionalFields.filter(isEmpty).map((field) => [field, null]));
  return { ok: { ...fields, ...cleared } };
}
