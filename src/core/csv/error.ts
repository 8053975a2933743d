/**
 * Why a CSV file is refused: it cannot be read, it is not what it should be, it changed while it was being read, or its
 * bad rows cannot be written down.
 */
export type CsvErrorCode = "csv_unreadable" | "csv_invalid" | "csv_changed" | "csv_unwritable";

/** Where in a file: a line counted from 1, and a column as `columnName` writes it. */
export interface CsvPlace {
  line?: number;
  column?: string;
}

/**
 * A file that cannot be imported, in words for the person who sent it: what and where in `message`, what to do in
 * `hint`. It never quotes a value, since values may be identity data.
 */
export class CsvError extends Error {
  readonly code: CsvErrorCode;
  readonly hint: string;
  readonly line: number | null;
  readonly column: string | null;

  constructor(code: CsvErrorCode, file: string, what: string, hint: string, place: CsvPlace = {}, cause?: unknown) {
    const line = place.line === undefined ? "" : `, line ${place.line}`;
    const column = place.column === undefined ? "" : `, column ${place.column}`;
    super(`${file}${line}${column}: ${what}.`, { cause });
    this.name = "CsvError";
    this.code = code;
    this.hint = hint;
    this.line = place.line ?? null;
    this.column = place.column ?? null;
  }
}

/** Text from a file or a path made fit for a terminal: no control characters, at most 60 characters. */
export function printable(text: string): string {
  const clean = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").trim();
  return clean.length > 60 ? `${clean.slice(0, 59)}…` : clean;
}

/** A column (counted from 0) as messages name it: by its header in quotes, or by its number where it has none. */
export function columnName(header: readonly string[] | null, index: number): string {
  const name = printable(header?.[index] ?? "");
  return name === "" ? String(index + 1) : `"${name}"`;
}

const reasons: Record<string, string> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EISDIR: "this is a directory, not a file",
  ERR_FS_EISDIR: "this is a directory, not a file",
  EEXIST: "something else was put in its place",
  EACCES: "permission denied",
  EPERM: "permission denied",
  ENOSPC: "no space left on the disk",
  EROFS: "the disk is read-only",
};

/** The words for a fault of the file system, e.g. "permission denied". */
export function systemReason(fault: unknown): string {
  const code = fault instanceof Error && "code" in fault ? String(fault.code) : "";
  return reasons[code] ?? `the system says ${code === "" ? String(fault) : code}`;
}

/** Whether `fault` comes from the operating system (it has an errno code), not from a mistake in the program. */
export function isSystemFault(fault: unknown): fault is NodeJS.ErrnoException {
  return fault instanceof Error && "code" in fault && "syscall" in fault;
}
