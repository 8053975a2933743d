import { sql } from "drizzle-orm";
import type { Owner } from "../kernel/owner.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

const DAY_MS = 86_400_000;
/** Orders that are counted at most: a page is for a glance. */
const MOST_ORDERS = 20_000;

/** A UTC day of a partner: how many orders were placed, and what was spent on them in one currency. */
export interface DayOfOrders {
  /** YYYY-MM-DD. */
  day: string;
  currency: string;
  orders: number;
  /** At their prices: without failed and cancelled ones, and without what was refunded. */
  spent_cents: number;
}

const perDay = statement((db, t, slot: Slots<Owner & { since: number; limit: number }>) => {
  const { orders } = t;
  const spent = sql<number>`case when ${orders.status} in ('failed', 'cancelled') then 0
    else ${orders.total_cents} - ${orders.refunded_cents} end`;
  const newest = db
    .select({ created_at: orders.created_at, currency: orders.currency, spent: spent.as("spent") })
    .from(orders)
    .where(
      sql`${orders.partner_id} = ${slot.partnerId} and ${orders.environment} = ${slot.environment}
        and ${orders.created_at} >= ${slot.since}`,
    )
    .orderBy(sql`${orders.created_at} desc`)
    .limit(slot.limit)
    .as("newest");
  const day = sql<number>`${newest.created_at} / ${sql.raw(String(DAY_MS))}`;
  return db
    .select({
      day: day.mapWith(Number),
      currency: newest.currency,
      orders: sql`count(*)`.mapWith(Number),
      spent_cents: sql`sum(${newest.spent})`.mapWith(Number),
    })
    .from(newest)
    .groupBy(day, newest.currency)
    .orderBy(day, newest.currency);
});

/** What a partner ordered on each of the last 30 days that had an order; of very many the newest are counted. */
export async function ordersByDay(q: Read, { partnerId, environment }: Owner): Promise<DayOfOrders[]> {
  const since = (Math.floor(q.now / DAY_MS) - 29) * DAY_MS;
  const rows = await perDay(q, { partnerId, environment, since, limit: MOST_ORDERS });
  return rows.map(({ day, ...counted }) => ({ day: new Date(day * DAY_MS).toISOString().slice(0, 10), ...counted }));
}
