import { type Advice, collectAdvice } from "../../core/csv/advice.ts";
import type { CsvSpec } from "../../core/csv/columns.ts";
import type { DateOrder } from "../../core/csv/dates.ts";
import { type Delimiter, detectDelimiter, separatorLine } from "../../core/csv/delimiter.ts";
import { CsvError } from "../../core/csv/error.ts";
import { type CsvRecord, type Form, locate, parseRecords } from "../../core/csv/parse.ts";
import { type CsvRow, rowReader } from "../../core/csv/rows.ts";
import { counted } from "../../core/kernel/counted.ts";
import { decoded, without } from "./encoding.ts";
import { type CsvHeader, type HeaderHelp, matchHeader, refuseTitle } from "./header.ts";
import { findTextFault } from "./scan.ts";
import { openSource, type Source, type SourceOptions } from "./source.ts";

/** How much of the file may pass before the header's line ends. */
const HEAD_BYTES = 64 * 1024;

/** How many lines a title and remarks above the header may have, to be named as such. */
const LINES_ABOVE = 10;

/** A CSV file that may be read row by row, as often as needed: each `for await` is a new pass from the start. */
export interface CsvFile<C extends string = string> extends AsyncIterable<CsvRow<C>> {
  /** The same, some rows at a time as they are read: a wait for each row takes as long as the row itself. */
  pieces(): AsyncIterable<readonly CsvRow<C>[]>;
  /** The path as given; `-` is standard input. */
  path: string;
  header: CsvHeader<C>;
  delimiter: Delimiter;
  /** Left out: UTF-8. */
  encoding?: string | undefined;
  /** Whether the file begins with a byte-order mark. */
  bom: boolean;
  /** What the rows of the first pass suggest to do, a sentence each. */
  suggestions(): string[];
  /** Throws `csv_changed` when the file is no longer the one that was opened. */
  assertUnchanged(): Promise<void>;
  /** Closes the file, and removes what was kept of standard input. */
  close(): Promise<void>;
}

/** How a file is to be read. */
export interface ReadingOptions extends SourceOptions, HeaderHelp {
  /** Its encoding where it is not UTF-8. */
  encoding?: string | undefined;
  /** The order of its dates where they are not YYYY-MM-DD. */
  dates?: DateOrder | undefined;
}

/**
 * Opens a CSV file for a command (`-`: standard input). Columns are found whatever their order, case, spaces,
 * underscores and hyphens; comma, semicolon and tab are recognized. Throws `CsvError` before any row is handed out
 * when the file is missing, not text in UTF-8, empty, without rows, or lacks a column; while rows are read, when its
 * quoting is broken. Memory does not grow with the file. Design: terminal, CSV in bulk.
 */
export async function openCsv<C extends string>(
  path: string,
  spec: CsvSpec<C>,
  options: ReadingOptions = {},
): Promise<CsvFile<C>> {
  const opened = await openSource(path, options);
  try {
    const plain = options.encoding === undefined ? opened : await decoded(opened, options.encoding);
    const head = await readHead(plain);
    const named = separatorLine(head);
    const source = named === null ? plain : without(plain, named.bytes);
    const delimiter = named?.delimiter ?? detectDelimiter(head.toString("utf8"));
    const form = { delimiter, firstLine: named === null ? 1 : 2 };
    await refuseOtherThanText(source, form);
    const header = await readHeader(source, form, spec, options);
    const reading = { source, form, header, spec, dates: options.dates };
    const advice = collectAdvice();
    let passes = 0;
    const pieces = () => {
      passes += 1;
      return readRows(reading, passes === 1 ? advice : null);
    };
    return {
      path,
      header,
      delimiter,
      encoding: options.encoding,
      bom: head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf,
      suggestions: () => [...dateAdvice(advice.dates), ...advice.suggestions()],
      assertUnchanged: opened.assertUnchanged,
      close: opened.close,
      pieces,
      [Symbol.asyncIterator]: () => oneByOne(pieces()),
    };
  } catch (fault) {
    await opened.close();
    throw fault;
  }
}

function dateAdvice({ rows, order }: Advice["dates"]): string[] {
  if (rows() === 0) return [];
  return [
    `${counted(rows(), "row")}: dates are not written as YYYY-MM-DD. Add --dates ${order() ?? "dmy, mdy or ymd"}.`,
  ];
}

async function readHead(source: Source): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const chunk of source.chunks(HEAD_BYTES)) parts.push(chunk);
  return Buffer.concat(parts);
}

async function refuseOtherThanText(source: Source, form: Form): Promise<void> {
  const fault = await findTextFault(source.chunks());
  if (fault === null) return;
  const place = await locate(source.label, source.chunks(fault.offset), form);
  throw new CsvError("csv_invalid", source.label, fault.what, fault.hint, place);
}

async function readHeader<C extends string>(
  source: Source,
  form: Form,
  spec: CsvSpec<C>,
  help: HeaderHelp,
): Promise<CsvHeader<C>> {
  const records: CsvRecord[] = [];
  for await (const read of parseRecords(source.label, source.chunks(), form)) {
    records.push(...read);
    if (records.length > LINES_ABOVE) break;
  }
  const [first, second] = records;
  refuseTitle(source.label, records.slice(0, LINES_ABOVE + 1), spec);
  if (first !== undefined && second !== undefined) return matchHeader(source.label, first, spec, help);
  if (first !== undefined) await matchHeader(source.label, first, spec, { map: help.map });
  const what = first === undefined ? "it is empty" : "there are no rows below the header";
  throw new CsvError("csv_invalid", source.label, what, `It must have rows of: ${spec.columns.join(", ")}.`);
}

/** A file that is open and whose header is known. */
interface Reading<C extends string> {
  source: Source;
  form: Form;
  header: CsvHeader<C>;
  spec: CsvSpec<C>;
  dates: DateOrder | undefined;
}

async function* readRows<C extends string>(reading: Reading<C>, advice: Advice | null): AsyncGenerator<CsvRow<C>[]> {
  const { source, form, header, spec, dates } = reading;
  const { raw: names, positions, constants } = header;
  const toRow = rowReader({ columns: spec.columns, names, positions, constants, delimiter: form.delimiter, dates });
  let isHeader = true;
  for await (const records of parseRecords(source.label, source.chunks(), form)) {
    const rows = (isHeader ? records.slice(1) : records).map(toRow);
    isHeader &&= records.length === 0;
    for (const row of rows) advice?.see(row.line, row.values);
    yield rows;
  }
}

async function* oneByOne<C extends string>(pieces: AsyncIterable<readonly CsvRow<C>[]>): AsyncGenerator<CsvRow<C>> {
  for await (const rows of pieces) yield* rows;
}
