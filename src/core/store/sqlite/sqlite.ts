import { existsSync, statSync, writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import type { Engine, ReadingEngine } from "../engine.ts";
import { migrate, migrationsOf } from "../migrations/migrate.ts";
import type { StoreError } from "../problems.ts";
import { groupCommit } from "../write/group-commit.ts";
import { checkpointsOf, WAL_BOUND } from "./checkpoints.ts";
import { checkPages, isLarge } from "./damage.ts";
import { emptyWal, eraserOf, type Undisturbed } from "./erase.ts";
import { asStoreError } from "./faults.ts";
import { type Snapshots, snapshotsOf } from "./snapshots.ts";
import { syncError } from "./sync-file.ts";
import { type Backpressure, BUSY_TIMEOUT_MS, createMutex, exclusivelyIn, type Mutex, sqliteWriter } from "./writer.ts";

const WAL_LOOK_MS = 1_000;
// Half of the default here: what orders read again fits, and pages that are random by design fit in neither.
const CACHE_MB = 8;
// Pages that one transaction of thousands of rows touches: with fewer in memory they go to the WAL several times.
const BULK_CACHE_MB = 40;

/** How a database file is opened. */
export interface SqliteOptions {
  create: boolean;
  /** Read the whole file once for damage, unless it is large: then `checkBeside` does. */
  verify: boolean;
  /** Another thread reads it and leaves its writes to this one, which has no other work. */
  watched?: boolean | undefined;
  /** Where it is watched: few large transactions follow each other. */
  bulk?: boolean | undefined;
}

/** SQLite in WAL mode with `synchronous=FULL`: a commit is durable before anyone sees it. */
export async function openSqlite(file: string, options: SqliteOptions): Promise<Engine> {
  const writer = openFile(file, options);
  try {
    if (options.verify && !isLarge(file)) checkPages(writer);
    writer.pragma("journal_mode = WAL");
    writer.pragma("synchronous = FULL");
    writer.pragma(`journal_size_limit = ${WAL_BOUND}`);
    writer.pragma("foreign_keys = ON");
    // A savepoint keeps the pages that it can bring back: in memory, not in a file outside the data directory.
    writer.pragma("temp_store = MEMORY");
    // What is purged shall be gone from the file too, not only from its tables.
    writer.pragma("secure_delete = ON");
    await migrateSqlite(writer);
    return sqliteEngine(writer, options);
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

function sqliteEngine(writer: Database.Database, { watched = false, bulk = false }: SqliteOptions): Engine {
  // From here on waiting is ours to do, without stopping the event loop.
  writer.pragma("busy_timeout = 0");
  const snapshots = snapshotsOf(writer.name);
  const mutex = createMutex();
  if (watched) writer.pragma(`cache_size = ${-1000 * (bulk ? BULK_CACHE_MB : CACHE_MB)}`);
  const disk = watched ? checkpointsBeside(writer, mutex, bulk) : checkpointsInCommit(writer, mutex);
  const erase = eraserOf(writer, disk);
  const unbound = boundWal(erase, disk.shrink);

  return {
    ...readsOf(snapshots),
    commits: ({ makeTx, prepared, committed }) =>
      groupCommit(prepared(sqliteWriter(writer, { makeTx, backpressure: disk.backpressure, mutex })), committed),
    erase,
    async close() {
      unbound();
      await erase.settled();
      await disk.close();
      await snapshots.close();
      writer.close();
    },
  };
}

function readsOf(snapshots: Snapshots): Omit<ReadingEngine, "close"> {
  return {
    snapshot: snapshots.run,
    apart: snapshots.apart,
    readOne: snapshots.readOne,
    epoch: snapshots.epoch,
    nodes: null,
    replica: null,
    async ping() {
      await snapshots.ping();
      // The node's clock is the database's.
      return { now: null, heldMs: null };
    },
  };
}

/** The reads of a file that another thread of this process has opened as `watched`. */
export function readBeside(file: string): ReadingEngine {
  const last = openFile(file, { create: false });
  // It reads no pages.
  last.pragma("cache_size = 10");
  const snapshots = snapshotsOf(file);
  return {
    ...readsOf(snapshots),
    async close() {
      await snapshots.close();
      // Only one that may write moves the WAL into the file.
      last.close();
    },
  };
}

/** How what a writer commits comes from the WAL into the file. */
interface Disk extends Undisturbed {
  backpressure: Backpressure;
  /** Brings a WAL that outgrew its bound back to it, as soon as its readers allow it. */
  shrink(): void;
  close(): Promise<void>;
}

/** By SQLite itself, after every thousandth page or so. */
function checkpointsInCommit(writer: Database.Database, mutex: Mutex): Disk {
  const exclusively = exclusivelyIn(mutex);
  return {
    backpressure: { room: async () => undefined, check: () => undefined, committed: () => undefined },
    exclusively,
    without: (work) => work(),
    shrink() {
      const size = statSync(`${writer.name}-wal`, { throwIfNoEntry: false })?.size ?? 0;
      if (size > WAL_BOUND) exclusively(() => emptyWal(writer)).catch(() => false);
    },
    close: async () => undefined,
  };
}

/** In a thread of their own, so that writes go on meanwhile. */
function checkpointsBeside(writer: Database.Database, mutex: Mutex, bulk: boolean): Disk {
  // A process that was killed may have left a commit that it had not synced: it is durable before anyone reads it.
  writer.pragma("wal_checkpoint(PASSIVE)");
  writer.pragma("wal_autocheckpoint = 0");
  let failure: StoreError | null = null;
  const exclusively = exclusivelyIn(mutex);
  const fail = (cause: unknown) => {
    failure ??= syncError(writer.name, cause);
    return failure;
  };
  const { room, committed, without, shrink, close } = checkpointsOf(writer, { exclusively, fail, bulk });
  function check(): void {
    if (failure !== null) throw failure;
  }
  return { backpressure: { room, check, committed }, exclusively, without, shrink, close };
}

/**
 * Looks each second whether the WAL has outgrown its bound: during a long read it only grows, and the next commit alone
 * leaves the file as large as it became. What a purge left is erased in the same way. The result stops it.
 */
function boundWal(erase: () => Promise<boolean>, shrink: () => void): () => void {
  const timer = setInterval(() => {
    // A fault here must not end the process: the next write meets the same one and reports it.
    erase().catch(() => false);
    try {
      shrink();
    } catch {
      // As above.
    }
  }, WAL_LOOK_MS).unref();
  return () => clearInterval(timer);
}
