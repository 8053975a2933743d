import type { Read, RunMemory, Tx } from "./store.ts";

/** The memory of a run that begins. */
export function runMemory(): RunMemory {
  return { found: new Map(), due: new Map(), count: 0 };
}

/** What `find` answers, asked once in a run. What it answers must not be changed by commands that remember. */
export async function remembered<T>(q: Read, key: string, find: () => Promise<T>): Promise<T> {
  const { memory } = q;
  if (memory === undefined || memory === null) return find();
  // Under a key there are only answers of its own `find`.
  const known = memory.found.get(key) as T | undefined;
  if (known !== undefined) return known;
  const found = await find();
  // What is missing is asked for again.
  if (found !== null) memory.found.set(key, found);
  return found;
}

/** Replaces what the rest of the run finds under a key, as this command has changed it. */
export function remember(tx: Tx, key: string, found: unknown): void {
  tx.memory?.found.set(key, found);
}

/** Writes at the end of the run, unless a later command writes the same; without a run at once. */
export async function writeLast(tx: Tx, key: string, write: () => Promise<void>): Promise<void> {
  const { memory } = tx;
  if (memory === undefined || memory === null) return write();
  memory.due.set(key, write);
  memory.count += 1;
}

/** Makes the writes that were put off. */
export async function writeDue({ due }: RunMemory): Promise<void> {
  for (const write of due.values()) await write();
  due.clear();
}
