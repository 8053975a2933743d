import { and, between, eq, lte, sql } from "drizzle-orm";
import { civilDateAt } from "../kernel/civil-date.ts";
import type { Owner } from "../kernel/owner.ts";
import { type Pagination, pageOf, type Window, walk } from "../kernel/page.ts";
import { recordEvent } from "../outbox/record.ts";
import { updateRow } from "../store/rows.ts";
import { IN_POOL } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import type { PassportFilter } from "./list.ts";
import { numberIndex, ofPool, type PassportRow, requireAgent } from "./passport.ts";

/** Days before its expiry from which a passport is expiring. */
const AHEAD_DAYS = 60;
const DAY_MS = 86_400_000;
const STEP = 500;

/** The days on which a passport that is expiring at `now` ends. */
function expiringDays(now: number): { from: string; to: string } {
  return { from: civilDateAt(now), to: civilDateAt(now + AHEAD_DAYS * DAY_MS) };
}

const expiring = statement((db, t, slot: Slots<{ from: string; to: string; limit: number }>) =>
  db
    .select()
    .from(t.passports)
    .where(
      and(
        eq(t.passports.pool_key, IN_POOL),
        between(t.passports.passport_expiry, slot.from, slot.to),
        // Must match the partial index predicate exactly.
        sql`(expiry_notice is null or expiry_notice <> passport_expiry)`,
      ),
    )
    .orderBy(t.passports.passport_expiry, t.passports.id)
    .limit(slot.limit),
);

/**
 * Records passport.expiring for passports in their pools that expire within 60 days, once for each expiry, and returns
 * how many, 500 at most: 0 means that none is left. One that has expired gets none. Safe to repeat, late or twice.
 */
export async function announceExpiringPassports(tx: Tx, _input: null): Promise<number> {
  const rows = await expiring(tx, { ...expiringDays(tx.now), limit: STEP });
  for (const { id, partner_id: partnerId, environment, passport_country, passport_expiry } of rows) {
    await updateRow(tx, "passports", { id }, { expiry_notice: passport_expiry });
    const data = { id, passport_country, passport_expiry };
    await recordEvent(tx, { kind: "passport.expiring", partnerId, environment, subjectId: id, data });
  }
  return rows.length;
}

type Part = Window<string> & Owner & { to: string };

const nextOfPool = statement((db, t, slot: Slots<Omit<Part, "first">>) =>
  db
    .select()
    .from(t.passports)
    .where(
      and(
        ofPool(t, slot),
        sql`(${t.passports.passport_expiry}, ${t.passports.id}) > (${slot.key}, ${slot.id})`,
        lte(t.passports.passport_expiry, slot.to),
      ),
    )
    .orderBy(t.passports.passport_expiry, t.passports.id)
    .limit(slot.limit),
);

/**
 * A page of those of the owner's pool that expire within 60 days, as passport.expiring has it, the next one first.
 * Throws `invalid_cursor`, `no_agent_record`.
 */
export async function listExpiring(
  q: Read,
  { limit, cursor, passport_no, partnerId, environment }: PassportFilter,
): Promise<{ rows: PassportRow[]; pagination: Pagination }> {
  await requireAgent(q, partnerId);
  const { from, to } = expiringDays(q.now);
  const number_index = passport_no === undefined ? undefined : numberIndex(q, passport_no);
  const isAsked = (row: PassportRow) => number_index === undefined || row.number_index === number_index;
  const read = (window: Window<string>) => nextOfPool(q, { ...window, partnerId, environment, to });
  return pageOf(
    {
      ...{ limit, cursor, start: { key: from, id: "" } },
      binding: { list: "passports_expiring", partnerId, environment, number_index },
    },
    (window) => walk(window, isAsked, { read, positionOf }),
    positionOf,
  );
}

function positionOf({ passport_expiry: key, id }: PassportRow) {
  return { key, id };
}
