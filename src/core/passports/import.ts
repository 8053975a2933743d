import { and, count, sql } from "drizzle-orm";
import { recordAudit } from "../audit/record.ts";
import type { PassportId } from "../kernel/brand.ts";
import type { Checked } from "../kernel/checked.ts";
import { type IdentityField, identityNames } from "../kernel/identity-fields.ts";
import type { Owner } from "../kernel/owner.ts";
import { type FieldErrors, Problem } from "../kernel/problem.ts";
import { limitsOfPartner } from "../platform/partner-limits.ts";
import { insertNew } from "../store/rows.ts";
import { IN_POOL } from "../store/schema/values.ts";
import { indexDigests } from "../store/sealing/people.ts";
import { first, type Slots, statement, textAt } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { checkPassport, type SentPassport } from "./check.ts";
import {
  type NewPassport,
  ofPool,
  openPassport,
  openPassportIfReadable,
  type PassportRow,
  requireAgent,
} from "./passport.ts";
import { type SealedPassport, sealedOf, underCurrentKey } from "./seal.ts";

/** Most records of one import (contract: Limits). */
export const IMPORT_LIMIT = 200;

/** Why a record of an import is left out: it is there, or its document is, with other identity fields. */
type SkipReason = "already_in_pool" | "repeated_in_request" | `differs: ${string}`;

/** What an import did, record by record (decisions: Identity pool). */
export interface ImportResult {
  imported: number;
  skipped_duplicates: number;
  records: { id: PassportId; passport_no: string; status: "received" }[];
  /** `index` counts the request's records from 0. */
  skipped: { index: number; passport_no: string; reason: SkipReason }[];
}

/** Checks records whole; `problems` names every bad field of every record as `records.3.passport_no`. */
export function checkPassports(records: readonly SentPassport[], today: string): Checked<NewPassport[], FieldErrors> {
  const passports: NewPassport[] = [];
  const errors: FieldErrors = {};
  for (const [index, record] of records.entries()) {
    const checked = checkPassport(record, today);
    if ("ok" in checked) passports.push(checked.ok);
    else for (const [field, words] of Object.entries(checked.problems)) errors[`records.${index}.${field}`] = words;
  }
  return Object.keys(errors).length > 0 ? { problems: errors } : { ok: passports };
}

/**
 * Puts passports that were checked and sealed before (seal.ts) into a pool, all of them or none; ones that are there
 * already, or came before in the same import, are skipped (contract: POST /kyc/passports). One that was sealed under a
 * key that is current no more is sealed again. Throws `no_agent_record`, `pool_full`.
 */
export async function importPassports(
  tx: Tx,
  input: Owner & { texts: readonly string[]; actor: string },
): Promise<{ skipped: Skipped[] }> {
  await requireAgent(tx, input.partnerId);
  const capacity = await capacityOfPool(tx, input);
  const skipped: Skipped[] = [];
  const sent = new Set<PassportId>();
  let read = 0;
  for (const text of input.texts) {
    const passports = sealedOf(text);
    for (const { id } of passports) sent.add(id);
    for (const one of await storeNew(tx, input, { passports, sent })) skipped.push({ ...one, place: read + one.place });
    read += passports.length;
    if (capacity.left !== null && read - skipped.length > capacity.left) refuseFull(capacity.limit);
  }
  await auditImport(tx, input, { added: read - skipped.length, skipped: skipped.length });
  return { skipped };
}

/** One that is left out, by its place. */
export interface Skipped {
  place: number;
  /** It came before in the same import; else it was in the pool. */
  repeated: boolean;
  /** The fields that it says otherwise than the one that is there. */
  differs: string[];
}

/** Some passports of an import, and the IDs of all that were sent so far. */
interface Part {
  passports: readonly SealedPassport[];
  sent: ReadonlySet<PassportId>;
}

/** Stores those whose documents are not in the pool; answers the others. */
async function storeNew(tx: Tx, owner: Owner, { passports, sent }: Part): Promise<Skipped[]> {
  const { partnerId: partner_id, environment } = owner;
  const common = { ...FRESH, partner_id, environment, created_at: tx.now, updated_at: tx.now };
  const rows = passports.map((passport) => {
    const { digests: _, ...columns } = passport;
    return { ...common, ...columns, sealed: underCurrentKey(tx, passport) };
  });
  const known = await insertNew(tx, "passports", rows);
  const left = new Set(known);
  const added = known.length === 0 ? passports : passports.filter((_, place) => !left.has(place));
  await indexDigests(
    tx,
    added.map(({ id, digests }) => ({ kind: "passport", id, digests })),
  );
  return compareKnown(tx, owner, { passports, sent, known });
}

/** Compares passports that were left out with those of the same documents that are there. */
async function compareKnown(
  tx: Tx,
  owner: Owner,
  { passports, sent, known }: Part & { known: readonly number[] },
): Promise<Skipped[]> {
  if (known.length === 0) return [];
  const left = known.map((place) => at(passports, place));
  const documents = left.map((passport) => ({ ...passport, country: passport.passport_country }));
  const there = await documentsInPool(tx, owner, documents);
  return left.map((passport, index) => {
    const row = there.get(documentKey({ ...passport, country: passport.passport_country }));
    const stored = row === undefined ? null : openPassportIfReadable(tx, row);
    const differs = stored === null ? [] : differingFields(stored, openPassport(tx, passport));
    return { place: at(known, index), repeated: row !== undefined && sent.has(row.id), differs };
  });
}

