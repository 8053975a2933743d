import { type Placeholder, type SQL, sql } from "drizzle-orm";
import type { Tables } from "./schema/tables.ts";
import type { Db, Prepared, Read } from "./store.ts";

/**
 * Named slots of a prepared statement, filled at each call. They are placeholders; drizzle takes those wherever it
 * takes SQL, but its types of `set()` leave them out, hence both.
 */
export type Slots<P> = { readonly [K in keyof P & string]: Placeholder<K> & SQL<P[K]> };

/** A statement as the builder of either engine makes it. */
export interface Preparable<R> {
  prepare(name: string): { execute(params: Record<string, unknown>): PromiseLike<R> };
}

let statements = 0;

/** The prepared form of what `make` builds, prepared once per connection and kept under `build`. */
export function prepareOn(q: Read, build: unknown, name: string, make: () => Preparable<unknown>): Prepared {
  const known = q.prepared.get(build);
  if (known !== undefined) return known;
  const fresh = make().prepare(name);
  const prepared: Prepared = { execute: async (params) => fresh.execute(params) };
  q.prepared.set(build, prepared);
  return prepared;
}

/**
 * A query written once, prepared once per connection, and run with `params`. `build` gets the query builder, the
 * tables, and the slots of the parameters.
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

/** The first row of a result, or null. */
export function first<T>(rows: T[]): T | null {
  return rows[0] ?? null;
}
