import { and, count, eq } from "drizzle-orm";
import { recordAudit } from "../audit/record.ts";
import type { PassportId } from "../kernel/brand.ts";
import type { Checked } from "../kernel/checked.ts";
import { civilDateAt } from "../kernel/civil-date.ts";
import type { Owner } from "../kernel/owner.ts";
import { type FieldErrors, invalid, Problem } from "../kernel/problem.ts";
import { limitsOfPartner } from "../platform/partner-limits.ts";
import { insert, insertNew } from "../store/rows.ts";
import { IN_POOL } from "../store/schema/passports.ts";
import { indexDigests } from "../store/sealing/people-index.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { checkPassport, type SentPassport } from "./check.ts";
import { differingFields } from "./differs.ts";
import {
  type Document,
  documentKey,
  documentOf,
  documentsInPool,
  type NewPassport,
  openPassport,
  openPassportIfReadable,
  requireAgent,
} from "./passport.ts";
import { passportSealer, type SealedPassport, sealedOf, underCurrentKey } from "./seal.ts";

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
 * Puts passports into the caller's pool; ones that are there already, or came before in the same request, are skipped
 * (contract: POST /kyc/passports). All or nothing: throws `validation` naming every bad field, `no_agent_record`,
 * `pool_full`.
 */
export async function importPassports(
  tx: Tx,
  input: Owner & { records: readonly SentPassport[]; actor: string },
): Promise<ImportResult> {
  await requireAgent(tx, input.partnerId);
  const checked = checkPassports(input.records, civilDateAt(tx.now));
  if ("problems" in checked) throw invalid(checked.problems);
  const passports = checked.ok;
  const documents = passports.map((passport) => documentOf(tx, passport));
  const seal = passportSealer(tx, input);
  const added = await addAll(tx, input, { passports, documents }, (index) =>
    seal(at(passports, index), documents[index]),
  );
  await auditImport(tx, input, { added: added.added.length, skipped: added.skipped.length });
  return resultOf(passports, added);
}

/**
 * The same for passports that were checked, sealed and gathered before (`gatherSealed`); `skipped` are those that are
 * left out, each with the fields in which it differs from the one that is there. One that was sealed under a key that
 * is current no more is sealed again.
 */
export async function importSealedPassports(
  tx: Tx,
  input: Owner & { texts: readonly string[]; actor: string },
): Promise<{ skipped: Skipped[] }> {
  await requireAgent(tx, input.partnerId);
  const room = await roomInPool(tx, input);
  const skipped: Skipped[] = [];
  let read = 0;
  for (const text of input.texts) {
    const passports = sealedOf(text);
    for (const one of await storeNew(tx, input, passports)) skipped.push({ ...one, place: read + one.place });
    read += passports.length;
    if (room.left !== null && read - skipped.length > room.left) refuseFull(room.limit);
  }
  await auditImport(tx, input, { added: read - skipped.length, skipped: skipped.length });
  return { skipped };
}

/** One that is left out, by its place; `differs` names the fields that it says otherwise. */
export interface Skipped {
  place: number;
  differs: string[];
}

/** Stores those whose documents are not in the pool; answers the others. */
async function storeNew(tx: Tx, owner: Owner, passports: readonly SealedPassport[]): Promise<Skipped[]> {
  const common = commonColumns(tx, owner);
  const rows = passports.map((passport) => {
    const { digests: _, ...columns } = passport;
    return { ...FRESH, ...common, ...columns, sealed: underCurrentKey(tx, passport) };
  });
  const known = await insertNew(tx, "passports", rows);
  const left = new Set(known);
  await indexPassports(tx, known.length === 0 ? passports : passports.filter((_, place) => !left.has(place)));
  return compareKnown(
    tx,
    owner,
    known.map((place) => ({ place, passport: at(passports, place) })),
  );
}

