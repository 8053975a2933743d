import { and, eq, gte, sql } from "drizzle-orm";
import { isoTime } from "../kernel/clock.ts";
import { type Environment, environments } from "../kernel/environment.ts";
import { firstUuidOf } from "../kernel/ids.ts";
import { formatMoney } from "../kernel/money.ts";
import { Problem } from "../kernel/problem.ts";
import { capsIn } from "../platform/spend-caps.ts";
import type { Row } from "../store/schema/tables.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import type { Budget } from "./guard-rails.ts";

type SpendingRow = Row<"credentialSpending">;
type Account = Pick<SpendingRow, "client_id" | "environment" | "currency">;

/** What orders of a credential cost in one UTC day. */
export interface Spent {
  day: string;
  cents: number;
}

const spending = statement((db, t, slot: Slots<Account>) =>
  db
    .select()
    .from(t.credentialSpending)
    .where(
      and(
        eq(t.credentialSpending.client_id, slot.client_id),
        eq(t.credentialSpending.environment, slot.environment),
        eq(t.credentialSpending.currency, slot.currency),
      ),
    ),
);

const put = statement((db, t, slot: Slots<SpendingRow>) =>
  db
    .insert(t.credentialSpending)
    .values({
      client_id: slot.client_id,
      environment: slot.environment,
      currency: slot.currency,
      day: slot.day,
      spent_cents: slot.spent_cents,
    })
    .onConflictDoUpdate({
      target: [t.credentialSpending.client_id, t.credentialSpending.environment, t.credentialSpending.currency],
      set: { day: slot.day, spent_cents: slot.spent_cents },
    }),
);

const drop = statement((db, t, slot: Slots<{ client_id: string }>) =>
  db.delete(t.credentialSpending).where(eq(t.credentialSpending.client_id, slot.client_id)),
);

/** What a row counts of the current day. The day of a node whose clock is ahead stays the current one. */
export function spentOf(row: Pick<SpendingRow, "day" | "spent_cents"> | null, now: number): Spent {
  const today = isoTime(now).slice(0, 10);
  return row !== null && row.day >= today ? { day: row.day, cents: row.spent_cents } : { day: today, cents: 0 };
}

/** The end of a UTC day, when a cap per day counts from zero again. */
export function endOfDay(day: string): string {
  return isoTime(Date.parse(`${day}T00:00:00Z`) + 86_400_000);
}

/** An order as far as caps concern it. */
interface Purchase {
  environment: Environment;
  currency: string;
  total: number;
}

/**
 * What the credential has spent in the order's currency today, and `ahead` of it; null: no cap per day counts it.
 * Throws `spend_cap_exceeded` where the order would cost more than its caps leave.
 */
export async function requireWithinCaps(q: Read, budget: Budget, purchase: Purchase, ahead = 0): Promise<Spent | null> {
  const { environment, currency, total } = purchase;
  const { perOrder, perDay } = capsIn(budget.caps, currency);
  if (perOrder !== null && total > perOrder) throw overCap("per_order", purchase, { cap: perOrder, spent: null });
  if (perDay === null) return null;
  const row = first(await spending(q, { client_id: budget.clientId, environment, currency }));
  const counted = spentOf(row, q.now);
  const spent = { day: counted.day, cents: counted.cents + ahead };
  if (total > perDay - spent.cents) throw overCap("per_day", purchase, { cap: perDay, spent });
  return spent;
}

/** Counts an order against the caps of its credential, in its transaction. Throws `spend_cap_exceeded`. */
export async function spendWithinCaps(tx: Tx, budget: Budget, purchase: Purchase): Promise<void> {
  const spent = await requireWithinCaps(tx, budget, purchase);
  if (spent === null) return;
  const { environment, currency, total } = purchase;
  const account = { client_id: budget.clientId, environment, currency };
  await put(tx, { ...account, day: spent.day, spent_cents: spent.cents + total });
}

