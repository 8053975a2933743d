import { eq, sql } from "drizzle-orm";
import { newId } from "../kernel/ids.ts";
import { first, type Slots, statement } from "./statement.ts";
import type { Read, Tx } from "./store.ts";

const byKey = statement((db, t, slot: Slots<{ key: string }>) =>
  db.select({ value: t.settings.value }).from(t.settings).where(eq(t.settings.key, slot.key)),
);

const put = statement((db, t, slot: Slots<{ key: string; value: string }>) =>
  db
    .insert(t.settings)
    .values({ key: slot.key, value: slot.value })
    .onConflictDoUpdate({ target: t.settings.key, set: { value: sql`excluded.value` } }),
);

const drop = statement((db, t, slot: Slots<{ key: string }>) =>
  db.delete(t.settings).where(eq(t.settings.key, slot.key)),
);

/** The value under a key of the table `settings`, or null. */
export async function storedValue(q: Read, key: string): Promise<string | null> {
  return first(await byKey(q, { key }))?.value ?? null;
}

/** Writes the value under a key, over the one that is there; null deletes it. */
export async function storeValue(tx: Tx, key: string, value: string | null): Promise<void> {
  if (value === null) await drop(tx, { key });
  else await put(tx, { key, value });
}

/** The setting that is there while files of the database may still hold what was purged; its value is the purge's. */
export const ERASURE = "erasure_due";

/**
 * Notes that this transaction deleted or overwrote what must not stay in the database's files either: `Store.erase`
 * then removes it. In the same transaction, so that no crash loses it.
 */
export function noteErasure(tx: Tx): Promise<void> {
  return storeValue(tx, ERASURE, newId(tx));
}
