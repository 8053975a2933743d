import { together } from "../kernel/together.ts";
import type { NewRow, TableName } from "./schema/tables.ts";
import type { BatchContext, Prefetch, Read, Tx } from "./store.ts";

// What commands share that follow each other in one transaction. Core writes by `insert` (rows.ts), `putOff` and
// loaders, and does not ask whether there is a context: without one all is written and read at once.

/**
 * A batch cannot be committed, as others have changed what it found, and is made again: each command behind a
 * savepoint, or each slot by itself.
 */
export class RetryBatch extends Error {
  constructor(reason: string) {
    super(`a batch is made again: ${reason}`);
    this.name = "RetryBatch";
  }
}

/** The context of commands that begin. */
export function batchContext(): BatchContext {
  return { loaded: new Map(), inserts: new Map(), writes: new Map(), count: 0 };
}

/** How a row is written at the end of a batch: by one statement for all rows of its kind. */
interface PutOff<R> {
  /** Kinds are written in the order of their names, as every batch locks what it writes in one order. */
  kind: string;
  row: R;
  /** Gets the rows in their order. Throws `RetryBatch` where others have changed what they rest on. */
  write: (rows: readonly R[]) => Promise<void>;
}

/** Writes a row at the end of the batch, after what is inserted; without a context at once. */
export async function putOff<R>({ context }: Tx, { kind, row, write }: PutOff<R>): Promise<void> {
  if (context === null) return write([row]);
  // Under a kind there are only its own rows.
  const rows = (context.writes.get(kind)?.rows ?? []) as R[];
  rows.push(row);
  context.writes.set(kind, { rows, write: () => write(rows) });
  context.count += 1;
}

/** Leaves rows of a table to the end of the batch, where it has a context; until then no statement finds them. */
export function insertLater<N extends TableName>(
  context: BatchContext,
  tx: Tx,
  into: { table: N; rows: readonly NewRow<N>[] },
) {
  const { table } = into;
  // Under a table there are only its own rows.
  const rows = (context.inserts.get(table)?.rows ?? []) as NewRow<N>[];
  rows.push(...into.rows);
  // Tables in the order of their first rows: what a row refers to is inserted before it.
  context.inserts.set(table, { rows, write: () => tx.dialect.insertMany(tx, table, rows, false) });
  context.count += 1;
}

/** Writes all that was put off so far, so that statements find it. Throws `RetryBatch`. */
export async function flush({ context }: Pick<Read, "context">): Promise<void> {
  if (context === null) return;
  const sorted = [...context.writes].sort(([one], [other]) => (one < other ? -1 : 1));
  const all = [...context.inserts, ...sorted];
  context.inserts.clear();
  context.writes.clear();
  await together(...all.map(([, { write }]) => write()));
}

/** What commands look up by a key: within a batch once, and for many of its commands together. */
export interface Loader<K, V> {
  /** What the batch knows, or what is stored. */
  get(q: Read, key: K): Promise<V>;
  /** Replaces what the rest of the batch finds, as this command has changed it. */
  set(q: Read, key: K, value: V): void;
  /** The same, by what the batch knows, if it does. */
  change(q: Read, key: K, change: (known: V) => V): void;
  /** Makes a command's `prefetch` of the keys that each of its inputs will ask for. */
  prefetch<I>(keysOf: (input: I) => readonly K[]): Prefetch<I>;
}

interface Loading<K, V> {
  /** A key as one text; left out: it is one. */
  name?: (key: K) => string;
  /** Loads the values of keys, in their order, by one statement. */
  loadMany(q: Read, keys: readonly K[]): Promise<readonly V[]>;
  /** Loads one outside of a batch, where it may be locked, too; left out: by `loadMany`. */
  loadOne?(q: Read, key: K): Promise<V>;
}

/** A loader that keeps what it finds in the context of a batch, and nothing where there is none. */
export function loader<K, V>({ name = String, loadMany, loadOne }: Loading<K, V>): Loader<K, V> {
  const own = {};
  function knownIn({ context }: Read): Map<string, V> | null {
    if (context === null) return null;
    // Under a loader there are only values of its own.
    const known = (context.loaded.get(own) ?? new Map()) as Map<string, V>;
    context.loaded.set(own, known);
    return known;
  }

  async function loadEach(q: Read, keys: readonly K[]): Promise<void> {
    const known = knownIn(q);
    const missing = new Map(keys.map((key) => [name(key), key]));
    for (const key of missing.keys()) if (known?.has(key)) missing.delete(key);
    if (known === null || missing.size === 0) return;
    const values = await loadMany(q, [...missing.values()]);
    for (const [at, key] of [...missing.keys()].entries()) known.set(key, values[at] as V);
  }

  return {
    async get(q, key) {
      const known = knownIn(q);
      if (known?.has(name(key))) return known.get(name(key)) as V;
      const [value] = loadOne === undefined ? await loadMany(q, [key]) : [await loadOne(q, key)];
      known?.set(name(key), value as V);
      return value as V;
    },
    set: (q, key, value) => void knownIn(q)?.set(name(key), value),
    change(q, key, change) {
      const known = knownIn(q);
      if (known?.has(name(key))) known.set(name(key), change(known.get(name(key)) as V));
    },
    prefetch: (keysOf) => (tx, inputs) => loadEach(tx, inputs.flatMap(keysOf)),
  };
}
