import pg from "pg";
import type { Permits } from "../../kernel/permits.ts";
import type { Repeat, Writer } from "../group-commit.ts";
import { causesOf } from "../problems.ts";
import type { Connection, TxMaker } from "./engine.ts";
import { faultOf } from "./postgres-faults.ts";
import type { Pool } from "./postgres-pool.ts";
import type { Sending } from "./postgres-sending.ts";
import { WRITE_LOCK } from "./postgres-session.ts";

/** A connection of the pool, with what the store keeps for it. */
export interface Lent {
  client: pg.PoolClient;
  sending: Sending;
  connection: Connection;
}

interface WriterParts {
  pool: Pool;
  lent(client: pg.PoolClient): Lent;
  makeTx: TxMaker;
}

/** The slot whose writes are made, and leave for a batch of it. */
interface Slot {
  slot: number;
  permits: Permits;
}

/**
 * How long (ms) a write of a slot waits for rows that another slot has locked, unless it is the first of its batch:
 * then its batch holds nothing that others may wait for. So no two batches wait for each other for longer than this.
 */
const ROW_WAIT_MS = 2;

/** All writes alone: one transaction at a time, on any number of nodes. */
const ALONE = [`SELECT pg_advisory_xact_lock(${WRITE_LOCK})`];

/** First the slot's: who waits for it does not keep those away who want to be alone. */
function locksOf(slot: number): string[] {
  return [`SELECT pg_advisory_xact_lock(${WRITE_LOCK}, ${slot})`, `SELECT pg_advisory_xact_lock_shared(${WRITE_LOCK})`];
}

/** Commits. Throws the first failure of a statement: after it nothing is committed. */
async function commitOn({ client, sending }: Lent): Promise<void> {
  const committed = client.query("COMMIT");
  committed.catch(() => undefined);
  await sending.settle();
  // PostgreSQL ends a failed transaction by a rollback, and reports no error.
  if ((await committed).command !== "COMMIT") throw new Error("the transaction was rolled back, not committed");
  client.release();
}

async function rollBackToSavepoint({ client, sending }: Lent): Promise<true> {
  await client.query("ROLLBACK TO SAVEPOINT command");
  await sending.forget();
  sending.send("RELEASE SAVEPOINT command");
  return true;
}

/**
 * The writes of a process that run alone or, with `beside`, those of a slot, beside other slots. Statements whose
 * result is not read are sent ahead, and their failures surface with the release or the commit.
 */
export function postgresWriter({ pool, lent, makeTx }: WriterParts, beside: Slot | null = null): Writer {
  let open: Lent | null = null;
  let giveBack = () => {};
  let savepoints = 0;

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
    async begin() {
      giveBack = (await beside?.permits.take()) ?? giveBack;
      savepoints = 0;
      open = lent(await pool.lend());
      const { sending } = open;
      sending.open();
      sending.send("BEGIN");
      for (const lock of beside === null ? ALONE : locksOf(beside.slot)) sending.send(lock);
    },
    async savepoint() {
      const { sending } = current();
      savepoints += 1;
      if (beside !== null && savepoints === 2) sending.send(`SET LOCAL lock_timeout = ${ROW_WAIT_MS}`);
      sending.send("SAVEPOINT command");
    },
    async release() {
      const { sending } = current();
      sending.send("RELEASE SAVEPOINT command");
      await sending.settle();
    },
    rollbackToSavepoint: () => rollBackToSavepoint(current()),
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
    repeat: (fault) => (beside === null ? null : repeatOf(fault, savepoints > 1)),
    tx: (signal, requestId) => makeTx(current().connection, signal, requestId),
  };
}

// SQLSTATE codes of what cannot happen to a write that is alone.
const REPEATS: Readonly<Record<string, Repeat>> = {
  "23505": "alone", // unique violation: another one was quicker, or it is the write's own fault, which shows alone
  "40001": "alone", // serialization failure
  "40P01": "alone", // deadlock detected
};

/** `briefly`: waits for rows were brief, and after one the write begins the next batch. */
function repeatOf(fault: unknown, briefly: boolean): Repeat | null {
  for (const cause of causesOf(fault)) {
    if (!(cause instanceof pg.DatabaseError)) continue;
    if (cause.code === "55P03") return briefly ? "first" : null;
    return REPEATS[cause.code ?? ""] ?? null;
  }
  return null;
}
