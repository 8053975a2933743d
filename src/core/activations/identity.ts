import type { CarrierRow } from "../carriers/carrier.ts";
import type { ActivationId } from "../kernel/brand.ts";
import { civilDateAt } from "../kernel/civil-date.ts";
import { checkIdentityFields, type Identity, normalizePassportNumber } from "../kernel/identity.ts";
import { identityNames } from "../kernel/identity-fields.ts";
import { type FieldErrors, Problem } from "../kernel/problem.ts";
import { Secret } from "../kernel/secret.ts";
import type { Row } from "../store/schema/tables.ts";
import type { KycField } from "../store/schema/values.ts";
import type { Read } from "../store/store.ts";
import type { Cell } from "../store/vault.ts";

/** Whom a SIM is activated for, and what proves that it is there: everything that is sealed. */
export type Kyc = { [F in KycField]: string | null };

/** The same as it was sent: absent, null and empty mean the same. */
export type SentKyc = { readonly [F in KycField]?: string | null | undefined };

/** The fields that were sent and are good, and a sentence for each bad one. */
export function checkKyc(
  sent: SentKyc,
  now: number,
): { fields: Partial<Record<KycField, string>>; errors: FieldErrors } {
  const { fields, errors } = checkIdentityFields(sent, civilDateAt(now));
  const last4 = sent.sim_last4?.trim() ?? "";
  const puk = sent.puk?.trim() ?? "";
  if (last4 !== "" && !/^\d{4}$/.test(last4)) errors.sim_last4 = ["must be the last 4 digits printed on the SIM"];
  if (puk !== "" && !/^[0-9A-Za-z]{4,20}$/.test(puk)) errors.puk = ["must be 4 to 20 digits"];
  const sim = { ...(last4 === "" ? {} : { sim_last4: last4 }), ...(puk === "" ? {} : { puk }) };
  return { fields: { ...fields, ...sim }, errors };
}

/** Which of a carrier's required fields are not there. */
export function missingKyc(
  { required_fields }: Pick<CarrierRow, "required_fields">,
  fields: Partial<Record<KycField, string | null>>,
): KycField[] {
  return required_fields.filter((field) => (fields[field] ?? "") === "");
}

/** Throws `missing_kyc` unless all of the carrier's required fields are there (contract: missing_kyc). */
export function requireKyc(carrier: CarrierRow, fields: Partial<Record<KycField, string | null>>): void {
  const missing = missingKyc(carrier, fields);
  if (missing.length === 0) return;
  throw new Problem("missing_kyc", `${carrier.name} also needs: ${missing.join(", ")}.`, {
    members: { carrier: carrier.name, region: carrier.region, required_fields: carrier.required_fields },
  });
}

/** A pool's passport and what the line itself said, as one; the line fills in what the passport leaves open. */
export function kycOf(fields: Partial<Record<KycField, string | null>>, drawn: Identity | null): Kyc {
  const known: Partial<Record<KycField, string | null>> = drawn ?? {};
  const take = (field: KycField) => known[field] ?? fields[field] ?? null;
  return {
    first_name: take("first_name"),
    last_name: take("last_name"),
    title: take("title"),
    date_of_birth: take("date_of_birth"),
    passport_no: take("passport_no"),
    passport_country: take("passport_country"),
    passport_expiry: take("passport_expiry"),
    address: take("address"),
    suburb: take("suburb"),
    state: take("state"),
    postcode: take("postcode"),
    sim_last4: take("sim_last4"),
    puk: take("puk"),
  };
}

/** The columns that hold it: sealed as one text, and the passport number's blind index. */
export function sealKyc(
  { vault }: Pick<Read, "vault">,
  id: ActivationId,
  kyc: Kyc,
): { sealed: string; passport_index: string | null } {
  const number = kyc.passport_no;
  return {
    sealed: vault.seal(JSON.stringify(kyc), identityOf(id)),
    // The same space as the pool's, so that one number finds both.
    passport_index: number === null ? null : vault.blindIndex("passport_no", normalizePassportNumber(number)),
  };
}

function identityOf(id: ActivationId): Cell {
  return { column: "activations.sealed", row: id };
}

type Sealed = Pick<Row<"activations">, "id" | "sealed">;

/** What `sealKyc` sealed; null once it was purged. Throws `UnreadableError`. */
export function openKyc({ vault }: Pick<Read, "vault">, { id, sealed }: Sealed): Secret<Kyc> | null {
  return sealed === null ? null : kycFrom(vault.open(sealed, identityOf(id)));
}

/** The same, or `unreadable`, which is reported. */
export function openKycIfReadable(
  { vault }: Pick<Read, "vault">,
  { id, sealed }: Sealed,
): Secret<Kyc> | null | "unreadable" {
  if (sealed === null) return null;
  const opened = vault.openIfReadable(sealed, identityOf(id));
  return opened === null ? "unreadable" : kycFrom(opened);
}

function kycFrom(opened: string): Secret<Kyc> {
  // `sealKyc` sealed exactly this shape.
  return new Secret(JSON.parse(opened) as Kyc);
}

/** What a drawn passport will bring: such a field is not missing from a line yet. */
export const drawableFields: Partial<Record<KycField, string>> = Object.fromEntries(
  identityNames.map((field) => [field, "pool"]),
);
