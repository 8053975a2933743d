import { type SQL, sql } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import { type Environment, productionFirst } from "../kernel/environment.ts";
import type { Tables } from "../store/schema/tables.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

/** A key under which something waits for a worker. */
export interface DueKey {
  key: string;
  /** When (ms) the first of it is due. */
  due_at: number;
}

/** The columns that an index over what waits begins with, and the words of that index. */
interface Queue<K> {
  table(t: Tables): SQL;
  key: string;
  /** When (ms) something is due; left out: `due_at`. */
  due?: string;
  /** Must match the partial index predicate exactly; a condition on the columns before `key` may precede it. */
  waits(slot: Slots<K>): SQL;
}

/**
 * Makes a query for the keys under which something waits. It goes from one key to the next in the index and reads
 * nothing between them, so that the backlog of one key makes no difference.
 */
export function dueKeys<K extends object>({ table, key, due = "due_at", waits }: Queue<K>) {
  const column = sql.raw(key);
  const query = statement((db, t, slot: Slots<K>) => {
    const from = sql`from ${table(t)} where ${waits(slot)}`;
    return db.select({ key: sql<string>`found`, due_at: sql`due_at`.mapWith(Number) }).from(
      sql`(with recursive due_keys(found) as (
          select (select min(${column}) ${from})
          union all
          select (select min(${column}) ${from} and ${column} > due_keys.found)
          from due_keys where due_keys.found is not null
        )
        select found, (select min(${sql.raw(due)}) ${from} and ${column} = due_keys.found) as due_at
        from due_keys where found is not null) as waiting`,
    );
  });
  return (q: Read, input: K): Promise<DueKey[]> => query(q, input);
}

/** What of `rows` is due, and in how many ms the first of the others will be; null: there are no others. */
export function dueNow<T extends { due_at: number }>(q: Read, rows: T[]): { due: T[]; waitMs: number | null } {
  const later = rows.filter((row) => row.due_at > q.now).map((row) => row.due_at);
  const waitMs = later.length === 0 ? null : later.reduce((a, b) => Math.min(a, b)) - q.now;
  return { due: rows.filter((row) => row.due_at <= q.now), waitMs };
}

/** What waits for one partner in one environment. */
export interface PartnerQueue {
  environment: Environment;
  partnerId: PartnerId;
}

/** The queue as one text. */
export function queueName({ environment, partnerId }: PartnerQueue): string {
  return `${environment} ${partnerId}`;
}

/**
 * Makes a query for the partners for whom something waits in `table`, production first. It takes an index of the table
 * over environment, partner_id and due_at of what waits.
 */
export function partnerQueues(table: (t: Tables) => SQL) {
  const partners = dueKeys<{ environment: Environment }>({
    table,
    key: "partner_id",
    waits: (slot) => sql`environment = ${slot.environment} and due_at is not null`,
  });
  return async (q: Read): Promise<(PartnerQueue & { due_at: number })[]> => {
    const found: (PartnerQueue & { due_at: number })[] = [];
    for (const environment of productionFirst) {
      for (const { key, due_at } of await partners(q, { environment })) {
        // The keys of these queues are partners' ids.
        found.push({ environment, partnerId: key as PartnerId, due_at });
      }
    }
    return found;
  };
}
