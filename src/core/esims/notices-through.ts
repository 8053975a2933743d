import { eq, sql } from "drizzle-orm";
import type { Read, Tx } from "../store/store.ts";
import { storedValue, storeValue } from "../store/stored-value.ts";

/** The setting that says until when (ms) all notices that were due are written, by the system's time. */
const THROUGH = "esim_notices_through";

/** The value of the setting in SQL; null: no run was yet. */
export function noticesThroughOf(db: Read["db"], t: Read["t"]) {
  const value = sql<number>`cast(${t.settings.value} as bigint)`.as("notices_through");
  return sql<number | null>`(${db.select({ value }).from(t.settings).where(eq(t.settings.key, THROUGH))})`;
}

/** Until when (ms) all notices that were due are written; null: no run was yet. */
export async function noticesThrough(q: Read): Promise<number | null> {
  const value = await storedValue(q, THROUGH);
  return value === null ? null : Number(value);
}

/** Writes until when (ms) all notices that were due are written. */
export function writeNoticesThrough(tx: Tx, at: number): Promise<void> {
  return storeValue(tx, THROUGH, String(at));
}
