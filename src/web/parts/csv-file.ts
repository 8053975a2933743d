import { refusingUnread, SENT_FILE } from "../../core/csv/sent-file.ts";
import { readRecords } from "../../core/csv/table.ts";
import { visibleText } from "../../core/kernel/iccid.ts";
import { invalid } from "../../core/kernel/problem.ts";
import type { Form } from "../session/visit.ts";
import { FILE_FIELD, uploadedText } from "./upload.ts";

/** The most rows and KiB of a file that a page takes where it says nothing else; larger ones go in by the terminal. */
export const MOST_ROWS = 500;
const MOST_KIB = 400;

/** A file as large as a form may send. */
export const LARGE_FILE = { mostKib: 16 * 1024 } as const;

/** What a page takes of a file. */
export interface FileShape<C extends string> {
  /** Its columns; left out, it may have any, and rows that end early, and none that is too long. */
  columns?: readonly C[];
  /** Columns that have to be there; of several together, one. */
  needs?: readonly (string | readonly string[])[];
  mostRows?: number;
  mostKib?: number;
}

/** A row: the line on which it begins, its values by column ("" for none), and what is wrong with its shape. */
export interface FileRow<C extends string> {
  line: number;
  values: Readonly<Record<C, string>>;
  fault: string | null;
}

/** The rows of the CSV file that a form sent, see `csvRows`, and its encoding. Throws `validation` for none such. */
export async function readCsvFile<C extends string>(form: Form, shape: FileShape<C>) {
  const { text, encoding } = await uploadedText(form, shape.mostKib ?? MOST_KIB);
  return { rows: await csvRows(text, shape), encoding };
}

/**
 * The rows of a CSV text, its columns by name in any order. Throws `validation` for what is none, and for a column that
 * is unknown: it may be one that is written differently, and would be missing.
 */
async function csvRows<C extends string>(text: string, shape: FileShape<C>): Promise<FileRow<C>[]> {
  const { columns, mostRows = MOST_ROWS } = shape;
  const { records: all } = await refusingUnread(readRecords(SENT_FILE, text));
  const [head, ...records] = all;
  const names = (head?.fields ?? []).map(nameOf);
  requireColumns(names, shape);
  if (records.length === 0) throw wrong("has no rows under its header");
  if (records.length > mostRows) throw wrong(`has more than ${mostRows} rows: split it, or import it in the terminal`);
  return records.map(({ line, fields }) => {
    if (columns === undefined && fields.length > names.length) {
      throw wrong(`is no CSV: line ${line} has ${fields.length} values, and the header ${names.length} columns`);
    }
    const cellOf = (column: string) => [column, visibleText(fields[names.indexOf(column)] ?? "")];
    const isWhole = fields.length === names.length || columns === undefined;
    const fault = isWhole ? null : `has ${fields.length} values, and the header ${names.length} columns`;
    const values = Object.fromEntries((columns ?? names).map(cellOf));
    return { line, values: values as Record<C, string>, fault }; // every column has its value
  });
}

function requireColumns(names: readonly string[], { columns, needs = [] }: FileShape<string>): void {
  const missing = needs.filter((need) => ![need].flat().some((name) => names.includes(name)));
  if (missing.length > 0) throw wrong(`has no column ${missing.map((need) => [need].flat().join(" or ")).join(", ")}`);
  const unknown = names.filter((name) => name !== "" && columns !== undefined && !columns.includes(name));
  if (columns !== undefined && unknown.length > 0) {
    throw wrong(`has unknown columns (${unknown.slice(0, 5).join(", ")}): it may have ${columns.join(", ")}`);
  }
  const twice = names.find((name, at) => name !== "" && names.indexOf(name) !== at);
  if (twice !== undefined) throw wrong(`has the column ${twice} twice`);
}

function wrong(words: string) {
  return invalid({ [FILE_FIELD]: [words] });
}

/** "Passport No" → "passport_no". */
function nameOf(title: string): string {
  return visibleText(title)
    .toLowerCase()
    .replace(/[\s.:-]+/gu, "_");
}
