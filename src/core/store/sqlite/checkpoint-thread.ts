import { parentPort, workerData } from "node:worker_threads";
import Database from "better-sqlite3";

/**
 * `copy` moves what readers and syncs allow from the WAL into the file, beside writers. `restart` moves the rest and
 * lets the WAL begin from its start again; nothing may write meanwhile. `close` ends the thread.
 */
export type CheckpointStep = "copy" | "restart" | "close";
/** Frames that the WAL holds after the step, or SQLite's code of what failed. */
export type CheckpointResult = { frames: number } | { code: string; message: string };

/** What the thread is started with: the database file, and the size that its WAL comes back to (bytes). */
export interface CheckpointWork {
  file: string;
  bound: number;
}

// Its starter passes it.
const { file, bound }: CheckpointWork = workerData;
const connection = new Database(file, { fileMustExist: true, timeout: 0 });
connection.pragma("synchronous = FULL");
connection.pragma("wal_autocheckpoint = 0");
connection.pragma(`journal_size_limit = ${bound}`);
// Checkpoints read no pages through it.
connection.pragma("cache_size = 10");

/** Frames of the WAL, and how many of them are in the file. */
function checkpoint(mode: "PASSIVE" | "NOOP"): { log: number; checkpointed: number } {
  // One row of this shape, as SQLite documents it.
  const [row] = connection.pragma(`wal_checkpoint(${mode})`) as { log: number; checkpointed: number }[];
  return row ?? { log: 0, checkpointed: 0 };
}

function run(step: "copy" | "restart"): CheckpointResult {
  try {
    const { log, checkpointed } = checkpoint("PASSIVE");
    if (step === "copy" || log !== checkpointed) return { frames: log };
    // The first commit after that writes the WAL's header and waits for the disk: here, not in the event loop. Nothing
    // reads this number; SQLite does not write what stays as it is.
    const number = Number(connection.pragma("user_version", { simple: true }));
    connection.pragma(`user_version = ${(number + 1) % 2 ** 31}`);
    return { frames: checkpoint("NOOP").log };
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
    return { code: error.code, message: error.message };
  }
}

parentPort?.on("message", (step: CheckpointStep) => {
  if (step !== "close") return parentPort?.postMessage(run(step));
  connection.close();
  parentPort?.close();
});
