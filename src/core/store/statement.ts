import { createHash } from "node:crypto";
import { type Placeholder, type SQL, sql } from "drizzle-orm";
import { sqliteTables, type Tables } from "./schema/tables.ts";
import { executedDirectly } from "./sqlite-prepared.ts";
import type { Db, Prepared, Read } from "./store.ts";

/**
 * Named slots of a prepared statement, filled at each call. They are placeholders; drizzle takes those wherever it
 * takes SQL, but its types of `set()` leave them out, hence both.
 */
export type Slots<P> = { readonly [K in keyof P & string]: Placeholder<K> & SQL<P[K]> };

/** A statement as the builder of either engine makes it. */
export interface Preparable<R> {
  toSQL(): { sql: string };
  prepare(name: string): { execute(params: Record<string, unknown>): PromiseLike<R> };
}

/** The prepared form of what `make` builds, prepared once per connection and kept under `build`. */
export function prepareOn(q: Read, build: unknown, make: () => Preparable<unknown>): Prepared {
  const known = q.prepared.get(build);
  if (known !== undefined) return known;
  const made = make();
  // SQLite's statements have no names; building the text for one would double the work of preparing it.
  const fresh = made.prepare(q.t === sqliteTables ? "" : nameOf(made.toSQL().sql));
  const whole: Prepared = { execute: async (params) => fresh.execute(params) };
  const prepared = q.t === sqliteTables ? executedDirectly(fresh, whole) : whole;
  q.prepared.set(build, prepared);
  return prepared;
}

/**
 * The name of a prepared statement: the same text has the same name in every process, and another text another one, so
 * that sessions shared through a pooler of connections never mix statements. PostgreSQL compares the first 63
 * characters.
 */
function nameOf(text: string): string {
  return `s_${createHash("sha256").update(text).digest("hex").slice(0, 40)}`;
}

/**
 * A query written once, prepared once per connection, and run with `params`. `build` gets the query builder, the
 * tables, and the slots of the parameters.
 */
export function statement<P extends object, R>(build: (db: Db, t: Tables, slot: Slots<P>) => Preparable<R>) {
  const slots = new Proxy({}, { get: (_, key) => sql.placeholder(String(key)) });
  async function prepareFirst(q: Read, params: P): Promise<unknown> {
    // The proxy answers every key with its placeholder, which is what Slots<P> says.
    const prepared = prepareOn(q, build, () => build(q.db, q.t, slots as Slots<P>));
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
