import { and, eq, gte, isNotNull, lte, type SQL, sql } from "drizzle-orm";
import type { Row, Tables } from "../store/schema/tables.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Preparable, Read, Tx } from "../store/store.ts";
import { CLOCKS_APART_MS } from "./clock-difference.ts";

/** The tables whose rows workers claim. */
export type LeasedTable =
  | "orders"
  | "orderItems"
  | "activations"
  | "deliveries"
  | "alertTargets"
  | "invitations"
  | "topups"
  | "travelerMails";

/**
 * One claim of one row. `no` is the fencing number: each claim raises it, so that a worker that was away while another
 * one claimed the row finds a newer number and writes nothing.
 */
export interface Lease<N extends LeasedTable> {
  id: Row<N>["id"];
  no: number;
  /** When it ends (ms), unless it is prolonged. */
  until: number;
}

/** Which rows a claim takes, by the slots of `K`; that they are due is added to it. */
type Part<K> = (t: Tables, slot: Slots<K>) => SQL | undefined;

type Claim = { now: number; until: number; limit: number };
type Held = { id: string; no: number };

/** Claims up to `limit` rows of a part of the table, of each of which it answers the columns `C`. */
export type Claimer<N extends LeasedTable, K, C extends keyof Row<N> = keyof Row<N>> = (
  tx: Tx,
  input: K & { limit: number },
) => Promise<Pick<Row<N>, C>[]>;

/** The leases of one table. */
export interface Leases<N extends LeasedTable> {
  /**
   * Makes a claim: leases what is due of `part`, longest due first, and answers the rows as leased, or these columns of
   * them. A leased row is due again when its lease ends, so that the work of a worker that died is taken over.
   */
  claimer<K extends object>(part: Part<K>): Claimer<N, K>;
  claimer<K extends object, C extends keyof Row<N>>(part: Part<K>, columns: readonly C[]): Claimer<N, K, C>;
  /** Until when (ms) the lease is held; null: it was lost, given up, or ended with its work. */
  heldUntil(q: Read, lease: Lease<N>): Promise<number | null>;
  /** Lets the lease run for its whole time again; false: it was lost. */
  prolong(tx: Tx, lease: Lease<N>): Promise<boolean>;
  /** Gives the lease up: the row is due at `dueAt` (ms). Does nothing when it was lost or has ended with its work. */
  release(tx: Tx, input: { lease: Lease<N>; dueAt: number }): Promise<void>;
}

/** The lease of a row that a claim answered. */
export function leaseOn<N extends LeasedTable>(row: {
  id: Row<N>["id"];
  lease_no: number;
  leased_until: number | null;
}): Lease<N> {
  return { id: row.id, no: row.lease_no, until: row.leased_until ?? 0 };
}

/**
 * Whether the holder of a lease may still send what it is for: a node that was suspended, or waited too long for a
 * connection, may not, since another node may have it by now. By that one's clock the lease may end earlier.
 */
export function maySend(lease: { until: number }, now: number): boolean {
  return now < lease.until - CLOCKS_APART_MS;
}

/**
 * Whether an outcome counts that came under lease number `no` (undefined: by a callback or the operator, who hold
 * none). Once another worker has claimed the row, no outcome of the former holder does: its faults would be counted
 * twice, its `accepted` would stop the new holder's exchange, and even a definite result adds nothing, since the new
 * holder asks under the same idempotency reference and gets the same result. It stays on record as an attempt. A fault
 * counts only while the lease is held: after a callback or a decision of the operator there is nothing to repeat.
 */
export function outcomeCounts(
  row: { lease_no: number; leased_until: number | null },
  no: number | undefined,
  isFault: boolean,
): boolean {
  if (no === undefined) return true;
  return row.lease_no === no && !(isFault && row.leased_until === null);
}

// The tables have these columns alike; the type of one is used for all.
const leased = (t: Tables, name: LeasedTable) => t[name] as Tables["orders"];

/** Makes a query: whether a row has been due for `forMs`. Asked first, so that nothing is written while none waits. */
export function hasDueIn(name: LeasedTable): (q: Read, input: { forMs: number }) => Promise<boolean> {
  const due = statement((db, t, slot: Slots<{ before: number }>) =>
    db
      .select({ id: leased(t, name).id })
      .from(leased(t, name))
      .where(lte(leased(t, name).due_at, slot.before))
      .limit(1),
  );
  return async (q, { forMs }) => (await due(q, { before: q.now - forMs })).length > 0;
}

