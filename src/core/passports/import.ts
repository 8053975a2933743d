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
import { insertRow } from "../store/rows.ts";
import { IN_POOL } from "../store/schema/passports.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { checkPassport, type SentPassport } from "./check.ts";
import { columnsOf, type NewPassport, numberIndex, passportInPool, requireAgent } from "./passport.ts";

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
  const result: ImportResult = { imported: 0, skipped_duplicates: 0, records: [], skipped: [] };
  const seen = new Set<string>();
  const room = await roomInPool(tx, input);
  const entries: IndexEntry[] = [];
  for (const [index, passport] of checked.ok.entries()) {
    await addOne(tx, input, { index, passport, seen, room, result, entries });
  }
  await indexRecords(tx, entries);
  result.imported = result.records.length;
  result.skipped_duplicates = result.skipped.length;
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

interface Addition {
  index: number;
  passport: NewPassport;
  /** The documents that came before in this request. */
  seen: Set<string>;
  room: Room;
  result: ImportResult;
  /** By which names those that were added are found. */
  entries: IndexEntry[];
}

async function addOne(tx: Tx, owner: Owner, addition: Addition): Promise<void> {
  const { index, passport, seen, room, result, entries } = addition;
  const { passport_no, passport_country: country } = passport;
  const number_index = numberIndex(tx, passport_no);
  const document = `${country} ${number_index}`;
  const repeated = seen.has(document);
  if (repeated || (await passportInPool(tx, owner, { country, number_index })) !== null) {
    result.skipped.push({ index, passport_no, reason: repeated ? "repeated_in_request" : "already_in_pool" });
    return;
  }
  if (room.left !== null && result.records.length >= room.left) refuseFull(room.limit);
  seen.add(document);
  const id = newId<PassportId>(tx);
  await insertRow(tx, "passports", {
    id,
    partner_id: owner.partnerId,
    environment: owner.environment,
    ...columnsOf(tx, id, passport),
    verification: "pending",
    onshore: false,
    drawable: false,
    use_count: 0,
    pool_key: IN_POOL,
    created_at: tx.now,
    updated_at: tx.now,
  });
  const scope = { partner_id: owner.partnerId, environment: owner.environment };
  entries.push({ scope, record: { kind: "passport", id }, keys: keysOfPassport(passport) });
  result.records.push({ id, passport_no, status: "received" });
}
