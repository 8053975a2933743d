import { newId } from "../kernel/ids.ts";
import type { Tx } from "./store.ts";
import { storeValue } from "./stored-value.ts";

/** The setting that is there while files of the database may still hold what was purged; its value is the purge's. */
export const ERASURE = "erasure_due";

/**
 * Notes that this transaction deleted or overwrote what must not stay in the database's files either: `Store.erase`
 * then removes it. In the same transaction, so that no crash loses it.
 */
export function noteErasure(tx: Tx): Promise<void> {
  return storeValue(tx, ERASURE, newId(tx));
}
