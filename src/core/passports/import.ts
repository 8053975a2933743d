import { and, count, eq } from "drizzle-orm";
import { recordAudit } from "../audit/record.ts";
import type { PassportId } from "../kernel/brand.ts";
import type { Checked } from "../kernel/checked.ts";
import { civilDateAt } from "../kernel/civil-date.ts";
import { newId } from "../kernel/ids.ts";
import type { Owner } from "../kernel/owner.ts";
import { type FieldErrors, invalid, Problem } from "../kernel/problem.ts";
import { limitsOfPartner } from "../store/partner-limits.ts";
import { keysOfPassport } from "../store/people.ts";
import { type IndexEntry, indexRecords } from "../store/people-index.ts";
import { insertRows, type NewRow } from "../store/rows.ts";
import { IN_POOL } from "../store/schema/passports.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { checkPassport, type SentPassport } from "./check.ts";
import { columnsOf, documentKey, documentOf, documentsInPool, type NewPassport, requireAgent } from "./passport.ts";

/** Most records of one import (contract: Limits). */
export const IMPORT_LIMIT = 200;

/** Why a record of an import is left out. */
export const skipReasons = ["already_in_pool", "repeated_in_request"] as const;

/** What an import did, record by record (decisions: Identity pool). */
export interface ImportResult {
  imported: number;
  skipped_duplicates: number;
  records: { id: PassportId; passport_no: string; status: "received" }[];
  /** `index` counts the request's records from 0. */
  skipped: { index: number; passport_no: string; reason: (typeof skipReasons)[number] }[];
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
  const result = await addAll(tx, input, checked.ok);
  await recordAudit(tx, {
    actor: input.actor,
    action: "passports.import",
    targetKind: "partner",
    targetId: input.partnerId,
    partnerId: input.partnerId,
    note: `${result.imported} imported, ${result.skipped_duplicates} duplicates`,
  });
  return result;
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

/** Stores those that are new, with as many statements, however many they are. */
async function addAll(tx: Tx, owner: Owner, passports: readonly NewPassport[]): Promise<ImportResult> {
  const { partnerId: partner_id, environment } = owner;
  const documents = passports.map((passport) => documentOf(tx, passport));
  const known = await documentsInPool(tx, owner, documents);
  const room = await roomInPool(tx, owner);
  const result: ImportResult = { imported: 0, skipped_duplicates: 0, records: [], skipped: [] };
  const rows: NewRow<"passports">[] = [];
  const entries: IndexEntry[] = [];
  const seen = new Set<string>();
  for (const [index, passport] of passports.entries()) {
    const { passport_no } = passport;
    const document = documents[index] ?? documentOf(tx, passport);
    const key = documentKey(document);
    if (seen.has(key) || known.has(key)) {
      const reason = seen.has(key) ? "repeated_in_request" : "already_in_pool";
      result.skipped.push({ index, passport_no, reason });
      continue;
    }
    if (room.left !== null && result.records.length >= room.left) refuseFull(room.limit);
    seen.add(key);
    const id = newId<PassportId>(tx);
    rows.push({ ...fresh(tx), id, partner_id, environment, ...columnsOf(tx, id, passport, document.number_index) });
    const record = { kind: "passport", id } as const;
    entries.push({ scope: { partner_id, environment }, record, keys: keysOfPassport(passport) });
    result.records.push({ id, passport_no, status: "received" });
  }
  await insertRows(tx, "passports", rows);
  await indexRecords(tx, entries);
  return { ...result, imported: result.records.length, skipped_duplicates: result.skipped.length };
}

/** What every passport has that is added now. */
function fresh({ now }: Tx) {
  const unused = { onshore: false, drawable: false, use_count: 0, pool_key: IN_POOL } as const;
  return { ...unused, verification: "pending", created_at: now, updated_at: now } as const;
}
