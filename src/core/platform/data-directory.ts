import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { platform } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { Ids } from "../kernel/ids.ts";
import { StoreError } from "../store/problems.ts";
import { codeOf, createKeyFile, missingKey, reason } from "../store/sealing/key-files.ts";
import { makeDirectory } from "./make-directory.ts";

const DATABASE = "esimctl.db";
const KEY = "esimctl.key";
const LOCK = "serve.lock";
const LOGS = "logs";

/** The files of one installation. */
export interface DataDirectory {
  databaseFile: string;
  keyFile: string;
  /** The folder of the daemon's log. */
  logs: string;
}

/** Where a data directory keeps its database, its key and its log. */
export function dataDirectory(path: string): DataDirectory {
  return { databaseFile: join(path, DATABASE), keyFile: join(path, KEY), logs: join(path, LOGS) };
}

/** Whether `path` holds an esimctl database. Throws `StoreError` when this user may not look. */
export function isInitialised(path: string): boolean {
  try {
    return statSync(join(path, DATABASE), { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    throw new StoreError(
      `Cannot look into ${path}: ${reason(error)}.`,
      "Act as the user that it belongs to, or name another directory with --data.",
      error,
    );
  }
}

/**
 * Makes the directory (0700) and its key file (0600) where they are absent; no key file where the key is kept outside.
 * Throws `StoreError` when it cannot be written, when it holds something else, or when a database is there without its
 * key: never a new key for old data.
 */
export function prepareDataDirectory(path: string, ids: Ids, keyOutside = false): DataDirectory {
  const directory = dataDirectory(path);
  try {
    makeDirectory(path);
    if (!existsSync(directory.keyFile)) {
      const used = existsSync(directory.databaseFile);
      if (used && !keyOutside) throw missingKey(directory.keyFile);
      if (!used) refuseForeign(path);
      if (!keyOutside) createKeyFile(directory.keyFile, ids);
    }
  } catch (error) {
    if (error instanceof StoreError) throw error;
    throw new StoreError(`Cannot write to ${path}: ${reason(error)}.`, "Choose a directory you may write to.", error);
  }
  return directory;
}

/** What a directory holds: esimctl's data, nothing (or no directory is there), or something else. */
export function holdingOf(path: string): "data" | "nothing" | "other" {
  if (isInitialised(path)) return "data";
  if (!existsSync(path)) return "nothing";
  // The lock's file and the log stay behind and mean nothing.
  const names = readdirSync(path).filter((name) => !name.startsWith(".") && name !== LOCK && name !== LOGS);
  return names.length === 0 ? "nothing" : "other";
}

function refuseForeign(path: string): void {
  if (holdingOf(path) === "other") {
    throw new StoreError(`${path} is not empty and holds no esimctl data.`, "Choose an empty or new directory.");
  }
}

/** Whether others than the owner have any right to a file or directory that is there. */
export function isExposed(path: string): boolean {
  // Windows keeps rights elsewhere: its mode says nothing of them.
  if (platform() === "win32") return false;
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && (found.mode & 0o077) !== 0;
}

/** What of a data directory others than its owner may open, each with the mode that it should have. */
export function exposedPaths(path: string): { path: string; mode: string }[] {
  const lock = join(path, LOCK);
  const wanted = [
    { path, mode: "700" },
    { path: lock, mode: "600" },
  ];
  return wanted.filter((one) => isExposed(one.path));
}

/**
 * Takes the directory for one daemon; the operating system gives it back when the process ends, however it ends.
 * Throws `StoreError` when another daemon has it or it cannot be written. The result releases it.
 */
export function lockDataDirectory(path: string): () => void {
  return lockFile(join(path, LOCK), {
    message: `Another esimctl serve already runs on ${path}.`,
    hint: "Stop it first, or give this one another --data directory.",
  });
}

/** The same for the one backup that is being sealed in the directory. */
export function lockSealing(path: string): () => void {
  return lockFile(join(path, ".sealing.lock"), {
    message: `Another backup --seal of ${path} is being made.`,
    hint: "Wait until it has ended.",
  });
}

interface Words {
  message: string;
  hint: string;
}

function lockFile(file: string, taken: Words): () => void {
  let lock: Database.Database | undefined;
  try {
    // Another user who may read it could hold it, and no daemon would start.
    if (!existsSync(file)) writeFileSync(file, "", { mode: 0o600, flag: "a" });
    // Long enough for a process that only checks whether it is taken.
    lock = new Database(file, { timeout: 100 });
    lock.pragma("journal_mode = DELETE");
    lock.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    lock?.close();
    throw lockFault(file, taken, error);
  }
  return () => lock.close();
}

function lockFault(file: string, taken: Words, error: unknown): StoreError {
  if (String(codeOf(error)).startsWith("SQLITE_BUSY")) return new StoreError(taken.message, taken.hint, error);
  const words = `Cannot write to ${file}: ${error instanceof Error ? error.message : reason(error)}.`;
  return new StoreError(words, "Check its owner and rights, and whether the disk is read-only or full.", error);
}

/** Whether a daemon serves the directory at this moment. */
export function isServed(path: string): boolean {
  const file = join(path, LOCK);
  if (!existsSync(file)) return false;
  const lock = new Database(file, { readonly: true, timeout: 0 });
  try {
    lock.exec("SELECT 1 FROM sqlite_master");
    return false;
  } catch {
    return true;
  } finally {
    lock.close();
  }
}

const NOTE = "moved-to.txt";

/** Notes in a data directory where its data is now, so that nothing goes on here beside it by mistake. */
export function noteMove(directory: string, to: string): void {
  writeFileSync(join(directory, NOTE), `${to}\n`, { mode: 0o600, flush: true });
}

/** Throws `StoreError` when the directory's data went on elsewhere. */
export function refuseMoved(directory: string): void {
  if (!isMoved(directory)) return;
  const file = join(directory, NOTE);
  throw new StoreError(
    `The data of ${directory} moved to ${readFileSync(file, "utf8").trim()}.`,
    `Name that with --database and --key-file. To go back to what is here, and lose what came since, delete ${file}.`,
  );
}

/** Whether a directory's data went on elsewhere. */
export function isMoved(directory: string): boolean {
  return existsSync(join(directory, NOTE));
}

/** What is put into the directory from now on is its own again. */
export function forgetMove(directory: string): void {
  rmSync(join(directory, NOTE), { force: true });
}
