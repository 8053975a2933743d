import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { join, parse } from "node:path";
import { addedNames } from "../../core/csv/columns.ts";
import { encoderOf } from "../../core/csv/encoding.ts";
import { CsvError, isSystemFault, printable, systemReason } from "../../core/csv/error.ts";
import type { CsvRow } from "../../core/csv/rows.ts";
import { csvLine } from "../../core/csv/write.ts";
import { isStream } from "../kernel/streams.ts";
import type { CsvFile } from "./open.ts";
import { type ReasonGroup, tallyReasons } from "./reasons.ts";

const BUFFER_CHARACTERS = 64 * 1024;
/** Pieces of at most that, written at once. */
const PIECES = 64;

/** A row as it is written down; its values give the form of the one that a reason is about. */
export type RejectedRow = Pick<CsvRow, "line" | "raw"> & Partial<Pick<CsvRow, "values">>;

/** Where bad rows go. */
export interface RejectedFile {
  /** Adds a row in its own columns, with its line and the reasons. The first one creates the file. */
  reject(row: RejectedRow, reasons: readonly string[]): Promise<void>;
  /** The reasons so far, grouped. */
  reasons(): ReasonGroup[];
  /** Writes out what is left, all rows in the order of their source; its path, or null when nothing was rejected. */
  close(): Promise<string | null>;
}

/** `p.rejected.csv` beside `p.csv`; `stdin.rejected.csv` in `folder` for standard input and other streams. */
export async function rejectedPath(path: string, folder = ""): Promise<string> {
  if (path === "-" || (await isStream(path))) return join(folder, "stdin.rejected.csv");
  const { dir, name } = parse(path);
  return join(dir, `${name}.rejected.csv`);
}

/**
 * Takes the bad rows of `csv`, in the same form (encoding, delimiter, byte-order mark), mode 0600, with two columns
 * more. What an earlier run left there is removed at once. Throws `csv_unwritable` when it cannot be removed or
 * written.
 */
export async function rejectedFile(csv: CsvFile, folder = ""): Promise<RejectedFile> {
  const path = await rejectedPath(csv.path, folder);
  const names = csv.header.raw;
  const columns = [...names.keys()].filter((at) => !csv.header.added.has(at));
  let file: FileHandle | null = null;
  const records = recordList();
  const encode = await encoderOf(csv.encoding);
  let parts: Buffer[] = [];
  let waiting = 0;
  const add = (about: number, record: string) => {
    const bytes = encode(record);
    records.add(about, bytes.length);
    parts.push(bytes);
    waiting += bytes.length;
  };
  add(0, csvLine(csv, [...columns.map((at) => names[at] ?? ""), ...addedNames(csv.header.positions.keys())], csv.bom));
  const flush = async () => {
    // Created, never opened through a link that was put there meanwhile.
    file ??= await open(path, "wx+", 0o600);
    await file.appendFile(Buffer.concat(parts));
    parts = [];
    waiting = 0;
  };
  await orRefuse(path, rm(path, { force: true }));
  const tally = tallyReasons(csv.header.positions.keys());
  return {
    reasons: tally.groups,
    async reject(row, reasons) {
      tally.add(row.line, row.values, reasons);
      const surplus = row.raw.slice(names.length);
      const fields = columns.map((at) => row.raw[at] ?? "");
      add(row.line, csvLine(csv, [...fields, String(row.line), reasons.join("; "), ...surplus]));
      if (file === null || waiting > BUFFER_CHARACTERS) await orRefuse(path, flush());
    },
    async close() {
      if (file === null) return null;
      try {
        await orRefuse(path, flush());
        const sorted = records.sorted();
        if (sorted !== null) await orRefuse(path, rewrite(file, path, sorted));
      } finally {
        await file.close();
      }
      return path;
    },
  };
}

/** Puts another file of the same records in the place of `path`: what was refused late is among the others. */
async function rewrite(file: FileHandle, path: string, ranges: readonly Range[]): Promise<void> {
  const part = `${path}.part`;
  await rm(part, { force: true });
  const next = await open(part, "wx", 0o600);
  try {
    let text: Buffer[] = [];
    for (const { from, bytes } of ranges) {
      for (let at = 0; at < bytes; at += BUFFER_CHARACTERS) {
        const piece = Buffer.alloc(Math.min(BUFFER_CHARACTERS, bytes - at));
        await file.read(piece, 0, piece.length, from + at);
        text.push(piece);
        if (text.length < PIECES) continue;
        await next.appendFile(Buffer.concat(text));
        text = [];
      }
    }
    await next.appendFile(Buffer.concat(text));
  } finally {
    await next.close();
  }
  await rename(part, path);
}

async function orRefuse(path: string, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (fault) {
    if (!isSystemFault(fault)) throw fault;
    const hint = "Bad rows are written there: make it a place that may be written to.";
    throw new CsvError("csv_unwritable", printable(path), systemReason(fault), hint, {}, fault);
  }
}

/** Where the records of a file lie: a piece of it. */
interface Range {
  from: number;
  bytes: number;
}

/** The records of a file that is being written, each with the line it is about: 16 bytes a record. */
interface RecordList {
  /** The next record of the file. */
  add(line: number, bytes: number): void;
  /** The pieces of the file by the lines they are about; null when they lie so already. */
  sorted(): Range[] | null;
}

/** A list without records. */
function recordList(): RecordList {
  let lines = new Float64Array(256);
  let ends = new Float64Array(256);
  let count = 0;
  let inOrder = true;
  return {
    add(line, bytes) {
      if (count === lines.length) {
        lines = wider(lines);
        ends = wider(ends);
      }
      inOrder &&= count === 0 || line >= (lines[count - 1] ?? 0);
      lines[count] = line;
      ends[count] = (count === 0 ? 0 : (ends[count - 1] ?? 0)) + bytes;
      count += 1;
    },
    sorted() {
      if (inOrder) return null;
      const order = Uint32Array.from({ length: count }, (_, at) => at).sort(
        (a, b) => (lines[a] ?? 0) - (lines[b] ?? 0) || a - b,
      );
      const ranges: Range[] = [];
      for (const at of order) {
        const from = at === 0 ? 0 : (ends[at - 1] ?? 0);
        const bytes = (ends[at] ?? 0) - from;
        const last = ranges.at(-1);
        // What lies one after the other is one piece.
        if (last !== undefined && last.from + last.bytes === from) last.bytes += bytes;
        else ranges.push({ from, bytes });
      }
      return ranges;
    },
  };
}

function wider(array: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const next = new Float64Array(array.length * 2);
  next.set(array);
  return next;
}
