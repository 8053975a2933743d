import { counted } from "../../core/kernel/counted.ts";
import { plainDigits, visibleText } from "../../core/kernel/iccid.ts";
import { type Advice, collectAdvice } from "./advice.ts";
import { type DateOrder, isDayColumn, isoDay } from "./dates.ts";
import { decoded, without } from "./encoding.ts";
import { CsvError, printable } from "./error.ts";
import { type CsvHeader, type CsvSpec, type HeaderHelp, matchHeader, refuseTitle } from "./header.ts";
import { type CsvRecord, type Form, locate, parseRecords } from "./parse.ts";
import { type Delimiter, detectDelimiter, findTextFault, separatorLine } from "./scan.ts";
import { openSource, type Source, type SourceOptions } from "./source.ts";

/** How much of the file may pass before the header's line ends. */
const HEAD_BYTES = 64 * 1024;

/** How many lines a title and remarks above the header may have, to be named as such. */
const LINES_ABOVE = 10;

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
      suggestions: advice.suggestions,
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
  const what = first === undefined ? "the file is empty" : "there are no rows below the header";
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
  const { source, form } = reading;
  const places = placesOf(reading);
  let isHeader = true;
  for await (const records of parseRecords(source.label, source.chunks(), form)) {
    const rows = (isHeader ? records.slice(1) : records).map((record) => toRow(record, reading, places));
    isHeader &&= records.length === 0;
    for (const row of rows) advice?.see(row.line, row.values);
    yield rows;
  }
}

async function* oneByOne<C extends string>(pieces: AsyncIterable<readonly CsvRow<C>[]>): AsyncGenerator<CsvRow<C>> {
  for await (const rows of pieces) yield* rows;
}

/** Where a column's value is in a record; -1: nowhere. */
interface ColumnPlace<C extends string> {
  column: C;
  at: number;
  /** The order of its dates, where it has any that are not YYYY-MM-DD. */
  order: DateOrder | undefined;
  /** Whether its digits alone are meant, however they are spaced. */
  digits: boolean;
}

const DIGITS: readonly string[] = ["iccid", "eid"];

function placesOf<C extends string>({ spec, header, dates }: Reading<C>): ColumnPlace<C>[] {
  return spec.columns.map((column) => ({
    column,
    at: header.positions.get(column) ?? -1,
    order: isDayColumn(column) ? dates : undefined,
    digits: DIGITS.includes(column),
  }));
}

function toRow<C extends string>(record: CsvRecord, reading: Reading<C>, places: readonly ColumnPlace<C>[]): CsvRow<C> {
  const values: Partial<Record<C, string>> = {};
  for (const { column, at, order, digits } of places) {
    const cell = record.fields[at] ?? reading.header.constants.get(column) ?? "";
    const value = digits ? plainDigits(cell) : visibleText(cell);
    values[column] = order === undefined ? value : isoDay(value, order);
  }
  // The loop above gave every column of the spec a value.
  return {
    line: record.line,
    values: values as Record<C, string>,
    raw: record.fields,
    fault: fieldFault(record, reading),
  };
}

const DELIMITER_WORDS: Readonly<Record<Delimiter, string>> = { ",": "comma", ";": "semicolon", "\t": "tab" };

/** A row that is too short may be cut off, one that is too long holds a delimiter that should have been quoted. */
function fieldFault<C extends string>({ fields }: CsvRecord, { header, form }: Reading<C>): string | null {
  const wanted = header.raw.length;
  const surplus = fields.slice(wanted).some((field) => field.trim() !== "");
  if (fields.length >= wanted && !surplus) return null;
  const counts = `has ${counted(fields.length, "field")} where the header has ${wanted}`;
  if (surplus) return `${counts}: a ${DELIMITER_WORDS[form.delimiter]} within a value needs quotes around the value`;
  // Without quotes around it: the reason goes into a cell of the rejected file.
  return `${counts}: it ends before ${printable(header.raw[fields.length] ?? "")}`;
}
