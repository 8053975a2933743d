import { count, gte, lt, sql } from "drizzle-orm";
import { firstUuidOf } from "../kernel/ids.ts";
import type { Lane } from "../store/schema/lanes.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";

/** Requests answered in one minute. */
export interface RequestCount {
  /** Minutes since 1970. */
  minute: number;
  requests: number;
  /** Those of them that failed on our side (5xx), without those that a pause refused. */
  failed: number;
}

/** Minutes that counts are kept: a day. */
export const KEPT_MINUTES = 24 * 60;
const MINUTE_MS = 60_000;

const add = statement((db, t, slot: Slots<RequestCount>) =>
  db
    .insert(t.requestCounts)
    .values({ minute: slot.minute, requests: slot.requests, failed: slot.failed })
    .onConflictDoUpdate({
      target: t.requestCounts.minute,
      set: {
        requests: sql`${t.requestCounts.requests} + excluded.requests`,
        failed: sql`${t.requestCounts.failed} + excluded.failed`,
      },
    }),
);

const drop = statement((db, t, slot: Slots<{ before: number }>) =>
  db.delete(t.requestCounts).where(lt(t.requestCounts.minute, slot.before)),
);

/** Adds what a daemon has counted to what it, or another on the same database, has written; drops what is a day old. */
export async function addRequestCounts(tx: Tx, counts: readonly RequestCount[]): Promise<void> {
  for (const count of counts) await add(tx, count);
  await drop(tx, { before: Math.floor(tx.now / MINUTE_MS) - KEPT_MINUTES });
}

addRequestCounts.lane = (): Lane => ({ kind: "requestCounts", key: "" });

const since = statement((db, t, slot: Slots<{ from: number }>) =>
  db.select().from(t.requestCounts).where(gte(t.requestCounts.minute, slot.from)).orderBy(t.requestCounts.minute),
);

/** The counts of each minute from `from` on in which there was any request. */
export function requestCounts(q: Read, from: number): Promise<RequestCount[]> {
  return since(q, { from });
}

/** How many minutes back. */
const MINUTES = 60;

/** How often something happened in the last hour, minute by minute, oldest first; the last one is not over yet. */
export interface Rate {
  total: number;
  per_minute: number[];
}

// Ids begin with the moment they were made at: the last hour is a range of them.
const orders = statement((db, t, slot: Slots<{ from: string }>) => {
  const minute = sql`(${t.orders.created_at} - ${t.orders.ahead_ms}) / 60000`.mapWith(Number);
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
  /** Requests answered, and how many of them failed on our side (5xx), without those that a pause refused. */
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
