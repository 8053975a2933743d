import { count, gte, sql } from "drizzle-orm";
import { firstUuidOf } from "../kernel/ids.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { requestCounts } from "./request-counts.ts";

/** How many minutes back. */
const MINUTES = 60;
const MINUTE_MS = 60_000;

/** How often something happened in the last hour, minute by minute, oldest first; the last one is not over yet. */
export interface Rate {
  total: number;
  per_minute: number[];
}

// Ids begin with the moment they were made at: the last hour is a range of them.
const orders = statement((db, t, slot: Slots<{ from: string }>) => {
  const minute = sql`${t.orders.created_at} / 60000`.mapWith(Number);
  return db.select({ minute, many: count() }).from(t.orders).where(gte(t.orders.id, slot.from)).groupBy(minute);
});

const tries = statement((db, t, slot: Slots<{ from: string }>) => {
  const minute = sql`${t.deliveryAttempts.at} / 60000`.mapWith(Number);
  return db
    .select({ minute, many: count() })
    .from(t.deliveryAttempts)
    .where(gte(t.deliveryAttempts.id, slot.from))
    .groupBy(minute);
});

/** What happened in the last hour. */
export interface Rates {
  /** Requests answered, and how many of them failed on our side (5xx). */
  requests: Rate & { failed: number };
  orders: Rate;
  webhook_tries: Rate;
}

/** Requests answered, orders made, and webhooks sent, in the last hour. */
export async function recentRates(q: Read): Promise<Rates> {
  const from = firstUuidOf(q.now - MINUTES * MINUTE_MS);
  const counts = await requestCounts(q, firstMinute(q.now));
  const answered = counts.map(({ minute, requests }) => ({ minute, many: requests }));
  const failed = counts.reduce((sum, count) => sum + count.failed, 0);
  return {
    requests: { ...toRate(answered, q.now), failed },
    orders: toRate(await orders(q, { from }), q.now),
    webhook_tries: toRate(await tries(q, { from }), q.now),
  };
}

function firstMinute(now: number): number {
  return Math.floor(now / MINUTE_MS) - MINUTES + 1;
}

function toRate(rows: { minute: number; many: number }[], now: number): Rate {
  const first = firstMinute(now);
  const per_minute = Array.from({ length: MINUTES }, () => 0);
  for (const { minute, many } of rows) {
    if (minute >= first && minute < first + MINUTES) per_minute[minute - first] = many;
  }
  return { total: per_minute.reduce((sum, many) => sum + many, 0), per_minute };
}
