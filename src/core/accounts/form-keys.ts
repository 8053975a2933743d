import { lte } from "drizzle-orm";
import type { UserId } from "../kernel/brand.ts";
import { invalid } from "../kernel/problem.ts";
import { findByKey, insert } from "../store/rows.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";

/** Keys are kept for so long (ms): no page stays open for longer than a session. */
const KEPT_MS = 8 * 24 * 60 * 60 * 1000;

const forget = statement((db, t, slot: Slots<{ oldest: number }>) =>
  db.delete(t.formKeys).where(lte(t.formKeys.used_at, slot.oldest)),
);

/**
 * Whether a form is sent for the first time, in the transaction of what it does: a refusal leaves the key free. Throws
 * `validation` for a key that no form has.
 */
export async function firstTime(tx: Tx, { key, userId }: { key: string; userId: UserId }): Promise<boolean> {
  if (!/^[\w-]{16,64}$/.test(key)) throw invalid({ key: ["is missing: load the page again"] });
  const id = `${userId} ${key}`;
  if ((await findByKey(tx, "formKeys", { id })) !== null) return false;
  await forget(tx, { oldest: tx.now - KEPT_MS });
  await insert(tx, "formKeys", [{ id, used_at: tx.now }]);
  return true;
}
