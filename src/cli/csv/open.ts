import { CsvError } from "./error.ts";
import { type CsvHeader, type CsvSpec, matchHeader } from "./header.ts";
import { type CsvRecord, locate, parseRecords } from "./parse.ts";
import { type Delimiter, detectDelimiter, findTextFault } from "./scan.ts";
import { openSource, type Source, type SourceOptions } from "./source.ts";

/** How much of the file may pass before the header's line ends. */
const HEAD_BYTES = 64 * 1024;

/** One row below the header. */
export interface CsvRow<C extends string = string> {
  /** The line on which the row begins, counted from 1. */
  line: number;
  /** Every column the command reads, without blanks around it; "" where the file has none. */
  values: Record<C, string>;
  /** The row's fields as they are in the file, without the apostrophe that guards a formula. */
  raw: readonly string[];
  /** Why the row cannot be trusted, whatever its values say: it has not as many fields as the header. */
  fault: string | null;
}

/** A CSV file that may be read row by row, as often as needed: each `for await` is a new pass from the start. */
export interface CsvFile<C extends string = string> extends AsyncIterable<CsvRow<C>> {
  /** The path as given; `-` is standard input. */
  path: string;
  header: CsvHeader<C>;
  delimiter: Delimiter;
  /** Whether the file begins with a byte-order mark. */
  bom: boolean;
  /** Throws `csv_changed` when the file is no longer the one that was opened. */
  assertUnchanged(): Promise<void>;
  /** Closes the file, and removes what was kept of standard input. */
  close(): Promise<void>;
}

/**
 * Opens a CSV file for a command (`-`: standard input). Columns are found whatever their order, case, spaces,
 * underscores and hyphens; comma, semicolon and tab are recognised. Throws `CsvError` before any row is handed out
 * when the file is missing, not text in UTF-8, empty, without rows, or lacks a column; while rows are read, when its
 * quoting is broken. Memory does not grow with the file. Design: terminal, CSV in bulk.
 */
export async function openCsv<C extends string>(
  path: string,
  spec: CsvSpec<C>,
  options: SourceOptions = {},
): Promise<CsvFile<C>> {
  const source = await openSource(path, options);
  try {
    const head = await readHead(source);
    const delimiter = detectDelimiter(head.toString("utf8"));
    await refuseOtherThanText(source, delimiter);
    const header = await readHeader(source, delimiter, spec);
    return {
      path,
      header,
      delimiter,
      bom: head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf,
      assertUnchanged: source.assertUnchanged,
      close: source.close,
      [Symbol.asyncIterator]: () => readRows(source, delimiter, header, spec),
    };
  } catch (fault) {
    await source.close();
    throw fault;
  }
}

async function readHead(source: Source): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const chunk of source.chunks(HEAD_BYTES)) parts.push(chunk);
  return Buffer.concat(parts);
}

async function refuseOtherThanText(source: Source, delimiter: Delimiter): Promise<void> {
  const fault = await findTextFault(source.chunks());
  if (fault === null) return;
  const place = await locate(source.label, source.chunks(fault.offset), delimiter);
  throw new CsvError("csv_invalid", source.label, fault.what, fault.hint, place);
}

async function readHeader<C extends string>(
  source: Source,
  delimiter: Delimiter,
  spec: CsvSpec<C>,
): Promise<CsvHeader<C>> {
  let header: CsvHeader<C> | null = null;
  for await (const record of parseRecords(source.label, source.chunks(), delimiter)) {
    if (header !== null) return header;
    header = matchHeader(source.label, record, spec);
  }
  const what = header === null ? "the file is empty" : "there are no rows below the header";
  throw new CsvError("csv_invalid", source.label, what, `It must have rows of: ${spec.columns.join(", ")}.`);
}

async function* readRows<C extends string>(
  source: Source,
  delimiter: Delimiter,
  header: CsvHeader<C>,
  spec: CsvSpec<C>,
): AsyncGenerator<CsvRow<C>> {
  let isHeader = true;
  for await (const record of parseRecords(source.label, source.chunks(), delimiter)) {
    if (!isHeader) yield toRow(record, header, spec);
    isHeader = false;
  }
}

function toRow<C extends string>(record: CsvRecord, header: CsvHeader<C>, spec: CsvSpec<C>): CsvRow<C> {
  const values: Partial<Record<C, string>> = {};
  for (const column of spec.columns) {
    const position = header.positions.get(column);
    values[column] = position === undefined ? "" : (record.fields[position] ?? "").trim();
  }
  // The loop above gave every column of the spec a value.
  return {
    line: record.line,
    values: values as Record<C, string>,
    raw: record.fields,
    fault: fieldFault(record, header),
  };
}

/** A row that is too short may be cut off, one that is too long holds a delimiter that should have been quoted. */
function fieldFault<C extends string>(record: CsvRecord, header: CsvHeader<C>): string | null {
  const wanted = header.raw.length;
  const surplus = record.fields.slice(wanted).some((field) => field.trim() !== "");
  if (record.fields.length >= wanted && !surplus) return null;
  return `has ${record.fields.length} fields where the header has ${wanted}`;
}
