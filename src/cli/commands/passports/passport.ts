import type { PassportId } from "../../../core/kernel/brand.ts";
import { isUuid } from "../../../core/kernel/is-uuid.ts";
import type { OperatorPassport, PassportUse } from "../../../core/passports/operator-view.ts";
import type { PassportRecord } from "../../../core/passports/passport.ts";
import type { Store } from "../../../core/store/store.ts";
import { CliError } from "../../kernel/errors.ts";
import type { Column, Sheet } from "../../output/sheet.ts";
import { moment, shown, statusPaint, yesNo } from "../../output/words.ts";

/** The keys of a passport as operators see it; what is sealed is in it only with --reveal. */
export const OPERATOR_PASSPORT_JSON =
  "{id, partner, environment, first_name, last_name, title, passport_country, passport_expiry, reference, " +
  "verification, rejection, onshore, uses, assigned_request_id, withdrawn_at, created_at, updated_at}";

/** The keys of a partner's own record. */
export const RECORDS_JSON =
  "the API's body: {records: [{id, first_name, …, status, created_at, updated_at}], count, …}";

function fullName({ first_name, last_name }: { first_name: string; last_name: string }): string {
  return `${first_name} ${last_name}`;
}

/** A record whose sealed part cannot be read says so, since it has no number to show. */
function numberOf({ unreadable, passport_no }: PassportRecord): string {
  return unreadable ? "unreadable" : passport_no;
}

export const recordColumns: Column<PassportRecord>[] = [
  { title: "number", value: numberOf },
  { title: "country", value: (record) => record.passport_country },
  { title: "name", value: fullName, shrinks: true },
  { title: "expires", value: (record) => record.passport_expiry },
  { title: "reference", value: (record) => record.reference, shrinks: true, spare: 2 },
  { title: "added", value: (record) => moment(record.created_at), spare: 1 },
  { title: "id", value: (record) => record.id, spare: true },
];

/** A partner's own record, for people. */
export function recordFields(record: PassportRecord): Record<string, string> {
  const { address, suburb, state, postcode } = record;
  return {
    number: shown(numberOf(record)),
    country: record.passport_country,
    name: shown([record.title, fullName(record)].filter(Boolean).join(" ")),
    born: record.date_of_birth,
    expires: record.passport_expiry,
    address: shown([address, suburb, state, postcode].filter(Boolean).join(", ")),
    reference: shown(record.reference),
    status: record.status,
    added: moment(record.created_at),
    changed: moment(record.updated_at),
    id: record.id,
  };
}

export const operatorColumns: Column<OperatorPassport>[] = [
  { title: "partner", value: (one) => one.partner, spare: 4 },
  { title: "environment", value: (one) => one.environment, spare: 1 },
  { title: "country", value: (one) => one.passport_country, spare: 5 },
  { title: "name", value: fullName, shrinks: true },
  { title: "expires", value: (one) => one.passport_expiry, spare: 3 },
  { title: "reference", value: (one) => one.reference, shrinks: true, spare: true },
  { title: "added", value: (one) => moment(one.created_at), spare: 2 },
  { title: "id", value: (one) => one.id },
];

/** A passport as operators see it, for people. */
export function operatorFields(sheet: Sheet, one: OperatorPassport): Record<string, string> {
  const { verification, rejection } = one;
  const verdict = statusPaint(sheet, verification)(verification);
  return {
    id: one.id,
    partner: `${one.partner} (${one.environment})`,
    name: shown([one.title, fullName(one)].filter(Boolean).join(" ")),
    country: one.passport_country,
    expires: one.passport_expiry,
    reference: shown(one.reference),
    verification: rejection === null ? verdict : `${verdict}: ${shown(rejection)}`,
    onshore: yesNo(one.onshore),
    uses: String(one.uses),
    withdrawn: moment(one.withdrawn_at),
    added: moment(one.created_at),
  };
}

export const useColumns: Column<PassportUse>[] = [
  { title: "drawn", value: (use) => moment(use.drawn_at) },
  { title: "brand", value: (use) => use.brand, spare: 3 },
  { title: "carrier", value: (use) => use.carrier, spare: 2 },
  { title: "request", value: (use) => use.request_id },
  { title: "by", value: (use) => use.actor, spare: 1 },
  { title: "released", value: (use) => moment(use.released_at), spare: true },
];

/** A typed id. */
export function passportId(typed: string): PassportId {
  return typed.trim().toLowerCase() as PassportId; // the database decides whether it exists
}

/** The passports of any pool that an id or a number means, withdrawn ones too. Throws `not_found` when none. */
export async function findEverywhere(store: Store, typed: string): Promise<OperatorPassport[]> {
  const { findPassports, showPassport } = await import("../../../core/passports/operator-view.ts");
  if (isUuid(typed)) return [await store.read(showPassport, passportId(typed))];
  const found = await store.read(findPassports, typed);
  if (found.length === 0) throw noSuchPassport();
  return found;
}

/** Nothing has the number that was asked for; the number itself is not repeated. */
export function noSuchPassport(): CliError {
  return new CliError(
    "not_found",
    "No passport has this number.",
    "Check the number, the partner and the environment.",
  );
}
