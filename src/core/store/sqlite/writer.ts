import { setTimeout as pause } from "node:timers/promises";
import type Database from "better-sqlite3";
import type { TxMaker } from "../engine.ts";
import type { Writer } from "../writer.ts";
import { connectionOver } from "./dialect.ts";
import { faultOf, isBusy } from "./faults.ts";
import { withStablePlans } from "./stable-plans.ts";

/** How long another process that holds a lock is waited for. */
export const BUSY_TIMEOUT_MS = 10_000;

/** What a writer keeps to beside its own transactions. */
export interface Backpressure {
  /** Before a transaction and its turn: resolves when there is room for it. */
  room(): Promise<void>;
  /** Before a transaction; throws `StoreUnavailable` when none may be made any more. */
  check(): void;
  /** After a commit that changed anything. */
  committed(): void;
}

/** The right to write, one holder after the other. */
export interface Mutex {
  /** Resolves when it is this caller's turn; the result ends it. */
  take(): Promise<() => void>;
}

/** The right to write in the order in which it was asked for. */
export function createMutex(): Mutex {
  let last: Promise<void> = Promise.resolve();
  return {
    async take() {
      const { promise, resolve } = Promise.withResolvers<void>();
      const before = last;
      last = promise;
      await before;
      return resolve;
    },
  };
}

/** Runs work while no transaction of this process is open. */
export type Exclusively = <T>(work: () => T | Promise<T>) => Promise<T>;

/** Takes a turn for such work. */
export function exclusivelyIn(mutex: Mutex): Exclusively {
  return async (work) => {
    const end = await mutex.take();
    try {
      return await work();
    } finally {
      end();
    }
  };
}

/** The writer over the one connection that writes. */
export function sqliteWriter(
  connection: Database.Database,
  { makeTx, backpressure, mutex }: { makeTx: TxMaker; backpressure: Backpressure; mutex: Mutex },
): Writer {
  const given = connectionOver(withStablePlans(connection));
  const steps = stepsOf(connection);
  const changes = () => Number(steps.changes.get());
  let end: () => void = () => undefined;
  let savepoints = false;
  /** Rows that were changed before the command under way, and before the last commit. */
  let [before, committed] = [0, 0];
  return {
    async begin(careful) {
      await backpressure.room();
      end = await mutex.take();
      backpressure.check();
      await retryWhileBusy(() => void steps.begin.run());
      savepoints = careful;
    },
    async savepoint() {
      if (savepoints) steps.savepoint.run();
      else before = changes();
    },
    async release() {
      if (savepoints) steps.release.run();
    },
    async rollbackToSavepoint() {
      if (!savepoints) return changes() === before;
      steps.rollbackTo.run();
      steps.release.run();
      return true;
    },
    async commit() {
      const changed = changes();
      await retryWhileBusy(() => void steps.commit.run());
      if (changed !== committed) backpressure.committed();
      committed = changed;
      end();
    },
    async rollback() {
      if (connection.inTransaction) connection.exec("ROLLBACK");
      end();
    },
    fault: (error) => faultOf(error, connection.name),
    repeat: () => null,
    tx: (signal, requestId) => makeTx(given, signal, requestId),
  };
}

/** The statements around those of commands. */
function stepsOf(connection: Database.Database) {
  return {
    begin: connection.prepare("BEGIN IMMEDIATE"),
    savepoint: connection.prepare("SAVEPOINT command"),
    release: connection.prepare("RELEASE command"),
    rollbackTo: connection.prepare("ROLLBACK TO command"),
    commit: connection.prepare("COMMIT"),
    changes: connection.prepare("SELECT total_changes()").pluck(),
  };
}

/** Another process may hold the write lock for a moment: wait for it without blocking this one's event loop. */
async function retryWhileBusy(step: () => void | Promise<void>): Promise<void> {
  for (let waited = 0, delay = 1; ; waited += delay, delay = Math.min(delay * 2, 50)) {
    try {
      await step();
      return;
    } catch (error) {
      if (!isBusy(error) || waited >= BUSY_TIMEOUT_MS) throw error;
    }
    await pause(delay);
  }
}
