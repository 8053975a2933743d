import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { makeDirectory } from "../../core/platform/make-directory.ts";
import { logFiles, type RotatingFile, reason, rotatingFile } from "./rotating-file.ts";

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

const MAX_BYTES = 20 * 1024 * 1024;
/** Lines of this long go to disk together, or so many of them (bytes). */
const GATHER_MS = 200;
const ENOUGH = 256 * 1024;
/** At the end of the process: how long lines may take that a thread is appending, and how often they are looked for. */
const [LANDING_MS, LOOK_MS] = [500, 20];
/** What may wait for a disk that does not answer (bytes). */
const MOST_WAITING = 4 * 1024 * 1024;
/** Room for what waits, at first; and a room of which less than this part was used becomes as small again (bytes). */
const FIRST_ROOM = 64 * 1024;
const USED_PART = 1 / 8;

/** Lines on their way to the file. */
interface Queue extends Waiting {
  underway: Underway | null;
  /** Room for lines that come while others are written: one made for each time is garbage that V8 looks for early. */
  spare: Buffer;
  /** Lines that were not written, and of which the file does not say so yet. */
  lost: number;
  warned: boolean;
}

/** Lines as bytes: texts would be copied by each collection of young garbage until they are written. */
interface Waiting {
  /** The first `size` of these. */
  bytes: Buffer;
  size: number;
  /** How many lines. */
  lines: number;
}

const emptyRoom = () => Buffer.allocUnsafeSlow(FIRST_ROOM);
const nothingIn = (bytes: Buffer): Waiting => ({ bytes, size: 0, lines: 0 });

/** The room of lines that were written, for others to come. */
function roomAfter({ bytes, size }: Waiting): Buffer {
  return size < bytes.length * USED_PART && bytes.length > FIRST_ROOM ? emptyRoom() : bytes;
}

/** Opens the log in `folder` (0700, its files 0600), which is made when the first line comes. */
export function openLogFile(folder: string, { warn, maxBytes = MAX_BYTES }: LogFileOptions): LogFile {
  const [path = ""] = logFiles(folder);
  const file = rotatingFile(folder, maxBytes);
  /** Ends the time to gather. */
  let hurry = new AbortController();
  let closing = false;
  const queue: Queue = { ...nothingIn(emptyRoom()), spare: emptyRoom(), lost: 0, warned: false, underway: null };
  let writing: Promise<void> | null = null;

  async function drain(): Promise<void> {
    while (queue.size > 0) {
      hurry = new AbortController();
      const gathering = { signal: hurry.signal, ref: false };
      if (!closing && queue.size < ENOUGH) await pause(GATHER_MS, undefined, gathering).catch(() => undefined);
      await writeTogether(queue, file, (fault) => {
        warn(`The log ${path} cannot be written: ${fault}. Serving goes on without it.`);
      });
    }
    writing = null;
  }

  return {
    write(line) {
      if (queue.size > MOST_WAITING) queue.lost += 1;
      else {
        append(queue, line);
        writing ??= drain();
        if (queue.size >= ENOUGH) hurry.abort();
      }
    },
    flushSync() {
      try {
        appendSync(folder, [...leftOf(path, queue.underway), linesOf(queue)]);
      } catch (error) {
        warn(`The end of the log ${path} is lost: ${reason(error)}.`);
      }
      Object.assign(queue, nothingIn(emptyRoom()), { underway: null });
    },
    async close() {
      closing = true;
      hurry.abort();
      while (writing !== null) await writing;
      closing = false;
      await file.close();
    },
  };
}

function linesOf({ bytes, size }: Waiting): Buffer {
  return bytes.subarray(0, size);
}

function append(waiting: Waiting, line: string): void {
  // No character of a text is more than three bytes.
  const most = waiting.size + 3 * line.length;
  if (most > waiting.bytes.length) {
    const larger = Buffer.allocUnsafeSlow(Math.max(most, 2 * waiting.bytes.length));
    waiting.bytes.copy(larger, 0, 0, waiting.size);
    waiting.bytes = larger;
  }
  waiting.size += waiting.bytes.write(line, waiting.size);
  waiting.lines += 1;
}

/** Appends what waits; of several times in a row that it cannot `warn` hears the first. */
async function writeTogether(queue: Queue, file: RotatingFile, warn: (fault: string) => void): Promise<void> {
  const { lost, ...taken } = queue;
  const waiting = linesOf(taken);
  const lines = lost === 0 ? waiting : Buffer.concat([Buffer.from(lostLine(lost)), waiting]);
  const own: Underway = { lines, given: false };
  Object.assign(queue, nothingIn(queue.spare), { underway: own });
  try {
    const handle = await file.current();
    // Written at the end of the process meanwhile.
    if (queue.underway !== own) return;
    own.given = true;
    await handle.appendFile(own.lines);
    queue.lost -= lost;
    queue.warned = false;
  } catch (error) {
    queue.lost += taken.lines;
    if (!queue.warned) warn(reason(error));
    queue.warned = true;
  } finally {
    queue.spare = roomAfter(taken);
    if (queue.underway === own) queue.underway = null;
  }
}

/** What is being appended; `given` once one of Node's threads has it. */
interface Underway {
  lines: Buffer;
  given: boolean;
}

function appendSync(folder: string, parts: readonly Buffer[]): void {
  const lines = Buffer.concat(parts);
  if (lines.length === 0) return;
  // The process may end before its first lines were written.
  makeDirectory(folder);
  const [path = ""] = logFiles(folder);
  appendFileSync(path, lines, { mode: 0o600 });
}

/** What of the lines under way no thread writes. */
function leftOf(path: string, underway: Underway | null): Buffer[] {
  if (underway === null || (underway.given && hasLanded(path, underway.lines))) return [];
  return [underway.lines];
}

/** Whether lines that a thread is appending are in the file, which they are within a moment unless it hangs. */
function hasLanded(path: string, lines: Buffer): boolean {
  const idle = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; waited <= LANDING_MS; waited += LOOK_MS) {
    if (existsSync(path) && readFileSync(path).includes(lines)) return true;
    // The event loop has ended; its threads go on.
    Atomics.wait(idle, 0, 0, LOOK_MS);
  }
  return false;
}

/** Begins a line of its own, whatever a disk that filled up has left of the last one. */
function lostLine(lines: number): string {
  const record = { level: "warn", time: new Date().toISOString(), msg: `${lines} lines of this log were lost` };
  return `\n${JSON.stringify(record)}\n`;
}
