import { together } from "../kernel/together.ts";
import { insertRow, insertRows, type NewRow } from "./rows.ts";
import type { TableName } from "./schema/tables.ts";
import type { Read, RunMemory, Tx } from "./store.ts";

/** What a run put off and cannot write any more: others have changed what it found. Its batch has to be made again. */
export class StaleRunError extends Error {
  constructor(what: string) {
    super(`others have changed what a run of commands had found: ${what}`);
    this.name = "StaleRunError";
  }
}

/** The memory of a run that begins. */
export function runMemory(): RunMemory {
  return { found: new Map(), due: new Map(), together: new Map(), rows: new Map(), count: 0 };
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

/** Whether the run knows what is under a key, as it found it or has changed it since. */
export function isRemembered({ memory }: Read, key: string): boolean {
  return memory?.found.has(key) === true;
}

/** Writes at the end of the run, unless a later command writes the same; without a run at once. */
export async function writeLast(tx: Tx, key: string, write: () => Promise<void>): Promise<void> {
  const { memory } = tx;
  if (memory === undefined || memory === null) return write();
  memory.due.set(key, write);
  memory.count += 1;
}

/** How rows of a kind are written, by one statement for all of them. */
interface WrittenTogether<R> {
  kind: string;
  /** The key of the row: a later one replaces an earlier one. */
  key: string;
  write: (rows: readonly R[]) => Promise<void>;
}

/** Writes a row at the end of the run, by one statement with all of its kind; without a run at once. */
export async function writeLastTogether<R>(tx: Tx, row: R, { kind, key, write }: WrittenTogether<R>): Promise<void> {
  const { memory } = tx;
  if (memory === undefined || memory === null) return write([row]);
  // Under a kind there are only its own rows.
  const rows = (memory.together.get(kind) ?? new Map()) as Map<string, R>;
  memory.together.set(kind, rows.set(key, row));
  await writeLast(tx, kind, () => write([...rows.values()]));
}

/** Whether rows that commands of the run insert by `insertLast` are there only at its end. */
export function gathersRows({ memory }: Read): boolean {
  return Boolean(memory);
}

/**
 * Inserts a row as `insertRow` does, or with those of the other commands of the run at its end, where the engine takes
 * many rows sooner than many statements. Until then no statement finds it.
 */
export function insertLast<N extends TableName>(tx: Tx, table: N, row: NewRow<N>): Promise<void> {
  const { memory } = tx;
  if (!memory) return insertRow(tx, table, row);
  const gathered = memory.rows.get(table);
  if (gathered !== undefined) gathered.rows.push(row);
  else {
    const rows = [row];
    // Tables in the order of their first rows: what a row refers to is inserted before it.
    memory.rows.set(table, { rows, insert: () => insertRows(tx, table, rows) });
  }
  memory.count += 1;
  return Promise.resolve();
}

/** Rows that commands of the run have inserted by `insertLast`, and that are not written yet. */
export function gatheredRows<N extends TableName>({ memory }: Read, table: N): readonly NewRow<N>[] {
  // `insertLast` takes rows of its table alone.
  return (memory?.rows.get(table)?.rows ?? []) as NewRow<N>[];
}

/** Makes the writes that were put off, so that statements find their rows. */
export async function writeGathered({ memory }: Read): Promise<void> {
  if (memory) await writeDue(memory);
}

/** Makes the writes that were put off. Throws `StaleRunError`. */
export async function writeDue({ rows, due, together: kinds }: RunMemory): Promise<void> {
  const inserts = [...rows.values()].map(({ insert }) => insert);
  // Those that wait for other transactions do so in one order, whatever the run; and late, as others wait for them.
  const sorted = [...due].sort(([one], [other]) => (one < other ? -1 : 1));
  due.clear();
  kinds.clear();
  rows.clear();
  await together(...[...inserts, ...sorted.map(([, write]) => write)].map((write) => write()));
}
