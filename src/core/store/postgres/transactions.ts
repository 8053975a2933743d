import type pg from "pg";
import type { Permits } from "../../kernel/permits.ts";
import type { Connection } from "../engine.ts";
import { faultOf } from "./faults.ts";
import type { Pool } from "./pool.ts";
import type { Sending } from "./sending.ts";
import { WRITE_LOCK } from "./session.ts";

/** A connection of the pool, with what the store keeps for it. */
export interface Lent {
  client: pg.PoolClient;
  sending: Sending;
  connection: Connection;
}

interface Connections {
  pool: Pool;
  lent(client: pg.PoolClient): Lent;
}

/** The transactions of a writer, one after the other. */
export interface Transactions {
  /** `slots`: whose writes are kept out, in ascending order; those that are alone keep out all. */
  begin(slots: readonly number[]): Promise<void>;
  /** For how long (ms) transactions are begun again that do not get their locks. */
  readonly lockWaitsMs: number;
  /** The one that is open. */
  current(): Lent;
  /** How long its statements wait for rows from here on (ms); null: as at its start. */
  waitForRows(ms: number | null): void;
  /** Throws the first failure of any statement: after it nothing is committed. */
  commit(): Promise<void>;
  /** Never throws. */
  rollback(): Promise<void>;
  /** What `Writer.fault` answers. */
  fault(error: unknown): unknown;
}

/**
 * How long (ms) a transaction waits for a lock before it is begun again. A process that is suspended does not begin
 * again: so none of its sessions gets a lock later than this, by which all others would wait for that one too.
 */
const LOCK_WAIT_MS = 2_000;

const waitingFor = (ms: number) => `set_config('lock_timeout', '${ms}', true)`;

/** All writes alone: one transaction at a time, on any number of nodes. */
const aloneFor = (waitMs: number) => `SELECT ${waitingFor(waitMs)}, pg_advisory_xact_lock(${WRITE_LOCK})`;

/** The same for each slot of a batch after its first: with all of them a batch waits little longer than with one. */
const NEXT_SLOT_WAIT_MS = 120;

/**
 * First the slots', in one order on all nodes, so that no two batches wait for each other: who waits for them does not
 * keep those away who want to be alone. A plan that was made while a table was small, and kept, is to take its index
 * also then: what lanes ask for is in memory, and never a whole table.
 */
function startOf(slots: readonly number[], waitMs: number): string {
  const [first, ...more] = slots.map((slot) => `pg_advisory_xact_lock(${WRITE_LOCK}, ${slot})`);
  const next = more.length > 0 ? [waitingFor(NEXT_SLOT_WAIT_MS), ...more, waitingFor(waitMs)] : [];
  const all = `pg_advisory_xact_lock_shared(${WRITE_LOCK})`;
  return `SELECT ${[waitingFor(waitMs), first, ...next, all].join(", ")}, set_config('random_page_cost', '0.1', true)`;
}

async function commitOn({ client, sending }: Lent): Promise<void> {
  const committed = client.query("COMMIT");
  committed.catch(() => undefined);
  await sending.settle();
  // PostgreSQL ends a failed transaction by a rollback, and reports no error.
  if ((await committed).command !== "COMMIT") throw new Error("the transaction was rolled back, not committed");
  client.release();
}

/**
 * Transactions with those of the same slots kept out, each of which takes one of `permits`; null: with all other writes
 * kept out.
 */
export function transactionsOf({ pool, lent }: Connections, permits: Permits | null): Transactions {
  const waitMs = Math.min(LOCK_WAIT_MS, pool.lockTimeoutMs);
  let open: Lent | null = null;
  let giveBack = () => {};
  let rowWait: number | null = null;

  function current(): Lent {
    if (open === null) throw new Error("no transaction is open");
    return open;
  }

  function end({ sending }: Lent): void {
    sending.close();
    open = null;
    giveBack();
  }

  return {
    current,
    lockWaitsMs: pool.lockTimeoutMs,
    async begin(slots) {
      giveBack = (await permits?.take()) ?? giveBack;
      rowWait = null;
      open = lent(await pool.lend());
      const { sending } = open;
      sending.open();
      sending.send("BEGIN");
      sending.send(permits === null ? aloneFor(waitMs) : startOf(slots, waitMs));
    },
    waitForRows(ms) {
      if (ms !== rowWait) current().sending.send(`SET LOCAL lock_timeout TO ${ms ?? waitMs}`);
      rowWait = ms;
    },
    async commit() {
      await commitOn(current());
      end(current());
    },
    async rollback() {
      // It could not even begin.
      if (open === null) return giveBack();
      await pool.takeBack(open.client, "ROLLBACK");
      end(open);
    },
    fault: (error) =>
      open === null ? faultOf(error, false) : pool.fault(open.sending.failure()?.error ?? error, open.client),
  };
}
