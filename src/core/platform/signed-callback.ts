import { eq, lte } from "drizzle-orm";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";

/** The signature of a callback, which was checked before. */
export interface SignedCallback {
  /** Lower-case hex. */
  signature: string;
  /** The whole second that it was signed in (unix seconds). */
  timestamp: number;
  /** How far that may be from our clock (seconds). */
  tolerance: number;
}

const known = statement((db, t, slot: Slots<{ signature: string }>) =>
  db
    .select({ signature: t.callbackSignatures.signature })
    .from(t.callbackSignatures)
    .where(eq(t.callbackSignatures.signature, slot.signature)),
);

const remember = statement((db, t, slot: Slots<{ signature: string; expires_at: number }>) =>
  db.insert(t.callbackSignatures).values({ signature: slot.signature, expires_at: slot.expires_at }),
);

const forget = statement((db, t, slot: Slots<{ now: number }>) =>
  db.delete(t.callbackSignatures).where(lte(t.callbackSignatures.expires_at, slot.now)),
);

/**
 * Applies a callback unless one with the same signature was applied before: a replay changes nothing. The signature is
 * remembered, in the same transaction, until its time is refused anyway; one that fails may come again.
 */
export async function applyOnce(
  tx: Tx,
  { signature, timestamp, tolerance }: SignedCallback,
  apply: () => Promise<{ applied: boolean }>,
): Promise<{ applied: boolean }> {
  await forget(tx, { now: tx.now });
  if ((await known(tx, { signature })).length > 0) return { applied: false };
  await remember(tx, { signature, expires_at: (timestamp + tolerance + 1) * 1000 });
  return apply();
}

/** When a callback's event happened (ms): at the end of the second that it was signed in, never later than now. */
export function eventTime({ now }: Pick<Read, "now">, { timestamp }: SignedCallback): number {
  return Math.min(now, timestamp * 1000 + 999);
}
