import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import envPaths from "env-paths";
import { dataDirectory } from "../../core/store/data-directory.ts";
import { logFiles } from "../../daemon/log/log-file.ts";
import { CliError } from "../kernel/errors.ts";
import type { Place } from "../place/place.ts";

/** A line of the daemon's log. */
export type LogRecord = Record<string, unknown>;

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

const NOWHERE: LogPosition = { inode: -1, offset: 0 };

/** The last `most` lines of all the log that is kept in `folder`; with `requestId` only those of that request. */
export async function lastRecords(
  folder: string,
  { most, requestId }: { most: number; requestId?: string | undefined },
): Promise<LogRead> {
  const seen = new Set<number>();
  let found: LogRecord[] = [];
  let end: LogPosition | null = null;
  // From new to old, until there are enough.
  for (const path of logFiles(folder)) {
    if (found.length >= most) break;
    const part = await readPart(path, NOWHERE, requestId);
    // A file that is rotated meanwhile appears a second time under its new name.
    if (part === null || seen.has(part.end.inode)) continue;
    seen.add(part.end.inode);
    end ??= part.end;
    found = [...part.records.slice(-most), ...found].slice(-most);
  }
  return { records: found, end };
}

/** What has been written since `from`, also over the change to a new file. */
async function recordsSince(
  folder: string,
  from: LogPosition,
  requestId?: string | undefined,
): Promise<LogRead & { end: LogPosition }> {
  const parts: { records: LogRecord[]; end: LogPosition }[] = [];
  for (const path of logFiles(folder)) {
    const part = await readPart(path, from, requestId);
    if (part === null || parts.some(({ end }) => end.inode === part.end.inode)) continue;
    parts.push(part);
    // Those before it were read to their end.
    if (part.end.inode === from.inode) break;
  }
  // Where the file is gone, what is older than the newest cannot be distinguished from what was read.
  const known = parts.some(({ end }) => end.inode === from.inode);
  const fresh = known ? parts : parts.slice(0, 1);
  return { records: fresh.toReversed().flatMap(({ records }) => records), end: fresh[0]?.end ?? from };
}

const LOOK_MS = 250;

/** Calls `each` with what comes in after `from`, until `signal` ends it. */
export async function followRecords(
  folder: string,
  { from, requestId, signal }: { from: LogPosition | null; requestId?: string | undefined; signal: AbortSignal },
  each: (records: LogRecord[]) => void,
): Promise<void> {
  let at = from ?? NOWHERE;
  while (!signal.aborted) {
    const { records, end } = await recordsSince(folder, at, requestId);
    at = end;
    each(records);
    await pause(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** A file's whole lines; those after `from` where it is the file that this means. Null: there is no such file. */
async function readPart(
  path: string,
  from: LogPosition,
  requestId: string | undefined,
): Promise<{ records: LogRecord[]; end: LogPosition } | null> {
  const file = await openIfThere(path);
  if (file === null) return null;
  try {
    const { ino: inode, size } = await file.stat();
    const start = inode === from.inode && from.offset <= size ? from.offset : 0;
    const text = Buffer.alloc(size - start);
    await file.read(text, 0, text.length, start);
    // The last line may be on its way still.
    const whole = text.subarray(0, text.lastIndexOf(0x0a) + 1);
    return { records: recordsIn(whole.toString(), requestId), end: { inode, offset: start + whole.length } };
  } finally {
    await file.close();
  }
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, "r");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw new CliError(
      "log_unreadable",
      `Cannot read the log ${path}: ${code ?? error}.`,
      "Act as the user that esimctl serve runs as.",
    );
  }
}

function recordsIn(text: string, requestId: string | undefined): LogRecord[] {
  // Most files hold no line of the request: they are not parsed.
  if (requestId !== undefined && !text.includes(requestId)) return [];
  const lines = text.split("\n").filter((line) => line !== "" && (requestId === undefined || line.includes(requestId)));
  return lines.map(toRecord).filter((record) => requestId === undefined || record.request_id === requestId);
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

/**
 * Where the daemon of a place keeps its log: beside the data; for a database, which has no place for it, in the folder
 * that the system has for the user's logs, under the name of the database.
 */
export function logFolder(place: Place): string {
  if (place.kind === "directory") return dataDirectory(place.path).logs;
  const url = URL.parse(place.url);
  const name = `${url?.host ?? ""}${url?.pathname ?? ""}`.replaceAll(/[^\w.-]+/g, "-");
  return join(envPaths("esimctl", { suffix: "" }).log, name === "" ? "database" : name);
}
