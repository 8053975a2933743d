import { existsSync, statSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import Database from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import type { Writer } from "../group-commit.ts";
import { migrate, migrationsOf } from "../migrate.ts";
import { StoreError } from "../problems.ts";
import { sqliteTables } from "../schema/tables.ts";
import type { Db, Prepared, Read } from "../store.ts";
import type { Engine, TxMaker } from "./engine.ts";
import { emptyWal, eraserOf } from "./sqlite-erase.ts";
import { asStoreError, faultOf, isBusy, RESTORE } from "./sqlite-faults.ts";
import { withStablePlans } from "./stable-plans.ts";

const BUSY_TIMEOUT_MS = 10_000;
/** The size that the WAL comes back to (bytes). */
const WAL_BOUND = 16 * 1024 * 1024;
const WAL_LOOK_MS = 1_000;

/**
 * SQLite in WAL mode with synchronous=FULL. Three connections: one writes, one reads committed snapshots, one only asks
 * whether anything changed. `verify` reads the whole file once for damage.
 */
export async function openSqlite(file: string, options: { create: boolean; verify: boolean }): Promise<Engine> {
  const writer = openFile(file, options);
  try {
    if (options.verify) checkPages(writer);
    writer.pragma("journal_mode = WAL");
    writer.pragma("synchronous = FULL");
    writer.pragma(`journal_size_limit = ${WAL_BOUND}`);
    writer.pragma("foreign_keys = ON");
    // What is purged shall be gone from the file too, not only from its tables.
    writer.pragma("secure_delete = ON");
    await migrateSqlite(writer);
    const reader = connectReadOnly(file);
    const probe = connectReadOnly(file);
    return sqliteEngine(writer, reader, probe);
  } catch (error) {
    writer.close();
    throw asStoreError(error, file);
  }
}

function openFile(file: string, options: { create: boolean }): Database.Database {
  try {
    // Only its owner may read it, from its first byte on; its WAL takes over the rights.
    if (options.create && !existsSync(file)) writeFileSync(file, "", { mode: 0o600, flag: "wx" });
    return new Database(file, { fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
  } catch (error) {
    throw asStoreError(error, file);
  }
}

function connectReadOnly(file: string): Database.Database {
  return new Database(file, { readonly: true, fileMustExist: true, timeout: 2_000 });
}

function checkPages(connection: Database.Database): void {
  const verdict = connection.pragma("quick_check(1)", { simple: true });
  if (verdict === "ok") return;
  const words = String(verdict)
    .split("\n")
    .find((line) => !line.startsWith("***"));
  throw new StoreError(`The database is damaged: ${words ?? verdict}.`, RESTORE);
}

async function migrateSqlite(connection: Database.Database): Promise<void> {
  connection.exec("BEGIN IMMEDIATE");
  try {
    await migrate(
      {
        run: async (statement) => void connection.exec(statement),
        // better-sqlite3 types rows as unknown; each is an object of columns.
        rows: async (statement) => connection.prepare(statement).all() as Record<string, unknown>[],
      },
      migrationsOf("sqlite"),
    );
    connection.exec("COMMIT");
  } catch (error) {
    if (connection.inTransaction) connection.exec("ROLLBACK");
    throw error;
  }
}

function sqliteEngine(writer: Database.Database, reader: Database.Database, probe: Database.Database): Engine {
  // From here on waiting is ours to do, without stopping the event loop.
  writer.pragma("busy_timeout = 0");
  const readDb = drizzle(withStablePlans(reader)) as Db;
  const readPrepared = new Map<unknown, Prepared>();
  const begin = reader.prepare("BEGIN");
  const commit = reader.prepare("COMMIT");
  const version = probe.prepare("PRAGMA data_version").pluck();
  const epoch = probe.prepare("SELECT value FROM settings WHERE key = 'epoch'").pluck();
  let lastVersion: unknown;
  let lastEpoch = 0;
  let turn: Promise<unknown> = Promise.resolve();
  const erase = eraserOf(writer);
  const unbound = boundWal(writer, erase);

  async function snapshot<T>(run: (q: Pick<Read, "db" | "t" | "prepared">) => Promise<T>): Promise<T> {
    try {
      begin.run();
      return await run({ db: readDb, t: sqliteTables, prepared: readPrepared });
    } catch (error) {
      throw faultOf(error, reader.name);
    } finally {
      if (reader.inTransaction) commit.run();
    }
  }

  return {
    // One snapshot at a time: a query on SQLite awaits nothing but microtasks, so this costs no throughput.
    snapshot(run) {
      const result = turn.then(() => snapshot(run));
      turn = result.catch(() => undefined);
      return result;
    },
    writer: (makeTx) => sqliteWriter(writer, makeTx),
    epoch: async () =>
      faulting(probe, () => {
        const now = version.get();
        if (now !== lastVersion) {
          lastEpoch = Number(epoch.get() ?? 0);
          lastVersion = now;
        }
        return lastEpoch;
      }),
    erase,
    ping: async () => void faulting(probe, () => epoch.get()),
    async close() {
      await turn;
      unbound();
      await erase.settled();
      for (const connection of [probe, reader, writer]) connection.close();
    },
  };
}

/** Runs `work` on a connection, with its errors as `StoreUnavailable` where they are one. */
function faulting<T>(connection: Database.Database, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw faultOf(error, connection.name);
  }
}

/**
 * Empties a WAL that outgrew its bound as soon as its readers allow it. During a long read the WAL only grows, and the
 * next commit alone leaves the file as large as it became. An attempt never waits for readers. What a purge left is
 * erased in the same way. The result stops it.
 */
function boundWal(writer: Database.Database, erase: () => Promise<boolean>): () => void {
  const wal = `${writer.name}-wal`;
  const timer = setInterval(() => {
    if (writer.inTransaction) return;
    // A fault here must not end the process: the next write meets the same one and reports it.
    erase().catch(() => false);
    try {
      const size = statSync(wal, { throwIfNoEntry: false })?.size ?? 0;
      if (size > WAL_BOUND) emptyWal(writer);
    } catch {
      // As above.
    }
  }, WAL_LOOK_MS).unref();
  return () => clearInterval(timer);
}

function sqliteWriter(connection: Database.Database, makeTx: TxMaker): Writer {
  const db = drizzle(withStablePlans(connection)) as Db;
  const prepared = new Map<unknown, Prepared>();
  const steps = {
    begin: connection.prepare("BEGIN IMMEDIATE"),
    savepoint: connection.prepare("SAVEPOINT command"),
    release: connection.prepare("RELEASE command"),
    rollbackTo: connection.prepare("ROLLBACK TO command"),
    commit: connection.prepare("COMMIT"),
  };
  return {
    begin: () => retryWhileBusy(() => void steps.begin.run()),
    savepoint: async () => void steps.savepoint.run(),
    release: async () => void steps.release.run(),
    async rollbackToSavepoint() {
      steps.rollbackTo.run();
      steps.release.run();
    },
    commit: () => retryWhileBusy(() => void steps.commit.run()),
    async rollback() {
      if (connection.inTransaction) connection.exec("ROLLBACK");
    },
    fault: (error) => faultOf(error, connection.name),
    tx: (signal, requestId) => makeTx({ db, t: sqliteTables, prepared }, signal, requestId),
  };
}

/** Another process may hold the write lock for a moment: wait for it without blocking this one's event loop. */
async function retryWhileBusy(step: () => void): Promise<void> {
  for (let waited = 0, delay = 1; ; waited += delay, delay = Math.min(delay * 2, 50)) {
    try {
      step();
      return;
    } catch (error) {
      if (!isBusy(error) || waited >= BUSY_TIMEOUT_MS) throw error;
    }
    await pause(delay);
  }
}
