import type { ExitCode } from "../kernel/exit-codes.ts";
import type { Column, Sheet } from "./sheet.ts";

/** The result of a command; the frame prints one of its two forms. */
export interface Result {
  /** The one JSON document of `--json`. */
  readonly json: unknown;
  /** What a person reads on stdout; an empty text prints nothing. */
  text(sheet: Sheet): string;
  /** A line for a person below the output, on stderr; none with --quiet. */
  readonly note?: string | undefined;
  /** The rows of a list, for --csv. */
  readonly rows?: readonly object[];
  /** Default 0. */
  readonly exitCode?: ExitCode;
}

/** The list of an operator's command: {data, count}, or a table. */
export function listResult<T extends object>(rows: readonly T[], columns: readonly Column<T>[], empty: string): Result {
  return { json: { data: rows, count: rows.length }, rows, text: (sheet) => sheet.table(columns, rows, empty) };
}

/** One record: itself as JSON, or a name and a value a line, and below it a line that says more. */
export function recordResult(
  json: unknown,
  record: (sheet: Sheet) => Readonly<Record<string, string>>,
  more?: string,
): Result {
  return { json, text: (sheet) => `${sheet.fields(record(sheet))}${more === undefined ? "" : `\n\n${more}`}` };
}
