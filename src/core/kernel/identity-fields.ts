// What identity fields there are. Apart from their checks, which load the list of countries: the terminal reads this
// as it starts.

interface FieldSpec {
  /** How it is checked; see identity.ts. */
  kind: "text" | "birth_date" | "passport_number" | "country" | "date";
  /** Most characters. */
  max: number;
  /** Whether there is no passport without it. */
  required: boolean;
}

/** What identifies a traveler, in the passport pool and in activation requests (contract: input tables of both). */
export const identityFields = {
  first_name: { kind: "text", max: 100, required: true },
  last_name: { kind: "text", max: 100, required: true },
  title: { kind: "text", max: 20, required: false },
  date_of_birth: { kind: "birth_date", max: 10, required: true },
  passport_no: { kind: "passport_number", max: 40, required: true },
  passport_country: { kind: "country", max: 80, required: true },
  passport_expiry: { kind: "date", max: 10, required: true },
  address: { kind: "text", max: 200, required: false },
  suburb: { kind: "text", max: 100, required: false },
  state: { kind: "text", max: 50, required: false },
  postcode: { kind: "text", max: 20, required: false },
} as const satisfies Record<string, FieldSpec>;

export type IdentityField = keyof typeof identityFields;

/** A passport record's: an identity and the partner's own note of it. */
export const passportFields = {
  ...identityFields,
  reference: { kind: "text", max: 100, required: false },
} as const satisfies Record<string, FieldSpec>;

export type PassportField = keyof typeof passportFields;

/** What shows that the SIM to be activated is at hand. */
export const simFields = { sim_last4: { max: 4 }, puk: { max: 20 } } as const;

type Needed = { [F in PassportField]: (typeof passportFields)[F]["required"] extends true ? F : never };
export type RequiredField = Needed[PassportField];
export type OptionalField = Exclude<PassportField, RequiredField>;

/** The names in the order of the contract's tables and of files. */
export const identityNames = namesOf(identityFields);
export const passportNames = namesOf(passportFields);
export const simNames = namesOf(simFields);

/** The fields without which there is no passport record. */
export const requiredFields = passportNames.filter((field): field is RequiredField => passportFields[field].required);

/** The fields of a passport record that may be left out, or cleared. */
export const optionalFields = passportNames.filter((field): field is OptionalField => !passportFields[field].required);

function namesOf<F extends string>(fields: Readonly<Record<F, unknown>>): readonly F[] {
  // The keys of a record are its names.
  return Object.keys(fields) as F[];
}
