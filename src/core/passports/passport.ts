import { and, eq } from "drizzle-orm";
import type { PartnerId, PassportId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import { type Identity, normalizePassportNumber } from "../kernel/identity.ts";
import type { Owner } from "../kernel/owner.ts";
import { notFound, Problem } from "../kernel/problem.ts";
import { findByKey } from "../store/rows.ts";
import type { Row, Tables } from "../store/schema/tables.ts";
import { IN_POOL } from "../store/schema/values.ts";
import { keysOfPassport, reindexRecord } from "../store/sealing/people.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import type { Cell } from "../store/vault.ts";

export type PassportRow = Row<"passports">;

/** A passport as its partner sends it, checked: identity and the partner's own note of it. */
export interface NewPassport extends Identity {
  reference: string | null;
}

/** The Passport pool record (contract): what was submitted. Verification and use never leave by the API. */
export interface PassportRecord extends NewPassport {
  id: PassportId;
  status: "received";
  created_at: string;
  updated_at: string;
  /** What is sealed of it cannot be read: those fields are empty. */
  unreadable?: boolean;
}

/** The part of an identity that is sealed at rest. */
type SealedPart = Omit<Identity, "passport_country" | "passport_expiry">;

/** What an unreadable record shows in its place. */
const NOTHING_SEALED: SealedPart = {
  first_name: "",
  last_name: "",
  title: null,
  passport_no: "",
  date_of_birth: "",
  address: null,
  suburb: null,
  state: null,
  postcode: null,
};

/** Where the sealed part of a passport is stored. */
export function sealedPartOf(id: PassportId): Cell {
  return { column: "passports.sealed", row: id };
}

/**
 * The columns that hold a passport's own data: what is sensitive sealed as one text, and the number's blind index,
 * which the caller may have already.
 */
export function columnsOf(
  { vault }: Pick<Read, "vault">,
  id: PassportId,
  passport: NewPassport,
  number_index = numberIndex({ vault }, passport.passport_no),
) {
  const { passport_country, passport_expiry, reference, ...part } = passport;
  const sealed = vault.seal(JSON.stringify(part satisfies SealedPart), sealedPartOf(id));
  const clear = { passport_country, passport_expiry, reference };
  return { ...clear, sealed, number_index };
}

/** The blind index of a passport number, however it is written. */
export function numberIndex({ vault }: Pick<Read, "vault">, number: string): string {
  return vault.blindIndex("passport_no", normalizePassportNumber(number));
}

/** What a passport says, as it is stored. */
type OwnColumns = Pick<PassportRow, "id" | "sealed" | "passport_country" | "passport_expiry" | "reference">;

/** A stored passport with its sealed part opened. Throws `UnreadableError`. */
export function openPassport(q: Pick<Read, "vault">, row: OwnColumns): NewPassport {
  return withPart(row, q.vault.open(row.sealed, sealedPartOf(row.id)));
}

/** The same; null where it cannot be read, which is reported. */
export function openPassportIfReadable(q: Pick<Read, "vault">, row: PassportRow): NewPassport | null {
  const opened = q.vault.openIfReadable(row.sealed, sealedPartOf(row.id));
  return opened === null ? null : withPart(row, opened);
}

function withPart(row: OwnColumns, opened: string): NewPassport {
  // `columnsOf` sealed exactly this shape.
  return { ...clearPart(row), ...(JSON.parse(opened) as SealedPart) };
}

function clearPart({ passport_country, passport_expiry, reference }: OwnColumns) {
  return { passport_country, passport_expiry, reference };
}

/** Makes a passport be found by the names on it, and by none that it had before. */
export async function indexPassport(tx: Tx, id: PassportId, owner: Owner, names: NewPassport): Promise<void> {
  const { partnerId: partner_id, environment } = owner;
  const scope = { partner_id, environment };
  await reindexRecord(tx, { scope, record: { kind: "passport", id }, keys: keysOfPassport(names) });
}

/** The record as its partner sees it; one that cannot be read does not hide the others of its list. */
export function toRecord(q: Pick<Read, "vault">, row: PassportRow): PassportRecord {
  const opened = openPassportIfReadable(q, row);
  const passport = opened ?? { ...clearPart(row), ...NOTHING_SEALED };
  const { id, created_at, updated_at } = row;
  const times = { created_at: isoTime(created_at), updated_at: isoTime(updated_at) };
  return { id, ...passport, status: "received", ...times, ...(opened === null ? { unreadable: true } : {}) };
}

/** The row of any partner's passport, withdrawn or not. Throws `not_found`. */
export async function requirePassport(q: Read, id: PassportId): Promise<PassportRow> {
  const row = await findByKey(q, "passports", { id });
  if (row === null) throw notFound("passport");
  return row;
}

/** The row of a passport in `owner`'s pool. Throws `not_found` otherwise, whether it exists or not. */
export async function requireOwnPassport(q: Read, owner: Owner, id: PassportId): Promise<PassportRow> {
  const row = await requirePassport(q, id);
  const own = row.partner_id === owner.partnerId && row.environment === owner.environment;
  if (!own || row.withdrawn_at !== null) throw notFound("passport");
  return row;
}

/** What is in an owner's pool: withdrawn passports are not. */
export function ofPool({ passports }: Tables, slot: Slots<Owner>) {
  const { partner_id, environment, pool_key } = passports;
  return and(eq(partner_id, slot.partnerId), eq(environment, slot.environment), eq(pool_key, IN_POOL));
}

type InPool = Owner & { country: string; number_index: string };

const inPool = statement((db, t, slot: Slots<InPool>) =>
  db
    .select({ id: t.passports.id })
    .from(t.passports)
    .where(
      and(
        eq(t.passports.number_index, slot.number_index),
        eq(t.passports.passport_country, slot.country),
        ofPool(t, slot),
      ),
    ),
);

/** The passport of `owner`'s pool with this country and number, withdrawn ones not counted. */
export async function passportInPool(
  q: Read,
  owner: Owner,
  document: { country: string; number_index: string },
): Promise<PassportId | null> {
  const { partnerId, environment } = owner;
  return first(await inPool(q, { partnerId, environment, ...document }))?.id ?? null;
}

/** Throws `no_agent_record` unless the operator set this partner's agent record: else no pool, no bulk changes. */
export async function requireAgent(q: Read, partnerId: PartnerId): Promise<void> {
  if ((await findByKey(q, "partners", { id: partnerId }))?.agent === true) return;
  throw new Problem("no_agent_record", "This needs an agent record, which the operator sets for a partner.");
}

const ofNumber = statement((db, t, slot: Slots<{ number_index: string }>) =>
  db.select().from(t.passports).where(eq(t.passports.number_index, slot.number_index)),
);

/** Every record with the number of this blind index, in all pools, withdrawn ones too. */
export function passportsOfNumber(q: Read, number_index: string): Promise<PassportRow[]> {
  return ofNumber(q, { number_index });
}
