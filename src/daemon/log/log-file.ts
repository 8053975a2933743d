import { appendFileSync } from "node:fs";
import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { makeDirectory } from "../../core/store/make-directory.ts";

/** A log on disk. A full or slow disk never blocks the caller that writes to it. */
export interface LogFile {
  /** Appends a line or several, each of which ends in a newline. */
  write(line: string): void;
  /** For the end of the process: writes what waits synchronously. */
  flushSync(): void;
  /** Writes what waits, then closes; a later line opens it again. */
  close(): Promise<void>;
}

interface LogFileOptions {
  /** Called with a message when lines cannot be written; called again only after some were written. */
  warn: (message: string) => void;
  /** The size from which a file is put aside. */
  maxBytes?: number;
}

/** Files kept: the one written to and those before it. */
const KEPT = 5;
const MAX_BYTES = 20 * 1024 * 1024;
/** Lines of this long go to disk together. */
const GATHER_MS = 200;
/** What may wait for a disk that does not answer (characters). */
const MOST_WAITING = 4 * 1024 * 1024;

/** The files of a log, the one written to first, then from new to old. */
export function logFiles(folder: string): string[] {
  return Array.from({ length: KEPT }, (_, age) => join(folder, age === 0 ? "serve.log" : `serve.${age}.log`));
}

/** Opens the log in `folder` (0700, its files 0600), which is made when the first line comes. */
export function openLogFile(folder: string, { warn, maxBytes = MAX_BYTES }: LogFileOptions): LogFile {
  const [path = ""] = logFiles(folder);
  const file = rotatingFile(folder, maxBytes);
  const hurry = new AbortController();
  let waiting: string[] = [];
  let size = 0;
  let lost = 0;
  let warned = false;
  let writing: Promise<void> | null = null;

  async function writeTogether(): Promise<void> {
    const [lines, missing] = [waiting, lost];
    const notice = missing === 0 ? "" : lostLine(missing);
    waiting = [];
    size = 0;
    try {
      await (await file.current()).appendFile(notice + lines.join(""));
      lost -= missing;
      warned = false;
    } catch (error) {
      lost += lines.length;
      if (!warned) warn(`The log ${path} cannot be written: ${reason(error)}. Serving goes on without it.`);
      warned = true;
    }
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      // Cut short when there is no time to gather any more.
      await pause(GATHER_MS, undefined, { signal: hurry.signal, ref: false }).catch(() => undefined);
      await writeTogether();
    }
    writing = null;
  }

  return {
    write(line) {
      if (size > MOST_WAITING) lost += 1;
      else {
        waiting.push(line);
        size += line.length;
        writing ??= drain();
      }
    },
    flushSync() {
      try {
        if (waiting.length > 0) appendSync(folder, waiting);
      } catch (error) {
        warn(`The end of the log ${path} is lost: ${reason(error)}.`);
      }
      waiting = [];
    },
    async close() {
      hurry.abort();
      while (writing !== null) await writing;
      await file.close();
    },
  };
}

function appendSync(folder: string, lines: readonly string[]): void {
  // The process may end before its first lines were written.
  makeDirectory(folder);
  const [path = ""] = logFiles(folder);
  appendFileSync(path, lines.join(""), { mode: 0o600 });
}

/** The file that is written to now. */
interface RotatingFile {
  current(): Promise<FileHandle>;
  close(): Promise<void>;
}

function rotatingFile(folder: string, maxBytes: number): RotatingFile {
  const [path = ""] = logFiles(folder);
  let opened: { handle: FileHandle; inode: number } | null = null;

  async function close(): Promise<void> {
    await opened?.handle.close();
    opened = null;
  }

  return {
    /** Opens it again when it is full, or when it was moved or removed. */
    async current() {
      const there = await stat(path).catch(() => null);
      const full = there !== null && there.size >= maxBytes;
      if (opened !== null && there?.ino === opened.inode && !full) return opened.handle;
      await close();
      makeDirectory(folder);
      if (full) await putAside(folder);
      const handle = await open(path, "a", 0o600);
      opened = { handle, inode: (await handle.stat()).ino };
      return handle;
    },
    close,
  };
}

/** The oldest goes, each other one becomes a file older. */
async function putAside(folder: string): Promise<void> {
  const files = logFiles(folder);
  await rm(files.at(-1) ?? "", { force: true });
  for (let age = files.length - 2; age >= 0; age--) {
    // Another daemon on the same database may do the same right now, and some of them are not there yet.
    await rename(files[age] ?? "", files[age + 1] ?? "").catch(unlessAbsent);
  }
}

/** Begins a line of its own, whatever a disk that filled up has left of the last one. */
function lostLine(lines: number): string {
  const record = { level: "warn", time: new Date().toISOString(), msg: `${lines} lines of this log were lost` };
  return `\n${JSON.stringify(record)}\n`;
}

function unlessAbsent(error: unknown): void {
  if (reason(error) !== "ENOENT") throw error;
}

function reason(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
