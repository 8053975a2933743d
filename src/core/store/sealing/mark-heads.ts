import { first, statement } from "../statement.ts";
import type { Read, Tx } from "../store.ts";
import { storedValue, storeValue } from "../stored-value.ts";
import { allHeads, writeMark } from "./chain.ts";

/** The setting that is there while they are not. */
const UNMARKED = "chain_heads";

const anySignature = statement((db, t, _slot) =>
  db.select({ chain: t.signedHeads.chain }).from(t.signedHeads).limit(1),
);

/** Whether a migration has just chained rows, without the keys that mark their heads. */
export async function headsAreUnmarked(q: Read): Promise<boolean> {
  return (await storedValue(q, UNMARKED)) !== null;
}

/** Marks the heads that a migration made. Never once a head was signed: then marks are missing for another reason. */
export async function markHeads(tx: Tx, _input: null): Promise<void> {
  await storeValue(tx, UNMARKED, null);
  if (first(await anySignature(tx, {})) !== null) return;
  for (const head of await allHeads(tx)) if (head.count > 0) await writeMark(tx, head);
}
