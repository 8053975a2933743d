import { once } from "node:events";
import { statSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type Database from "better-sqlite3";
import { threadFile } from "../../kernel/thread-file.ts";
import type { StoreError } from "../problems.ts";
import type { CheckpointResult, CheckpointStep, CheckpointWork } from "./checkpoint-thread.ts";
import { openPages } from "./page-gaps.ts";
import { syncFile } from "./sync-file.ts";
import type { Exclusively } from "./writer.ts";

/** The size that the WAL comes back to (bytes). */
export const WAL_BOUND = 64 * 1024 * 1024;

/** Frames, of a page of 4 KiB each, after which the WAL is moved into the file, and at which writes wait for that. */
interface Frames {
  enough: number;
  most: number;
}

/** Pages that transactions change again and again are moved once for all of them: the fewer checkpoints, the fewer. */
const USUAL: Frames = { enough: 8_000, most: 16_000 };
/** Where each transaction has tens of thousands, most of them pages that the next one changes again. */
const BULK: Frames = { enough: 16_000, most: 64_000 };

/** Checkpoints in a thread of their own: neither their reading and writing nor their syncs stop the event loop. */
export interface Checkpoints {
  /** After a commit: begins a checkpoint where the WAL has grown enough. */
  committed(): void;
  /** Before a transaction: resolves when the WAL has room for it, or no checkpoint can make any. */
  room(): Promise<void>;
  /** Begins one where the WAL's file has outgrown its bound. */
  shrink(): void;
  /** Runs work that moves the WAL into the file itself: no checkpoint is under way meanwhile. */
  without<T>(work: () => Promise<T>): Promise<T>;
  /** Ends the one under way, and the thread. */
  close(): Promise<void>;
}

/** `fail` is called when a file could not be synced: then it is unknown what the disk holds. */
export function checkpointsOf(
  writer: Database.Database,
  { exclusively, fail, bulk }: { exclusively: Exclusively; fail: (error: unknown) => StoreError; bulk: boolean },
): Checkpoints {
  const { enough, most } = bulk ? BULK : USUAL;
  // It only counts the frames.
  const count = writer.prepare<[], { log: number }>("PRAGMA wal_checkpoint(NOOP)");
  const thread = checkpointThread(writer.name, fail);
  let underway: Promise<unknown> | null = null;
  let due = enough;
  let frames = 0;

  async function checkpoint(): Promise<void> {
    try {
      await thread.run("copy");
      // Most pages reach the disk now, beside writers, and few are left for the step that they wait for.
      await syncFile(openPages(writer.name).descriptor).catch((error: unknown) => Promise.reject(fail(error)));
      // Writes wait meanwhile: of large transactions there is all of one to move, so only where the WAL is nearly full.
      if (!bulk || frames >= most - enough) frames = await exclusively(() => thread.run("restart"));
      // Where a reader is in the way the next attempt comes later.
      due = frames < enough ? enough : frames + enough;
    } catch {
      // The WAL holds all of it still. A disk that fails is reported by the next write.
      due += enough;
    } finally {
      underway = null;
    }
  }

  return {
    committed() {
      frames = count.get()?.log ?? 0;
      if (frames >= due) underway ??= checkpoint();
    },
    async room() {
      if (frames >= most) await underway;
    },
    shrink() {
      const size = statSync(`${writer.name}-wal`, { throwIfNoEntry: false })?.size ?? 0;
      if (size > WAL_BOUND) underway ??= checkpoint();
    },
    async without(work) {
      while (underway !== null) await underway;
      const working = work();
      const end = () => {
        underway = null;
      };
      underway = working.then(end, end);
      return working;
    },
    async close() {
      thread.hold();
      while (underway !== null) await underway;
      await thread.end();
    },
  };
}

/** The thread of one store, started with its first step. */
function checkpointThread(file: string, fail: (error: unknown) => StoreError) {
  let worker: Worker | null = null;
  return {
    /** Frames that the WAL holds after it. */
    async run(step: CheckpointStep): Promise<number> {
      worker ??= startThread(file, () => {
        worker = null;
      });
      worker.postMessage(step);
      // What the thread posts; rejects when the thread fails.
      const [result] = (await once(worker, "message")) as [CheckpointResult];
      if ("frames" in result) return result.frames;
      const error = Object.assign(new Error(result.message), { code: result.code });
      throw result.code.endsWith("FSYNC") ? fail(error) : error;
    },
    /** Keeps the process running for what is under way. */
    hold: () => void worker?.ref(),
    async end(): Promise<void> {
      if (worker === null) return;
      const ended = once(worker, "exit");
      worker.postMessage("close" satisfies CheckpointStep);
      await ended;
    },
  };
}

/** Started with the first checkpoint; it does not keep the process running. `failed`: it has ended by itself. */
function startThread(file: string, failed: () => void): Worker {
  const workerData: CheckpointWork = { file, bound: WAL_BOUND };
  const worker = new Worker(threadFile(import.meta.url, "checkpoint"), { workerData });
  worker.on("error", failed);
  worker.unref();
  return worker;
}