/** Compares passports that were left out with those of the same documents that are there. */
async function compareKnown(
  tx: Tx,
  owner: Owner,
  left: readonly { place: number; passport: SealedPassport }[],
): Promise<Skipped[]> {
  if (left.length === 0) return [];
  const documents = left.map(({ passport }) => ({ ...passport, country: passport.passport_country }));
  const there = await documentsInPool(tx, owner, documents);
  return left.map(({ place, passport }) => {
    const row = there.get(documentKey({ ...passport, country: passport.passport_country }));
    const known = row === undefined ? null : openPassportIfReadable(tx, row);
    return { place, differs: known === null ? [] : differingFields(known, openPassport(tx, passport)) };
  });
}

function at<T>(list: readonly T[], index: number): T {
  const element = list[index];
  if (element === undefined) throw new Error(`there is no passport ${index}`);
  return element;
}

function resultOf(passports: readonly NewPassport[], { added, skipped }: Added): ImportResult {
  const numberOf = (index: number) => at(passports, index).passport_no;
  return {
    imported: added.length,
    skipped_duplicates: skipped.length,
    records: added.map(({ index, id }) => ({ id, passport_no: numberOf(index), status: "received" })),
    skipped: skipped.map(({ index, reason }) => ({ index, passport_no: numberOf(index), reason })),
  };
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
  db
    .select({ passports: count() })
    .from(t.passports)
    .where(
      and(
        eq(t.passports.partner_id, slot.partnerId),
        eq(t.passports.environment, slot.environment),
        eq(t.passports.pool_key, IN_POOL),
      ),
    ),
);

/** How many passports may be added; `left` null: any number. */
interface Room {
  limit: number | null;
  left: number | null;
}

async function roomInPool(tx: Tx, { partnerId, environment }: Owner): Promise<Room> {
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

/** What of an import was stored, by the places of its passports. */
interface Added {
  added: { index: number; id: PassportId }[];
  skipped: { index: number; reason: SkipReason }[];
}

/** Stores those that are new, with as many statements, however many they are. `sealedOf` is called for no others. */
async function addAll(
  tx: Tx,
  owner: Owner,
  { passports: given, documents }: { passports: readonly NewPassport[]; documents: readonly Document[] },
  sealedOf: (index: number) => SealedPassport,
): Promise<Added> {
  const known = await documentsInPool(tx, owner, documents);
  const room = await roomInPool(tx, owner);
  const result: Added = { added: [], skipped: [] };
  const passports: SealedPassport[] = [];
  const seen = new Map<string, NewPassport>();
  for (const [index, document] of documents.entries()) {
    const key = documentKey(document);
    const [earlier, row] = [seen.get(key), known.get(key)];
    if (earlier !== undefined || row !== undefined) {
      const there = earlier ?? (row === undefined ? null : openPassportIfReadable(tx, row));
      const differs = there === null ? [] : differingFields(there, at(given, index));
      const plain = earlier === undefined ? "already_in_pool" : "repeated_in_request";
      result.skipped.push({ index, reason: differs.length > 0 ? `differs: ${differs.join(", ")}` : plain });
      continue;
    }
    if (room.left !== null && passports.length >= room.left) refuseFull(room.limit);
    seen.set(key, at(given, index));
    const passport = sealedOf(index);
    passports.push(passport);
    result.added.push({ index, id: passport.id });
  }
  const common = { ...FRESH, ...commonColumns(tx, owner) };
  await insert(
    tx,
    "passports",
    passports.map(({ digests: _, ...columns }) => ({ ...common, ...columns })),
  );
  await indexPassports(tx, passports);
  return result;
}

async function indexPassports(tx: Tx, passports: readonly SealedPassport[]): Promise<void> {
  await indexDigests(
    tx,
    passports.map(({ id, digests }) => ({ kind: "passport", id, digests })),
  );
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

/** The same of those that are added now, to this pool. */
function commonColumns({ now }: Tx, { partnerId: partner_id, environment }: Owner) {
  return { partner_id, environment, created_at: now, updated_at: now };
}
