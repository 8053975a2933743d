import { type Placeholder, type SQL, sql } from "drizzle-orm";
import type { Row, TableName, Tables } from "./schema/tables.ts";
import type { Db, Prepared, Read, Tx } from "./store.ts";

/**
 * Named slots of a prepared statement, filled at each call. They are placeholders; drizzle takes those wherever it
 * takes SQL, but its types of `set()` leave them out, hence both.
 */
export type Slots<P> = { readonly [K in keyof P & string]: Placeholder<K> & SQL<P[K]> };

interface Preparable<R> {
  prepare(name: string): { execute(params: Record<string, unknown>): PromiseLike<R> };
}

let statements = 0;

/** A statement as a builder makes it, seen alike from either engine. */
function prepareOn(q: Read, build: unknown, name: string, make: () => Preparable<unknown>): Prepared {
  const known = q.prepared.get(build);
  if (known !== undefined) return known;
  const fresh = make().prepare(name);
  const prepared: Prepared = { execute: async (params) => fresh.execute(params) };
  q.prepared.set(build, prepared);
  return prepared;
}

/**
 * A query written once, prepared once per connection, and run with `params`. `build` gets the query builder, the
 * tables, and the slots that stand for the parameters.
 */
export function statement<P extends object, R>(build: (db: Db, t: Tables, slot: Slots<P>) => Preparable<R>) {
  const name = `s${++statements}`;
  const slots = new Proxy({}, { get: (_, key) => sql.placeholder(String(key)) });
  return async (q: Read, params: P): Promise<Awaited<R>> => {
    // The proxy answers every key with its placeholder, which is what Slots<P> says.
    const prepared = prepareOn(q, build, name, () => build(q.db, q.t, slots as Slots<P>));
    // `execute` yields what `build`'s statement yields; the map of prepared statements cannot say so.
    // Any plain object is a record of its own keys.
    return (await prepared.execute(params as Record<string, unknown>)) as Awaited<R>;
  };
}

/** What inserting into a table needs, the object itself being the key of its prepared statement. */
interface Insert {
  columns: string[];
}

const inserts = new Map<TableName, Insert>();

function insertInto(tx: Tx, table: TableName): Insert {
  const known = inserts.get(table);
  if (known !== undefined) return known;
  const columns = Object.keys(tx.t[table]).filter((key) => key !== "enableRLS" && key !== "getSQL");
  const fresh = { columns };
  inserts.set(table, fresh);
  return fresh;
}

/** A table's row to be inserted: columns that may be null can be left out. */
export type NewRow<N extends TableName> = Tables[N]["$inferInsert"];

/** Inserts one row, prepared; all columns are given or null, so no default of an engine is relied on. */
export async function insertRow<N extends TableName>(tx: Tx, table: N, row: NewRow<N>): Promise<void> {
  const insert = insertInto(tx, table);
  const prepared = prepareOn(tx, insert, `insert_${table}`, () => {
    const values = Object.fromEntries(insert.columns.map((column) => [column, sql.placeholder(column)]));
    // Every column of the table is present as a placeholder.
    return tx.db.insert(tx.t[table]).values(values as never) as unknown as Preparable<unknown>;
  });
  const given: Record<string, unknown> = { ...row };
  const whole: Record<string, unknown> = {};
  for (const column of insert.columns) whole[column] = given[column] ?? null;
  await prepared.execute(whole);
}

/** The first row of a result, or null. */
export function first<T>(rows: T[]): T | null {
  return rows[0] ?? null;
}

export type { Row };