function overCap(
  kind: "per_order" | "per_day",
  { currency, total }: Purchase,
  { cap, spent }: { cap: number; spent: Spent | null },
): Problem {
  const [costs, most, used] = [total, cap, spent?.cents ?? 0].map(
    (cents) => `${formatMoney(cents, currency)} ${currency}`,
  );
  const words =
    spent === null
      ? `The order costs ${costs}; this credential may spend ${most} per order.`
      : `The order costs ${costs}; this credential may spend ${most} per day, and has spent ${used} today.`;
  const members = {
    cap: kind,
    currency,
    cap_cents: cap,
    spent_cents: spent?.cents ?? 0,
    required_cents: total,
    resets_at: spent === null ? null : endOfDay(spent.day),
  };
  return new Problem("spend_cap_exceeded", words, { members });
}

type Today = { client_id: string; partner_id: string; environment: Environment; since: number };

/** The orders of today that the credential, and those that have its guard rails, placed. */
const today = statement((db, t, slot: Slots<Today>) =>
  db
    .select({ currency: t.orders.currency, cents: sql`sum(${t.orders.total_cents})`.mapWith(Number) })
    .from(t.orders)
    .where(
      and(
        eq(t.orders.partner_id, slot.partner_id),
        eq(t.orders.environment, slot.environment),
        gte(t.orders.created_at, slot.since),
        // In the sandbox that is its clock's time, and caps count by the system's.
        sql`${t.orders.created_at} - ${t.orders.ahead_ms} >= cast(${slot.since} as bigint)`,
        sql`${t.orders.created_by} in (select 'client:' || c.client_id from ${t.credentials} c
          where c.client_id = ${slot.client_id} or c.guarded_by = ${slot.client_id})`,
      ),
    )
    .groupBy(t.orders.currency),
);

/** The same of top-ups. Their ids begin with the system's time, whatever the sandbox clock said. */
const topupsToday = statement((db, t, slot: Slots<Omit<Today, "since"> & { from: string }>) =>
  db
    .select({ currency: t.topups.currency, cents: sql`sum(${t.topups.price_cents})`.mapWith(Number) })
    .from(t.topups)
    .where(
      and(
        eq(t.topups.partner_id, slot.partner_id),
        eq(t.topups.environment, slot.environment),
        gte(t.topups.id, slot.from),
        sql`${t.topups.created_by} in (select 'client:' || c.client_id from ${t.credentials} c
          where c.client_id = ${slot.client_id} or c.guarded_by = ${slot.client_id})`,
      ),
    )
    .groupBy(t.topups.currency),
);

/**
 * Counts all orders and top-ups of today, for caps that are set in the middle of a day: before, nothing was counted.
 * A cap thus holds over the whole day.
 */
export async function recountSpending(tx: Tx, credential: Row<"credentials">): Promise<void> {
  const { client_id, partner_id } = credential;
  const day = isoTime(tx.now).slice(0, 10);
  await drop(tx, { client_id });
  for (const environment of environments) {
    const since = Date.parse(`${day}T00:00:00Z`);
    const counted = new Map<string, number>();
    const whose = { client_id, partner_id, environment };
    const ordered = await today(tx, { ...whose, since });
    const toppedUp = await topupsToday(tx, { ...whose, from: firstUuidOf(since) });
    for (const { currency, cents } of [...ordered, ...toppedUp]) {
      counted.set(currency, (counted.get(currency) ?? 0) + cents);
    }
    for (const [currency, spent_cents] of counted) {
      await put(tx, { client_id, environment, currency, day, spent_cents });
    }
  }
}

const allSpending = statement((db, t, slot: Slots<Omit<Account, "currency">>) =>
  db
    .select()
    .from(t.credentialSpending)
    .where(
      and(eq(t.credentialSpending.client_id, slot.client_id), eq(t.credentialSpending.environment, slot.environment)),
    )
    .orderBy(t.credentialSpending.currency),
);

/** What is counted for the caps of a credential in one environment, by currency. */
export function spendingOf(q: Read, account: Omit<Account, "currency">): Promise<SpendingRow[]> {
  return allSpending(q, account);
}
