import { type Placeholder, type SQL, sql } from "drizzle-orm";
import type { Tables } from "./schema/tables.ts";
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
