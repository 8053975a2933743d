import { gte, lt, sql } from "drizzle-orm";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";

/** Requests answered in one minute. */
export interface RequestCount {
  /** Minutes since 1970. */
  minute: number;
  requests: number;
  /** Those of them that failed on our side (5xx). */
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

const since = statement((db, t, slot: Slots<{ from: number }>) =>
  db.select().from(t.requestCounts).where(gte(t.requestCounts.minute, slot.from)).orderBy(t.requestCounts.minute),
);

/** The counts of each minute from `from` on in which there was any request. */
export function requestCounts(q: Read, from: number): Promise<RequestCount[]> {
  return since(q, { from });
}
