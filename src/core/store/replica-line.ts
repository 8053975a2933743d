import type { Tx } from "./store.ts";
import { storedValue, storeValue } from "./stored-value.ts";

/** The setting by which a replica shows whose commits it follows. */
export const LINE_KEY = "replica_line";

/** Whether a line was made on the timeline of the server that takes writes. */
export function isOnTimeline(line: string | null, timeline: string): boolean {
  return line?.startsWith(`${timeline} `) === true;
}

/**
 * Makes a new line where the present one is of another timeline, as after a failover: a replica that shows it has
 * followed the server that takes writes now, and not the one that did before.
 */
export async function markLine(tx: Tx, timeline: string): Promise<void> {
  if (isOnTimeline(await storedValue(tx, LINE_KEY), timeline)) return;
  await storeValue(tx, LINE_KEY, `${timeline} ${tx.ids.uuid(tx.now)}`);
}