function at<T>(list: readonly T[], index: number): T {
  const element = list[index];
  if (element === undefined) throw new Error(`there is no passport ${index}`);
  return element;
}

/** What an import did, by its passports as they were sent and sealed. */
export function importResult(
  passports: readonly NewPassport[],
  sealed: readonly SealedPassport[],
  skipped: readonly Skipped[],
): ImportResult {
  const left = new Set(skipped.map(({ place }) => place));
  const records = passports.flatMap(({ passport_no }, place) =>
    left.has(place) ? [] : [{ id: at(sealed, place).id, passport_no, status: "received" as const }],
  );
  return {
    imported: records.length,
    skipped_duplicates: skipped.length,
    records,
    skipped: skipped.map((one) => ({
      index: one.place,
      passport_no: at(passports, one.place).passport_no,
      reason: reasonOf(one),
    })),
  };
}

function reasonOf({ repeated, differs }: Skipped): SkipReason {
  if (differs.length > 0) return `differs: ${differs.join(", ")}`;
  return repeated ? "repeated_in_request" : "already_in_pool";
}

async function auditImport(
  tx: Tx,
  { partnerId, actor }: Owner & { actor: string },
  { added, skipped }: { added: number; skipped: number },
): Promise<void> {
  await recordAudit(tx, {
    actor,
    action: "passports.import",
    targetKind: "partner",
    targetId: partnerId,
    partnerId,
    note: `${added} imported, ${skipped} duplicates`,
  });
}

const inPoolOf = statement((db, t, slot: Slots<Owner>) =>
  db.select({ passports: count() }).from(t.passports).where(ofPool(t, slot)),
);

/** How many passports may be added; `left` null: any number. */
interface Capacity {
  limit: number | null;
  left: number | null;
}

async function capacityOfPool(tx: Tx, { partnerId, environment }: Owner): Promise<Capacity> {
  const { max_pool: limit } = await limitsOfPartner(tx, partnerId);
  if (limit === null) return { limit, left: null };
  const inPool = first(await inPoolOf(tx, { partnerId, environment }))?.passports ?? 0;
  return { limit, left: Math.max(limit - inPool, 0) };
}

function refuseFull(limit: number | null): never {
  throw new Problem("pool_full", `The pool may hold at most ${limit} passports. Nothing was stored.`, {
    members: { limit },
  });
}

/** What every passport has that is added. */
const FRESH = {
  verification: "pending",
  rejection: null,
  onshore: false,
  expiry_notice: null,
  drawable: false,
  use_count: 0,
  assigned_request_id: null,
  pool_key: IN_POOL,
  withdrawn_at: null,
} as const;

/** Fields that a record of the same document may say otherwise. */
type DifferingField = Exclude<IdentityField, "passport_no" | "passport_country">;

const compared = identityNames.filter(
  (field): field is DifferingField => field !== "passport_no" && field !== "passport_country",
);

function wordsOf(text: string | null): string {
  return (text ?? "").normalize("NFC").trim().split(/\s+/).join(" ");
}

/** The identity fields in which a record differs from that of the same document; blank ones are not compared. */
function differingFields(known: NewPassport, given: NewPassport): DifferingField[] {
  return compared.filter((field) => {
    const text = wordsOf(given[field]);
    return text !== "" && text !== wordsOf(known[field]);
  });
}

/** What makes a passport the same document: its country and the blind index of its number. */
interface Document {
  country: string;
  number_index: string;
}

/** A document as one text. */
function documentKey({ country, number_index }: Document): string {
  return `${country} ${number_index}`;
}

/**
 * `documents` is JSON: a list of lists of number_index and country. Compared as pairs, each is one search of the unique
 * index; of the number alone SQLite would read the whole pool.
 */
const ofDocuments = statement((db, t, slot: Slots<Owner & { documents: string }>, dialect) => {
  const { number_index, passport_country: country } = t.passports;
  const listed = sql`select ${textAt(0)}, ${textAt(1)} from ${dialect.listed(slot.documents)}`;
  return db
    .select()
    .from(t.passports)
    .where(and(sql`(${number_index}, ${country}) in (${listed})`, ofPool(t, slot)));
});

/** The passports of `owner`'s pool with these documents, by their keys; withdrawn ones are not counted. */
export async function documentsInPool(
  q: Read,
  owner: Owner,
  documents: readonly Document[],
): Promise<Map<string, PassportRow>> {
  const list = documents.map(({ number_index, country }) => [number_index, country]);
  const { partnerId, environment } = owner;
  const found = await ofDocuments(q, { partnerId, environment, documents: JSON.stringify(list) });
  return new Map(
    found.map((row) => [documentKey({ country: row.passport_country, number_index: row.number_index }), row]),
  );
}
