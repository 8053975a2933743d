import { closeSync, fsyncSync, openSync, statSync } from "node:fs";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import Database from "better-sqlite3";
import { StoreError } from "../problems.ts";
import { ERASURE } from "../stored-value.ts";
import { faultOf, isBusy } from "./faults.ts";
import { clearGaps, clearGapsOf, FIRST_AMBIGUOUS_PAGE, openPages, pagesInWal, pagesOf } from "./page-gaps.ts";
import type { Exclusively } from "./writer.ts";

/** How often, and after how many ms each time, another process that writes or reads just then is waited for. */
const [ATTEMPTS, PAUSE_MS] = [40, 5];

/** The setting whose change makes every connection read the file again instead of its cached pages. */
const CLEARED = "erasure_cleared";
const MARK = `INSERT INTO settings (key, value) VALUES (?, '1')
  ON CONFLICT (key) DO UPDATE SET value = cast(value AS integer) + 1`;

/** Empties the WAL into the file, without waiting for readers; false: one of them, or a writer, is in the way. */
export function emptyWal(connection: Database.Database): boolean {
  // One row of this shape, as SQLite documents it.
  const [outcome] = connection.pragma("wal_checkpoint(TRUNCATE)") as { busy: number }[];
  return outcome?.busy === 0;
}

/** Connections of one erasure: one keeps the file as it is, the other one writes. */
interface Connections {
  keeper: Database.Database;
  writer: Database.Database;
}

/** How an erasure keeps what else this process does out of its way. */
export interface Undisturbed {
  exclusively: Exclusively;
  /** Runs work during which no checkpoint of this process is under way. */
  without<T>(work: () => Promise<T>): Promise<T>;
}

/** Erases what was noted in a connection's file, once at a time; `settled` waits for an erasure that is under way. */
export function eraserOf(writer: Database.Database, { exclusively, without }: Undisturbed) {
  const noted = writer.prepare("SELECT 1 FROM settings WHERE key = ?").pluck();
  let erasing: Promise<boolean> | null = null;
  const run = async () => {
    try {
      return noted.get(ERASURE) === undefined || (await without(() => eraseSqlite(writer.name, exclusively)));
    } catch (error) {
      throw faultOf(error, writer.name);
    } finally {
      erasing = null;
    }
  };
  const erase = (): Promise<boolean> => {
    erasing ??= nextTurn().then(run);
    return erasing;
  };
  return Object.assign(erase, { settled: async () => void (await erasing?.catch(() => false)) });
}

/**
 * What `Engine.erase` does. `secure_delete` overwrites what is deleted, but not the copies of rows that SQLite leaves
 * in the unused middle of a page when it moves them to the neighbors (decision 0038). These gaps are overwritten in
 * the file itself while a snapshot keeps every checkpoint from writing to it; pages that were written meanwhile follow
 * under the write lock. Then the WAL is emptied. False: a reader or writer is in the way.
 */
async function eraseSqlite(file: string, exclusively: Exclusively): Promise<boolean> {
  const repeated = (step: () => boolean) => repeat(() => exclusively(step));
  const connections: Connections = { keeper: connect(file), writer: connect(file) };
  try {
    const { writer } = connections;
    const noted = writer.prepare<[string], string>("SELECT value FROM settings WHERE key = ?").pluck();
    const purge = noted.get(ERASURE);
    if (purge === undefined) return true;
    if (!(await repeated(() => keepFile(file, connections)))) return false;
    await clearFile(file);
    if (!(await repeated(() => clearWritten(file, connections)))) return false;
    if (!(await repeated(() => emptyWal(connections.keeper)))) return false;
    // A purge that came meanwhile has another value, and stays noted.
    const forget = writer.prepare("DELETE FROM settings WHERE key = ? AND value = ? OR key = ?");
    return await repeated(() => {
      forget.run(ERASURE, purge, CLEARED);
      return true;
    });
  } finally {
    for (const connection of [connections.keeper, connections.writer]) connection.close();
  }
}

function connect(file: string): Database.Database {
  const connection = new Database(file, { fileMustExist: true, timeout: 0 });
  connection.pragma("synchronous = FULL");
  connection.pragma("secure_delete = ON");
  return connection;
}

/** Attempts a step until it succeeds; one that meets a lock failed. */
async function repeat(step: () => Promise<boolean>): Promise<boolean> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    try {
      if (await step()) return true;
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
    await pause(PAUSE_MS);
  }
  return false;
}

/** Takes a snapshot of the file alone: while it is open no checkpoint writes to the file. */
function keepFile(file: string, { keeper }: Connections): boolean {
  if (!emptyWal(keeper)) return false;
  keep(keeper);
  if (walSize(file) === 0) return true;
  keeper.exec("COMMIT");
  return false;
}

/** Begins a snapshot: while it is open the WAL keeps what is written from now on. */
function keep(keeper: Database.Database): void {
  keeper.exec("BEGIN");
  keeper.prepare("SELECT count(*) FROM settings").get();
}

function walSize(file: string): number {
  return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

/** Clears the gaps of the whole file, part by part: others are served meanwhile, and write to the WAL. */
async function clearFile(file: string): Promise<void> {
  const pages = openPages(file);
  const end = pagesOf(pages);
  if (end >= FIRST_AMBIGUOUS_PAGE) {
    const words = "The database file is too large for what was purged to be removed from it.";
    throw new StoreError(words, "Move the data to PostgreSQL: esimctl migrate-to.");
  }
  for (let next = 1; next <= end; ) {
    next = clearGaps(pages, next);
    await nextTurn();
  }
  fsyncSync(pages.descriptor);
}

/**
 * Clears the gaps of the pages that were written since the snapshot, which ends here; where it fails another snapshot
 * keeps the WAL, whose pages the next attempt needs.
 */
function clearWritten(file: string, { keeper, writer }: Connections): boolean {
  writer.exec("BEGIN IMMEDIATE");
  try {
    const pages = openPages(file);
    const written = writtenPages(file, pages.pageSize);
    if (keeper.inTransaction) keeper.exec("COMMIT");
    // Another process can commit nothing now: all of the WAL is in the file, or a reader is in the way.
    const [moved] = keeper.pragma("wal_checkpoint(PASSIVE)") as { busy: number; log: number; checkpointed: number }[];
    if (moved === undefined || moved.busy !== 0 || moved.log !== moved.checkpointed) {
      keep(keeper);
      return false;
    }
    clearGapsOf(pages, written);
    fsyncSync(pages.descriptor);
    // Connections drop their cached pages, which still have the old gaps, when another one has committed.
    writer.prepare(MARK).run(CLEARED);
    writer.exec("COMMIT");
    return true;
  } finally {
    if (writer.inTransaction) writer.exec("ROLLBACK");
  }
}

function writtenPages(file: string, pageSize: number): Set<number> {
  if (walSize(file) === 0) return new Set();
  // SQLite holds no lock on this file, so that its descriptor can be closed.
  const wal = openSync(`${file}-wal`, "r");
  try {
    return pagesInWal(wal, pageSize);
  } finally {
    closeSync(wal);
  }
}
