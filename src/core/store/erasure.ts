import { newId } from "../kernel/ids.ts";
import type { Tx } from "./store.ts";

/** The setting that is there while files of the database may still hold what was purged; its value is the purge's. */
export const ERASURE = "erasure_due";

/**
 * Notes that this transaction deleted or overwrote what must not stay in the database's files either: `Store.erase`
 * then removes it. In the same transaction, so that no crash loses it.
 */
export async function noteErasure(tx: Tx): Promise<void> {
  const value = newId(tx);
  await tx.db
    .insert(tx.t.settings)
    .values({ key: ERASURE, value })
    .onConflictDoUpdate({ target: tx.t.settings.key, set: { value } });
}
