import { type TSchema, Type } from "typebox";
import { type OptionalField, passportFields, type RequiredField } from "../../core/kernel/identity-fields.ts";
import type { PassportChange } from "../../core/passports/check.ts";
import { IMPORT_LIMIT } from "../../core/passports/import.ts";
import { Nullable, named, OneOf, Pagination, pageQuery, Timestamp, UuidOf, unreadable } from "./common.ts";

const PassportId = UuidOf<"passport">("The pool's record");

function name(most: number, example: string) {
  return Type.String({ minLength: 1, maxLength: most, examples: [example] });
}

const birthDate = Type.String({
  format: "date",
  errorMessage: "must be a real date as YYYY-MM-DD",
  description: "In the past",
  examples: ["1975-03-13"],
});

const needed = {
  first_name: name(passportFields.first_name.max, "Ottoline"),
  last_name: name(passportFields.last_name.max, "Farrowgate"),
  date_of_birth: birthDate,
  passport_no: Type.String({
    minLength: 1,
    maxLength: passportFields.passport_no.max,
    errorMessage: "must be 3 to 20 letters and digits, besides spaces and hyphens",
    description: "3 to 20 letters and digits; spaces, hyphens and case make no difference",
    examples: ["018159083"],
  }),
  passport_country: Type.String({
    minLength: 1,
    maxLength: passportFields.passport_country.max,
    errorMessage: "must be an ISO 3166-1 country code such as GBR, or a country's English name",
    description: "The issuer: ISO 3166-1 alpha-3, or a code of ICAO 9303; alpha-2 and English names are understood",
    examples: ["GBR"],
  }),
  passport_expiry: Type.String({
    format: "date",
    errorMessage: "must be a real date as YYYY-MM-DD",
    examples: ["2034-02-14"],
  }),
} satisfies Record<RequiredField, TSchema>;

const optional = {
  title: Type.String({ maxLength: passportFields.title.max, examples: ["Ms"] }),
  address: Type.String({ maxLength: passportFields.address.max, examples: ["219 Banksia Street"] }),
  suburb: Type.String({ maxLength: passportFields.suburb.max, examples: ["Newtown"] }),
  state: Type.String({ maxLength: passportFields.state.max, examples: ["NSW"] }),
  postcode: Type.String({ maxLength: passportFields.postcode.max, examples: ["2042"] }),
  reference: Type.String({
    maxLength: passportFields.reference.max,
    description: "Your own note of it",
    examples: ["GRP-01-01"],
  }),
} satisfies Record<OptionalField, TSchema>;

const NewPassport = Type.Object(
  {
    ...needed,
    title: Type.Optional(Nullable(optional.title)),
    address: Type.Optional(Nullable(optional.address)),
    suburb: Type.Optional(Nullable(optional.suburb)),
    state: Type.Optional(Nullable(optional.state)),
    postcode: Type.Optional(Nullable(optional.postcode)),
    reference: Type.Optional(Nullable(optional.reference)),
  },
  named("NewPassport"),
);

/** Contract: POST /kyc/passports. */
export const PassportImport = Type.Object(
  {
    records: Type.Array(NewPassport, { minItems: 1, maxItems: IMPORT_LIMIT }),
  },
  named("PassportImport"),
);

const ImportedPassport = Type.Object(
  {
    id: PassportId,
    passport_no: Type.String({ examples: ["018159083"] }),
    status: OneOf(["received"]),
  },
  named("ImportedPassport"),
);

const SkippedPassport = Type.Object(
  {
    index: Type.Integer({ description: "Of the record in the request, from 0", examples: [1] }),
    passport_no: Type.String({ examples: ["018159084"] }),
    reason: Type.String({
      description:
        "`already_in_pool`, `repeated_in_request`, or `differs: last_name, …`: a record of this document is there " +
        "with other identity fields",
      examples: ["already_in_pool"],
    }),
  },
  named("SkippedPassport"),
);

export const PassportImportResult = Type.Object(
  {
    imported: Type.Integer({ examples: [1] }),
    skipped_duplicates: Type.Integer({ examples: [1] }),
    records: Type.Array(ImportedPassport),
    skipped: Type.Array(SkippedPassport),
  },
  named("PassportImportResult"),
);

export const PassportQuery = Type.Object({
  ...pageQuery(100, 200),
  passport_no: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: "Only records of exactly this number" }),
  ),
});

export const PassportParams = Type.Object({ id: PassportId });

/** Contract: Passport pool record. */
const Passport = Type.Object(
  {
    id: PassportId,
    first_name: needed.first_name,
    last_name: needed.last_name,
    title: Nullable(optional.title),
    date_of_birth: Type.String({ format: "date", examples: ["1975-03-13"] }),
    passport_no: Type.String({ examples: ["018159083"] }),
    passport_country: Type.String({ description: "ISO 3166-1 alpha-3", examples: ["GBR"] }),
    passport_expiry: Type.String({ format: "date", examples: ["2034-02-14"] }),
    address: Nullable(optional.address),
    suburb: Nullable(optional.suburb),
    state: Nullable(optional.state),
    postcode: Nullable(optional.postcode),
    reference: Nullable(optional.reference),
    status: OneOf(["received"]),
    created_at: Timestamp,
    updated_at: Timestamp,
    unreadable,
  },
  named("Passport"),
);

export const PassportPage = Type.Object(
  {
    records: Type.Array(Passport),
    count: Type.Integer({ examples: [1] }),
    pagination: Pagination,
  },
  named("PassportPage"),
);

const changes = Object.fromEntries(
  Object.entries({ ...needed, ...optional }).map(([field, schema]) => [field, { ...schema, type: ["string", "null"] }]),
);

/** Contract: PATCH /kyc/passports/{id}. Null is let through everywhere; core says which fields cannot be cleared. */
export const PassportPatch = Type.Unsafe<PassportChange>({
  ...named("PassportEdit", { examples: [{ address: "12 Wattle Lane", suburb: null }] }),
  type: "object",
  description: "At least one field; null clears title, address, suburb, state, postcode and reference",
  properties: changes,
});

export const PassportEdited = Type.Object(
  { ok: Type.Boolean({ examples: [true] }), id: PassportId },
  named("PassportEdited"),
);

export const PassportWithdrawn = Type.Object(
  { ok: Type.Boolean({ examples: [true] }), id: PassportId, status: OneOf(["withdrawn"]) },
  named("PassportWithdrawn"),
);
