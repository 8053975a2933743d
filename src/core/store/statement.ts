import { Column, is, type Placeholder, type SQL, sql } from "drizzle-orm";
import type { TableName, Tables } from "./schema/tables.ts";
import type { Db, Dialect, Preparable, Prepared, Read } from "./store.ts";

/**
 * Named slots of a prepared statement, filled at each call. They are placeholders; drizzle takes those wherever it
 * takes SQL, but its types of `set()` leave them out, hence both.
 */
export type Slots<P> = { readonly [K in keyof P & string]: Placeholder<K> & SQL<P[K]> };

/** The prepared form of what `make` builds, prepared once per connection and kept under `build`. */
function prepareOn(q: Read, build: unknown, make: () => Preparable<unknown>): Prepared {
  const known = q.prepared.get(build);
  if (known !== undefined) return known;
  const prepared = q.dialect.prepare(make());
  q.prepared.set(build, prepared);
  return prepared;
}

/** One object per shape of statement, since prepared statements are kept by the identity of what made them. */
const shapes = new Map<string, object>();

/** The prepared form of what `make` builds for every call of one shape: a text that says which tables and columns. */
export function preparedShape(q: Read, shape: string, make: () => unknown): Prepared {
  const known = shapes.get(shape) ?? {};
  shapes.set(shape, known);
  // Whichever engine's builder made it, it can be prepared; the shared types cannot say so for a table named by value.
  return prepareOn(q, known, () => make() as Preparable<unknown>);
}

/**
 * A query written once, prepared once per connection, and run with `params`. `build` gets the query builder, the
 * tables, the slots of the parameters, and what the engine says in words of its own.
 */
export function statement<P extends object, R>(
  build: (db: Db, t: Tables, slot: Slots<P>, dialect: Dialect) => Preparable<R>,
) {
  const slots = new Proxy({}, { get: (_, key) => sql.placeholder(String(key)) });
  async function prepareFirst(q: Read, params: P): Promise<unknown> {
    // The proxy answers every key with its placeholder, which is what Slots<P> says.
    const prepared = prepareOn(q, build, () => build(q.db, q.t, slots as Slots<P>, q.dialect));
    return prepared.execute(valuesOf(params));
  }

  return (q: Read, params: P): Promise<Awaited<R>> => {
    const answer = q.prepared.get(build)?.execute(valuesOf(params)) ?? prepareFirst(q, params);
    // `execute` yields what `build`'s statement yields; the map of prepared statements cannot say so.
    return answer as Promise<Awaited<R>>;
  };
}

/** Any plain object is a record of its own keys. */
function valuesOf(params: object): Record<string, unknown> {
  return params as Record<string, unknown>;
}

/** The first row of a result, or null. */
export function first<T>(rows: T[]): T | null {
  return rows[0] ?? null;
}

// Many values as one parameter of a prepared statement: a JSON array, whose elements are rows of `Dialect.listed`.

/** Many texts as one parameter, for `isListed`. */
export function listOf(texts: readonly string[]): string {
  return JSON.stringify(texts.map((text) => [text]));
}

/** Whether a column is one of the texts of a `listOf`: a prepared statement takes lists of every length. */
export function isListed(dialect: Dialect, column: Column, json: SQL): SQL {
  return dialect.among(column, sql`select ${textAt(0)} from ${dialect.listed(json)}`);
}

/** Cell `at` of a listed element that is a list, as a text. */
export function textAt<T = string>(at: number): SQL<T> {
  return sql<T>`listed.value ->> ${sql.raw(String(at))}`;
}

/** The same, as a number. */
export function numberAt(at: number): SQL<number> {
  return sql<number>`cast(${textAt(at)} as bigint)`;
}

/** A column of a table, by its name in the code. */
export interface NamedColumn {
  name: string;
  column: Column;
}

const known = new Map<unknown, NamedColumn[]>();

/** All columns of a table, in their order. */
export function columnsOf({ t }: Pick<Read, "t">, table: TableName): NamedColumn[] {
  const columns = known.get(t[table]) ?? namedColumns({ t }, table, Object.keys(t[table]));
  known.set(t[table], columns);
  return columns;
}

/** Those columns of a table that are among these names. */
export function namedColumns({ t }: Pick<Read, "t">, table: TableName, names: readonly string[]): NamedColumn[] {
  return names.flatMap((name) => {
    const column: unknown = Reflect.get(t[table], name);
    return is(column, Column) ? [{ name, column }] : [];
  });
}

/** Cell `at` of an element of `cellsOf`, with the type of its column. */
export function elementCell(column: Column, at: number): SQL {
  return column.getSQLType().startsWith("text") ? textAt(at) : numberAt(at);
}

/** The cells of rows as one parameter for `Dialect.listed`. */
export function cellsOf(columns: readonly NamedColumn[], rows: readonly object[]): string {
  const cells = rows.map((row) =>
    columns.map(({ name, column }) => {
      const value: unknown = Reflect.get(row, name);
      return value === undefined || value === null ? null : column.mapToDriverValue(value);
    }),
  );
  return JSON.stringify(cells);
}