/** The leases of the table `name`, each for `forMs`. */
export function leasesOf<N extends LeasedTable>(name: N, forMs: number): Leases<N> {
  const isHeld = (t: Tables, slot: Slots<Held>) =>
    and(
      sql`${leased(t, name).id} = ${slot.id}`,
      eq(leased(t, name).lease_no, slot.no),
      isNotNull(leased(t, name).leased_until),
    );

  const read = statement((db, t, slot: Slots<Held>) =>
    db
      .select({ until: leased(t, name).leased_until })
      .from(leased(t, name))
      .where(isHeld(t, slot)),
  );
  const write = statement((db, t, slot: Slots<Held & { until: number | null; due_at: number }>) =>
    db
      .update(leased(t, name))
      .set({ leased_until: slot.until, due_at: slot.due_at })
      .where(isHeld(t, slot))
      .returning({ id: leased(t, name).id }),
  );

  return {
    claimer: <K extends object>(part: Part<K>, columns?: readonly (keyof Row<N>)[]) =>
      claimer(name, forMs, { part, columns }),
    heldUntil: async (q, lease) => first(await read(q, lease))?.until ?? null,
    async prolong(tx, lease) {
      const until = tx.now + forMs;
      return (await write(tx, { ...lease, until, due_at: until })).length > 0;
    },
    async release(tx, { lease, dueAt }) {
      await write(tx, { ...lease, until: null, due_at: dueAt });
    },
  };
}

interface Claiming<N extends LeasedTable, K> {
  part: Part<K>;
  /** Left out: all of them. */
  columns: readonly (keyof Row<N>)[] | undefined;
}

function claimer<N extends LeasedTable, K extends object>(
  name: N,
  forMs: number,
  { part, columns }: Claiming<N, K>,
): Claimer<N, K> {
  const claim = statement((db, t, given: Slots<K & Claim>, dialect) => {
    const table = leased(t, name);
    // Slots answer every name: those of the part and those of the claim.
    const slot = given as unknown as Slots<K> & Slots<Claim>;
    const { until } = slot;
    const chosen = db
      .select({ id: table.id })
      .from(table)
      .where(and(part(t, slot), lte(table.due_at, slot.now)))
      .orderBy(table.due_at, table.id)
      .limit(slot.limit);
    const claimed = db
      .update(table)
      .set({ leased_until: until, due_at: until, lease_no: sql`${table.lease_no} + 1` })
      .where(dialect.among(table.id, chosen));
    const some = columns && Object.fromEntries(columns.map((column) => [column, Reflect.get(table, column)]));
    const returning: unknown = some === undefined ? claimed.returning() : claimed.returning(some);
    // The rows have these columns; the id is always among them.
    return returning as Preparable<{ id: string }[]>;
  });
  return async (tx, input) => {
    const rows = await claim(tx, { ...input, now: tx.now, until: tx.now + forMs });
    // RETURNING has no order; ids begin with the moment they were made at. The rows are of the table that `name` names.
    return rows.sort((a, b) => (a.id < b.id ? -1 : 1)) as unknown as Row<N>[];
  };
}

/** Gives all leases of a table up. Only what is due is ever leased: an index leads there, however large the table. */
function freeAll(name: LeasedTable) {
  return statement((db, t, slot: Slots<{ now: number }>) =>
    db
      .update(leased(t, name))
      .set({ leased_until: null, due_at: slot.now })
      .where(and(gte(leased(t, name).due_at, 0), isNotNull(leased(t, name).leased_until))),
  );
}

const all = [freeAll("orders"), freeAll("orderItems"), freeAll("activations"), freeAll("topups")];

/**
 * Gives up the leases of orders, their items, activations and top-ups. Only for a daemon that has the database to
 * itself: what a killed predecessor held is then due at once, and not when its leases end. Deliveries keep theirs: half
 * a minute at the most.
 */
export async function releaseLeases(tx: Tx, _input: null): Promise<void> {
  for (const free of all) await free(tx, { now: tx.now });
}
