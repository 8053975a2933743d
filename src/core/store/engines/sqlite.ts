import { existsSync, statSync, writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { migrate, migrationsOf } from "../migrate.ts";
import type { StoreError } from "../problems.ts";
import { checkpointsOf, WAL_BOUND } from "./checkpoints.ts";
import { checkPages, isLarge } from "./damage.ts";
import type { Engine } from "./engine.ts";
import { emptyWal, eraserOf, type Undisturbed } from "./sqlite-erase.ts";
import { asStoreError } from "./sqlite-faults.ts";
import { type Snapshots, snapshotsOf } from "./sqlite-snapshots.ts";
import { BUSY_TIMEOUT_MS, type Durability, quietlyIn, sqliteWriter, type Turns, turns } from "./sqlite-writer.ts";
import type { ReadingEngine } from "./store-over.ts";
import { type SyncFile, syncError, syncFile, walSync } from "./wal-sync.ts";

const WAL_LOOK_MS = 1_000;

/** How a database file is opened. */
export interface SqliteOptions {
  create: boolean;
  /** Read the whole file once for damage, unless it is large: then `checkBeside` does. */
  verify: boolean;
  /** This process serves it alone: commits are synced beside the event loop, several by one sync. */
  alone?: boolean | undefined;
  /** Other connections of this process read it, in another thread: COMMIT syncs, checkpoints are made beside it. */
  watched?: boolean | undefined;
  /** How those syncs are made; left out: by `fdatasync`. */
  sync?: SyncFile | undefined;
}

/**
 * SQLite in WAL mode. A commit is durable before it is answered: by `synchronous=FULL`, or, where this process serves
 * the file alone, by a sync that it does not wait for in the event loop.
 */
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

function sqliteEngine(writer: Database.Database, { alone, watched, sync = syncFile }: SqliteOptions): Engine {
  // From here on waiting is ours to do, without stopping the event loop.
  writer.pragma("busy_timeout = 0");
  const snapshots = snapshotsOf(writer);
  const order = turns();
  const beside = diskOf();
  const erase = eraserOf(writer, beside);
  const unbound = boundWal(erase, beside.shrink);

  function diskOf(): Disk {
    if (watched) return inItsThread(writer, order);
    return alone ? besideTheLoop(writer, { snapshots, sync, order }) : inCommit(writer, order);
  }

  return {
    snapshot: snapshots.run,
    look: snapshots.look,
    writer: (makeTx) => sqliteWriter(writer, { makeTx, durability: beside.durability, turns: order }),
    slotWriter: null,
    moment: snapshots.moment,
    nodes: null,
    replica: null,
    erase,
    async ping() {
      await snapshots.ping();
      // The node's clock is the database's.
      return { now: null, heldMs: null };
    },
    async close() {
      unbound();
      await erase.settled();
      const { trusted } = await beside.close();
      await snapshots.close(!trusted);
      writer.close();
    },
  };
}

/** The reads of a file that another thread of this process has opened as `watched`: what they see is durable. */
export function readBeside(file: string): ReadingEngine {
  const probe = openFile(file, { create: false });
  // It reads no pages.
  probe.pragma("cache_size = 10");
  const snapshots = snapshotsOf(probe);
  return {
    snapshot: snapshots.run,
    look: snapshots.look,
    moment: snapshots.moment,
    nodes: null,
    replica: null,
    async ping() {
      await snapshots.ping();
      return { now: null, heldMs: null };
    },
    async close() {
      await snapshots.close(false);
      probe.close();
    },
  };
}

/** How what a writer commits comes to the disk. */
interface Disk extends Undisturbed {
  durability: Durability;
  /** Brings a WAL that outgrew its bound back to it, as soon as its readers allow it. */
  shrink(): void;
  /** Not `trusted`: a sync failed, and it is unknown what the disk holds. */
  close(): Promise<{ trusted: boolean }>;
}

/** By COMMIT itself, with `synchronous=FULL`: durable before anyone sees it. The event loop waits for it. */
function inCommit(writer: Database.Database, order: Turns): Disk {
  const durability: Durability = {
    room: async () => undefined,
    check: () => undefined,
    commit: async (step) => step(),
    durable: async () => undefined,
  };
  const quietly = quietlyIn(order, durability);
  return {
    durability,
    quietly,
    without: (work) => work(),
    shrink() {
      const size = statSync(`${writer.name}-wal`, { throwIfNoEntry: false })?.size ?? 0;
      if (size > WAL_BOUND) quietly(() => emptyWal(writer)).catch(() => false);
    },
    close: async () => ({ trusted: true }),
  };
}

/**
 * By COMMIT itself, in a thread that has nothing else to do; checkpoints are in a thread of their own, so that writes
 * go on meanwhile.
 */
function inItsThread(writer: Database.Database, order: Turns): Disk {
  writer.pragma("wal_autocheckpoint = 0");
  let failure: StoreError | null = null;
  let seen = 0;
  const durability: Durability = {
    room: () => checkpoints.room(),
    check() {
      if (failure !== null) throw failure;
    },
    async commit(step, changes) {
      step();
      if (changes !== seen) checkpoints.committed();
      seen = changes;
    },
    durable: async () => undefined,
  };
  const quietly = quietlyIn(order, durability);
  const fail = (cause: unknown) => {
    failure ??= syncError(writer.name, cause);
    return failure;
  };
  const checkpoints = checkpointsOf(writer, { quietly, fail });
  return {
    durability,
    quietly,
    without: checkpoints.without,
    shrink: checkpoints.shrink,
    async close() {
      await checkpoints.close();
      return { trusted: failure === null };
    },
  };
}

/** By syncs and checkpoints in other threads: COMMIT only writes to the WAL. */
function besideTheLoop(
  writer: Database.Database,
  { snapshots, sync, order }: { snapshots: Snapshots; sync: SyncFile; order: Turns },
): Disk {
  // A process that was killed may have left commits that it had not synced: they are durable before anyone sees them.
  writer.pragma("wal_checkpoint(PASSIVE)");
  writer.pragma("synchronous = NORMAL");
  writer.pragma("wal_autocheckpoint = 0");
  const background = walSync(writer.name, snapshots, sync);
  let synced = 0;
  const durability: Durability = {
    room: () => checkpoints.room(),
    check: background.check,
    async commit(step, changes) {
      // Nothing was written: there is nothing to sync.
      if (changes === synced) return step();
      await snapshots.commit(step);
      synced = changes;
      background.committed();
      checkpoints.committed();
    },
    durable: background.durable,
  };
  const quietly = quietlyIn(order, durability);
  const checkpoints = checkpointsOf(writer, { quietly, fail: background.fail });
  return {
    durability,
    quietly,
    without: checkpoints.without,
    shrink: checkpoints.shrink,
    async close() {
      await checkpoints.close();
      await background.close();
      return { trusted: !background.failed() };
    },
  };
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
