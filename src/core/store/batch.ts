import { together } from "../kernel/together.ts";
import type { NewRow, TableName } from "./schema/tables.ts";
import type { BatchContext, Read, Tx } from "./store.ts";

// What commands share that follow each other in one transaction. Core writes by `insert` (rows.ts), `putOff` and
// loaders (loader.ts), and does not ask whether there is a context: without one all is written and read at once.

/** A batch cannot be committed, as others have changed what it found, and is made again, each command by itself. */
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
export async function putOff<R>({ batch }: Tx, { kind, row, write }: PutOff<R>): Promise<void> {
  if (batch === null) return write([row]);
  // Under a kind there are only its own rows.
  const rows = (batch.writes.get(kind)?.rows ?? []) as R[];
  rows.push(row);
  batch.writes.set(kind, { rows, write: () => write(rows) });
  batch.count += 1;
}

/** Leaves rows of a table to the end of the batch, where it has a context; until then no statement finds them. */
export function insertLater<N extends TableName>(
  batch: BatchContext,
  tx: Tx,
  into: { table: N; rows: readonly NewRow<N>[] },
) {
  const { table } = into;
  // `insertLater` leaves rows of its table alone there.
  const rows = (batch.inserts.get(table)?.rows ?? []) as NewRow<N>[];
  rows.push(...into.rows);
  // Tables in the order of their first rows: what a row refers to is inserted before it.
  batch.inserts.set(table, { rows, write: () => tx.dialect.insertMany(tx, table, rows, false) });
  batch.count += 1;
}

/** Writes all that was put off so far, so that statements find it. Throws `RetryBatch`. */
export async function flush({ batch }: Pick<Read, "batch">): Promise<void> {
  if (batch === null) return;
  const sorted = [...batch.writes].sort(([one], [other]) => (one < other ? -1 : 1));
  const all = [...batch.inserts, ...sorted];
  batch.inserts.clear();
  batch.writes.clear();
  await together(...all.map(([, { write }]) => write()));
}
