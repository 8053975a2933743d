import { type FileHandle, open } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { isAskedFor, type LogFilter, type LogRecord, textsOf } from "./filter.ts";
import { logFiles, reason } from "./rotating-file.ts";

/** How far the log was read: up to this byte of the file with this inode. */
export interface LogPosition {
  inode: number;
  offset: number;
}

/** Lines that were read, oldest first, and how far that was; null: there is no log yet. */
export interface LogRead {
  records: LogRecord[];
  end: LogPosition | null;
}

/** A file of the log cannot be read: which, why, and what to do. */
export class LogError extends Error {
  readonly code = "log_unreadable";
  readonly hint = "Act as the user that esimctl serve runs as.";

  constructor(path: string, cause: unknown) {
    super(`Cannot read the log ${path}: ${reason(cause)}.`, { cause });
    this.name = "LogError";
  }
}

const NOWHERE: LogPosition = { inode: -1, offset: 0 };

/** The last `most` lines that are asked for, of all the log that is kept in `folder`. */
export async function lastRecords(folder: string, { most, ...filter }: LogFilter & { most: number }): Promise<LogRead> {
  const seen = new Set<number>();
  let found: LogRecord[] = [];
  let end: LogPosition | null = null;
  // From new to old, until there are enough.
  for (const path of logFiles(folder)) {
    if (found.length >= most) break;
    const part = await openPart(path, NOWHERE);
    if (part === null) continue;
    try {
      // A file that is rotated meanwhile appears a second time under its new name.
      if (seen.has(part.inode)) continue;
      seen.add(part.inode);
      const { records, offset } = await lastOf(part, { most: most - found.length, filter });
      end ??= { inode: part.inode, offset };
      found = [...records, ...found];
    } finally {
      await part.file.close();
    }
  }
  return { records: found, end };
}

/** The last `most` lines of a part of the log, and where its last whole line ends. */
async function lastOf(
  part: LogPart,
  { most, filter }: { most: number; filter: LogFilter },
): Promise<{ records: LogRecord[]; offset: number }> {
  let kept: LogRecord[] = [];
  let offset = part.start;
  for await (const { records, next } of batchesOf(part, filter, most)) {
    kept = [...kept, ...records].slice(-most);
    offset = next;
  }
  return { records: kept, offset };
}

/** Opens what has been written since `from`, oldest first, also over the change to a new file. */
async function openUnread(folder: string, from: LogPosition): Promise<LogPart[]> {
  const parts: LogPart[] = [];
  for (const path of logFiles(folder)) {
    const part = await openPart(path, from);
    if (part === null) continue;
    if (parts.some(({ inode }) => inode === part.inode)) await part.file.close();
    else parts.push(part);
    // Those before it were read to their end.
    if (part.inode === from.inode) break;
  }
  // Where the file is gone, what is older than the newest cannot be distinguished from what was read.
  const known = parts.some(({ inode }) => inode === from.inode);
  const wanted = known ? parts : parts.slice(0, 1);
  for (const part of parts.slice(wanted.length)) await part.file.close();
  return wanted.toReversed();
}

const LOOK_MS = 250;

/** Calls `each` with what comes in after `from`, until `signal` ends it. */
export async function followRecords(
  folder: string,
  { from, signal, ...filter }: LogFilter & { from: LogPosition | null; signal: AbortSignal },
  each: (records: LogRecord[]) => void,
): Promise<void> {
  let at = from ?? NOWHERE;
  while (!signal.aborted) {
    const parts = await openUnread(folder, at);
    try {
      for (const part of parts) {
        at = { inode: part.inode, offset: part.start };
        for await (const { records, next } of batchesOf(part, filter)) {
          each(records);
          at = { inode: part.inode, offset: next };
        }
      }
    } finally {
      for (const { file } of parts) await file.close();
    }
    await pause(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** A file of the log that is open: its bytes from `start` up to `end`. */
interface LogPart {
  file: FileHandle;
  inode: number;
  start: number;
  end: number;
}

/** Opens a file; from where it was read to, if it is the file that `from` means. Null: there is no such file. */
async function openPart(path: string, from: LogPosition): Promise<LogPart | null> {
  const file = await openIfThere(path);
  if (file === null) return null;
  const { ino: inode, size: end } = await file.stat();
  return { file, inode, start: inode === from.inode && from.offset <= end ? from.offset : 0, end };
}

const CHUNK_BYTES = 256 * 1024;

/** A line that is longer is cut: no line of the daemon's is. */
const LONGEST_LINE = 1024 * 1024;

/** The whole lines of a part, some at a time (the last `most` of each), and where each batch ends. */
async function* batchesOf(
  { file, start, end }: LogPart,
  filter: LogFilter,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<{ records: LogRecord[]; next: number }> {
  let rest: Buffer = Buffer.alloc(0);
  for (let at = start; at < end; ) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(CHUNK_BYTES, end - at)), 0, null, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    const bytes = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
    // The last line may be on its way still.
    const whole = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
    rest = bytes.subarray(whole.length).subarray(0, LONGEST_LINE);
    if (whole.length > 0)
      yield { records: recordsIn(whole.toString(), filter, most), next: at - (bytes.length - whole.length) };
  }
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, "r");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(reason(error))) return null;
    throw new LogError(path, error);
  }
}

function recordsIn(text: string, filter: LogFilter, most: number): LogRecord[] {
  const within = textsOf(filter);
  const mayMatch = (part: string) => within.every((one) => part.includes(one));
  // Most text holds no line of a request: it is not parsed.
  if (!mayMatch(text)) return [];
  const lines = text.split("\n").filter((line) => line !== "" && mayMatch(line));
  if (Object.values(filter).every((one) => one === undefined)) return lines.slice(-most).map(toRecord);
  return lines.map(toRecord).filter((record) => isAskedFor(record, filter));
}

/** A line that a full disk cut off is shown as it is. */
function toRecord(line: string): LogRecord {
  try {
    const record: unknown = JSON.parse(line);
    if (typeof record === "object" && record !== null) return { ...record };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return { msg: line };
}
