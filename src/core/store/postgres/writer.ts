import pg from "pg";
import type { TxMaker } from "../engine.ts";
import { causesOf } from "../problems.ts";
import type { Repeat, Writer } from "../writer.ts";
import type { Lent, Transactions } from "./transactions.ts";

/**
 * How long (ms) a write of a slot waits for rows that another slot has locked, unless it is the first of its batch:
 * then its batch holds nothing that others may wait for. So no two batches wait for each other for longer than this.
 */
const ROW_WAIT_MS = 2;

async function rollBackToSavepoint({ client, sending }: Lent): Promise<true> {
  await client.query("ROLLBACK TO SAVEPOINT command");
  await sending.forget();
  sending.send("RELEASE SAVEPOINT command");
  return true;
}

/**
 * The writes of a process that run alone, or those of a slot beside other slots: each can be taken back by itself.
 * Statements whose result is not read are sent ahead, and their failures surface with the release or the commit.
 */
export function postgresWriter(transactions: Transactions, makeTx: TxMaker, { beside }: { beside: boolean }): Writer {
  let savepoints = 0;
  const { current, commit, rollback, fault } = transactions;
  return {
    lockWaitsMs: transactions.lockWaitsMs,
    async begin(_, slots) {
      savepoints = 0;
      await transactions.begin(slots);
    },
    async savepoint() {
      savepoints += 1;
      if (beside && savepoints > 1) transactions.waitForRows(ROW_WAIT_MS);
      current().sending.send("SAVEPOINT command");
    },
    async release() {
      const { sending } = current();
      sending.send("RELEASE SAVEPOINT command");
      await sending.settle();
    },
    rollbackToSavepoint: () => rollBackToSavepoint(current()),
    commit,
    rollback,
    fault,
    repeat: (found) => (beside ? repeatOf(found, savepoints > 1) : null),
    tx: (signal, requestId) => makeTx(current().connection, signal, requestId),
  };
}

// SQLSTATE codes of what cannot happen to a write that is alone.
const REPEATS: Readonly<Record<string, Repeat>> = {
  "23505": "alone", // unique violation: another one was quicker, or it is the write's own fault, which shows alone
  "40001": "alone", // serialization failure
  "40P01": "alone", // deadlock detected
};

/** How a write is repeated. `briefly`: waits for rows were brief, and after one the write begins the next batch. */
export function repeatOf(fault: unknown, briefly: boolean): Repeat | null {
  for (const cause of causesOf(fault)) {
    if (!(cause instanceof pg.DatabaseError)) continue;
    if (cause.code === "55P03") return briefly ? "first" : null;
    return REPEATS[cause.code ?? ""] ?? null;
  }
  return null;
}
