import { statSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type Database from "better-sqlite3";
import { threadFile } from "../../kernel/thread-file.ts";
import { StoreError } from "../problems.ts";
import type { DamageFound } from "./damage-thread.ts";
import { RESTORE } from "./faults.ts";

/** A file up to this size (bytes) is read whole before it is used; a larger one beside its use. */
const AT_ONCE = 64 * 1024 * 1024;

/** Whether a file is too large to be read whole before it is used. */
export function isLarge(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > AT_ONCE;
}

/** Reads a whole file for damage. Throws `StoreError`. */
export function checkPages(connection: Database.Database): void {
  const verdict = connection.pragma("quick_check(1)", { simple: true });
  if (verdict !== "ok") throw damaged(String(verdict));
}

function damaged(verdict: string): StoreError {
  const words = verdict.split("\n").find((line) => !line.startsWith("***"));
  return new StoreError(`The database is damaged: ${words ?? verdict}.`, RESTORE);
}

/** A file that is read for damage while it is used. */
export interface DamageCheck {
  /** Resolves with the error once damage is found; never, where there is none. */
  found: Promise<StoreError>;
  /** Ends the reading. */
  end(): Promise<unknown>;
}

/** Reads a large file for damage in a thread, which does not keep the process running; a small one was read before. */
export function checkBeside(file: string): DamageCheck {
  const { promise: found, resolve } = Promise.withResolvers<StoreError>();
  if (!isLarge(file)) return { found, end: async () => undefined };
  const worker = new Worker(threadFile(import.meta.url, "damage"), { workerData: file });
  worker.unref();
  worker.on("message", (verdict: DamageFound) => {
    if (verdict !== null) resolve(damaged(verdict));
  });
  // It could not be read: who serves the file meets the same.
  worker.on("error", () => undefined);
  return { found, end: () => worker.terminate() };
}
