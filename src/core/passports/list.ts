import { and, desc, eq, sql } from "drizzle-orm";
import { type Actor, recordAudit } from "../audit/record.ts";
import type { PassportId } from "../kernel/brand.ts";
import { counted } from "../kernel/counted.ts";
import type { Owner } from "../kernel/owner.ts";
import { byCreation, newestFirst, type Pagination, pageOf } from "../kernel/page.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { numberIndex, ofPool, type PassportRecord, requireAgent, toRecord } from "./passport.ts";

/** Whose pool is listed, and which part of it. */
export interface PassportFilter extends Owner {
  limit: number;
  cursor?: string | undefined;
  /** Only records of exactly this number, however it is written. */
  passport_no?: string | undefined;
}

/** One page of a pool. */
export interface PassportPage {
  records: PassportRecord[];
  count: number;
  pagination: Pagination;
}

type Window = Owner & { key: number; id: string; limit: number };

const newest = statement((db, t, slot: Slots<Window>) =>
  db
    .select()
    .from(t.passports)
    .where(and(ofPool(t, slot), sql`(${t.passports.created_at}, ${t.passports.id}) < (${slot.key}, ${slot.id})`))
    .orderBy(desc(t.passports.created_at), desc(t.passports.id))
    .limit(slot.limit),
);

// In no order, so that only the number can lead it; they are at most one a country.
const ofNumber = statement((db, t, slot: Slots<Owner & { number_index: string }>) =>
  db
    .select()
    .from(t.passports)
    .where(and(eq(t.passports.number_index, slot.number_index), ofPool(t, slot))),
);

async function newestOfNumber(q: Read, { limit, key, id, ...number }: Window & { number_index: string }) {
  const rows = await ofNumber(q, number);
  const older = rows.filter((row) => row.created_at < key || (row.created_at === key && row.id < id));
  return older.sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? 1 : -1)).slice(0, limit);
}

/**
 * A page of the caller's pool, newest first, withdrawn ones left out (contract: GET /kyc/passports). Throws
 * `invalid_cursor`, `no_agent_record`.
 */
export async function listPassports(q: Read, filter: PassportFilter): Promise<PassportPage> {
  const { partnerId, environment, limit, cursor, passport_no } = filter;
  await requireAgent(q, partnerId);
  const number_index = passport_no === undefined ? undefined : numberIndex(q, passport_no);
  const binding = { list: "passports", partnerId, environment, number_index };
  const { rows, pagination } = await pageOf(
    { limit, cursor, binding, start: newestFirst },
    (window) => {
      const part = { ...window, partnerId, environment };
      return number_index === undefined ? newest(q, part) : newestOfNumber(q, { ...part, number_index });
    },
    byCreation,
  );
  return {
    records: rows.map((row) => toRecord(q, row)),
    count: rows.length,
    pagination,
  };
}

/** Records in the audit trail that the operator read whole records of a partner's pool. */
export async function auditPoolRead(tx: Tx, input: Owner & { ids: PassportId[]; actor: Actor }): Promise<void> {
  const { actor, partnerId, ids } = input;
  const [only] = ids;
  if (only === undefined) return;
  const target =
    ids.length === 1
      ? { targetKind: "passport", targetId: only }
      : {
          targetKind: "partner",
          targetId: partnerId,
          note: `${counted(ids.length, "passport")}, ${only} to ${ids.at(-1)}`,
        };
  await recordAudit(tx, { actor, action: "passports.read", partnerId, ...target });
}
