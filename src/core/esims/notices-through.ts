import { eq, sql } from "drizzle-orm";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";

/** The setting that says until when (ms) all notices that were due are written, by the system's time. */
const THROUGH = "esim_notices_through";

/** The value of the setting in SQL; null: no run was yet. */
export function noticesThroughOf(db: Read["db"], t: Read["t"]) {
  const value = sql<number>`cast(${t.settings.value} as bigint)`.as("notices_through");
  return sql<number | null>`(${db.select({ value }).from(t.settings).where(eq(t.settings.key, THROUGH))})`;
}

const through = statement((db, t, _slot) =>
  db.select({ value: t.settings.value }).from(t.settings).where(eq(t.settings.key, THROUGH)),
);

const write = statement((db, t, slot: Slots<{ value: string }>) =>
  db
    .insert(t.settings)
    .values({ key: THROUGH, value: slot.value })
    .onConflictDoUpdate({ target: t.settings.key, set: { value: sql`excluded.value` } }),
);

/** Until when (ms) all notices that were due are written; null: no run was yet. */
export async function noticesThrough(q: Read): Promise<number | null> {
  const value = first(await through(q, {}))?.value;
  return value === undefined ? null : Number(value);
}

/** Writes until when (ms) all notices that were due are written. */
export async function writeNoticesThrough(tx: Tx, at: number): Promise<void> {
  await write(tx, { value: String(at) });
}
