import type { Tx } from "../store/store.ts";
import { storeValue } from "../store/stored-value.ts";

/** Writes the smallest thing there is: that it succeeds shows that the database takes writes. */
export function writeHeartbeat(tx: Tx, _input: null): Promise<void> {
  return storeValue(tx, "heartbeat", String(tx.now));
}
