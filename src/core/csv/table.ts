import { headerPlace } from "./columns.ts";
import { type Delimiter, detectDelimiter, separatorLine } from "./delimiter.ts";
import { CsvError } from "./error.ts";
import { type CsvRecord, parseRecords } from "./parse.ts";

/** A small file, read whole. */
export interface CsvTable {
  /** The names of its columns as they are in the file. */
  names: readonly string[];
  /** The records below the header. */
  records: readonly CsvRecord[];
  delimiter: Delimiter;
  /** Lines of a title above the header, which are left out. */
  above: number;
}

/** How many lines a title and remarks above the header may have. */
const LINES_ABOVE = 10;
const PIECE = 16 * 1024;

/** All records of a small file's text, header and what is above it included. Throws `csv_invalid`. */
export async function readRecords(
  label: string,
  text: string,
): Promise<{ records: CsvRecord[]; delimiter: Delimiter }> {
  const bytes = Buffer.from(text);
  const named = separatorLine(bytes);
  const body = bytes.subarray(named?.bytes ?? 0);
  const delimiter = named?.delimiter ?? detectDelimiter(text);
  const all: CsvRecord[] = [];
  const form = { delimiter, firstLine: named === null ? 1 : 2 };
  for await (const records of parseRecords(label, piecesOf(body), form)) all.push(...records);
  return { records: all, delimiter };
}

/**
 * Reads the text of a small file; `columns` are those whose names its header is known by. Throws `csv_invalid` where
 * the quoting is broken, or no row is there.
 */
export async function readTable(label: string, text: string, columns: readonly string[]): Promise<CsvTable> {
  const { records: all, delimiter } = await readRecords(label, text);
  const above = headerPlace(
    all.slice(0, LINES_ABOVE + 1).map(({ fields }) => fields),
    columns,
  );
  const header = all[above];
  if (header === undefined || all.length === above + 1) {
    const what = header === undefined ? "it is empty" : "there are no rows below the header";
    throw new CsvError("csv_invalid", label, what, `It must have rows of: ${columns.join(", ")}.`);
  }
  return { names: header.fields, records: all.slice(above + 1), delimiter, above };
}

async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
}
