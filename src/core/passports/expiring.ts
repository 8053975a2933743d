import { and, between, eq, sql } from "drizzle-orm";
import { civilDateAt } from "../kernel/civil-date.ts";
import { recordEvent } from "../outbox/record.ts";
import { updateRow } from "../store/rows.ts";
import { IN_POOL } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";

/** Days before its expiry from which a passport is expiring. */
const AHEAD_DAYS = 60;
const DAY_MS = 86_400_000;
const STEP = 500;

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
  const window = { from: civilDateAt(tx.now), to: civilDateAt(tx.now + AHEAD_DAYS * DAY_MS) };
  const rows = await expiring(tx, { ...window, limit: STEP });
  for (const { id, partner_id: partnerId, environment, passport_country, passport_expiry } of rows) {
    await updateRow(tx, "passports", { id }, { expiry_notice: passport_expiry });
    const data = { id, passport_country, passport_expiry };
    await recordEvent(tx, { kind: "passport.expiring", partnerId, environment, subjectId: id, data });
  }
  return rows.length;
}
