import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs";
import { promisify } from "node:util";
import { StoreError } from "../problems.ts";
import type { Snapshots } from "./sqlite-snapshots.ts";

/** Brings what was written to a file to its disk, without stopping the event loop. */
export type SyncFile = (descriptor: number) => Promise<void>;

/** `fdatasync` in a thread of Node's pool. */
export const syncFile: SyncFile = promisify(fdatasync);

/** The syncs of a WAL for commits that do not wait for the disk themselves. */
export interface WalSync {
  /** Notes a commit. */
  committed(): void;
  /** Resolves once all commits so far are on the disk and reads see them. Rejects with `StoreUnavailable`. */
  durable(): Promise<void>;
  /** Throws `StoreUnavailable` once a sync has failed. */
  check(): void;
  /** Takes a sync that failed, here or in a checkpoint, as the end of all writing; answers the error for callers. */
  fail(cause: unknown): StoreError;
  /** Whether one failed. */
  failed(): boolean;
  close(): Promise<void>;
}

/**
 * Syncs the WAL of `file`, one sync at a time: it covers all commits before it, and while it is under way others are
 * made, which the next one covers together.
 *
 * Linux reports a failed sync once and may then drop what it could not write, so nothing that is repeated shows what is
 * on the disk. After a failed sync nothing is written any more: the next start reads the WAL as far as it is whole.
 */
export function walSync(file: string, snapshots: Snapshots, sync: SyncFile): WalSync {
  // SQLite takes no locks on this file, and keeps it while a connection is open.
  const descriptor = openSync(`${file}-wal`, "r");
  fdatasyncSync(descriptor);
  let waiting = false;
  let underway: Promise<void> | null = null;
  let following: Promise<void> | null = null;
  let failure: StoreError | null = null;

  function check(): void {
    if (failure !== null) throw failure;
  }

  function fail(cause: unknown): StoreError {
    failure ??= syncError(file, cause);
    snapshots.fail(failure);
    return failure;
  }

  async function run(): Promise<void> {
    check();
    waiting = false;
    try {
      snapshots.prepare();
      await sync(descriptor).catch((error: unknown) => Promise.reject(fail(error)));
      await snapshots.advance(() => waiting);
    } catch (error) {
      waiting = true;
      throw error;
    }
  }

  function start(): Promise<void> {
    following = null;
    underway = run().finally(() => {
      underway = null;
    });
    return underway;
  }

  return {
    committed() {
      waiting = true;
    },
    async durable() {
      if (underway === null) return waiting ? start() : undefined;
      if (!waiting) return underway;
      following ??= underway.then(start, start);
      return following;
    },
    check,
    fail,
    failed: () => failure !== null,
    async close() {
      await Promise.allSettled([underway, following]);
      closeSync(descriptor);
    },
  };
}

/** After it nothing is written any more: it is unknown what the disk holds of what was committed. */
export function syncError(file: string, cause: unknown): StoreError {
  const code: unknown = cause instanceof Error ? Reflect.get(cause, "code") : undefined;
  const words = `The disk of the database ${file} failed to store what was written: ${String(code ?? cause)}.`;
  const hint = "Check the disk, then restart esimctl. What was confirmed before is stored.";
  return new StoreError(words, hint, cause, { reason: "unreachable" });
}
