import { Parser, CsvError as ParserError, type CsvErrorCode as ParserErrorCode } from "csv-parse";
import type { Delimiter } from "./delimiter.ts";
import { CsvError, type CsvPlace, columnName, isSystemFault, systemReason } from "./error.ts";
import { unguardCell } from "./formula.ts";

/** The longest record, in characters: a quote that is never closed must not use up the memory. */
const MAX_RECORD_CHARACTERS = 128 * 1024;

const DOUBLE_QUOTES = 'Put quotes around the whole value and double those inside it: "5"" screen".';
const CLOSE_QUOTES = "Close the quote that begins in this record.";

const faults: Partial<Record<ParserErrorCode, { what: string; hint: string }>> = {
  CSV_QUOTE_NOT_CLOSED: { what: "a quote is never closed", hint: CLOSE_QUOTES },
  CSV_MAX_RECORD_SIZE: { what: `the record is longer than ${MAX_RECORD_CHARACTERS} characters`, hint: CLOSE_QUOTES },
  CSV_INVALID_CLOSING_QUOTE: { what: "there is text behind a closing quote", hint: DOUBLE_QUOTES },
  CSV_NON_TRIMABLE_CHAR_AFTER_CLOSING_QUOTE: { what: "there is text behind a closing quote", hint: DOUBLE_QUOTES },
  INVALID_OPENING_QUOTE: { what: "there is a quote inside an unquoted value", hint: DOUBLE_QUOTES },
};

/** How a file is written: what is between its values, and the number of the line that its bytes begin with. */
export interface Form {
  delimiter: Delimiter;
  firstLine: number;
}

/** One record as it is meant (see formula.ts), and the line on which it begins, counted from 1. */
export interface CsvRecord {
  line: number;
  fields: string[];
}

/**
 * The records of a file as they are read, many at a time, header first; records whose fields are all blank are left
 * out. Blanks around unquoted fields are dropped. Throws `csv_invalid` naming line and column where the quoting is
 * broken, after the records that precede it.
 */
export async function* parseRecords(
  label: string,
  chunks: AsyncIterable<Buffer>,
  { delimiter, firstLine }: Form,
): AsyncGenerator<CsvRecord[]> {
  const place: Place = { line: firstLine, header: null };
  const unquoted = unquotedLines(chunks, delimiter);
  try {
    for await (const lines of unquoted.read()) yield lines.flatMap((fields) => note(place, fields, 1) ?? []);
    if (unquoted.rest !== null) yield* quotedRecords(unquoted.rest, delimiter, place);
  } catch (fault) {
    throw explain(label, place, fault);
  }
}

/** Characters of a line that is still split here; a longer one is the parser's to refuse. */
const MAX_LINE = MAX_RECORD_CHARACTERS / 2;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;

/**
 * The fields of all lines before the file's first quote; `rest` is then what follows, from the beginning of a line on.
 * Without quotes each line is a record, and splitting it takes a fifth of the parser's time.
 */
function unquotedLines(chunks: AsyncIterable<Buffer>, delimiter: Delimiter) {
  const unquoted = { read, rest: null as AsyncIterable<Buffer> | null };
  async function* read(): AsyncGenerator<string[][]> {
    const source = chunks[Symbol.asyncIterator]();
    let line: Buffer = Buffer.alloc(0);
    for (let next = await source.next(); next.done !== true; next = await source.next()) {
      const bytes = line.length === 0 ? next.value : Buffer.concat([line, next.value]);
      const end = bytes.lastIndexOf(LINE_FEED);
      line = bytes.subarray(end + 1);
      if (bytes.includes(QUOTE) || line.length > MAX_LINE) {
        unquoted.rest = joined(bytes, source);
        return;
      }
      if (end === -1) continue;
      const isCrLf = bytes[end - 1] === CARRIAGE_RETURN;
      yield linesOf(bytes.toString("utf8", 0, isCrLf ? end - 1 : end), delimiter);
    }
    if (line.length > 0) yield linesOf(line.toString("utf8"), delimiter);
  }
  return unquoted;
}

async function* joined(first: Buffer, others: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* { [Symbol.asyncIterator]: () => others };
}

function linesOf(text: string, delimiter: Delimiter): string[][] {
  const lines = text.split(text.includes("\r") ? /\r\n|\n|\r/ : "\n");
  return lines.map((line) => line.split(delimiter).map((field) => field.trim()));
}

/** Records by the parser. They are taken from it as it makes them: its stream of them costs as much as the parsing. */
async function* quotedRecords(
  chunks: AsyncIterable<Buffer>,
  delimiter: Delimiter,
  place: Place,
): AsyncGenerator<CsvRecord[]> {
  let records: CsvRecord[] = [];
  const parser = new Parser({
    bom: true,
    delimiter,
    max_record_size: MAX_RECORD_CHARACTERS,
    on_record(fields: string[]) {
      const lines = fields.reduce((sum, field) => sum + lineBreaks(field), 1);
      records.push(...(note(place, fields, lines) ?? []));
      return null;
    },
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
    trim: true,
  });
  // The callback of the chunk that has it gets the fault.
  parser.on("error", () => undefined);
  const take = () => {
    const taken = records;
    records = [];
    return taken;
  };
  try {
    for await (const chunk of plainQuotes(chunks, delimiter)) {
      await promised((done) => parser.write(chunk, done));
      yield take();
    }
    await promised((done) => parser.end(done));
  } catch (fault) {
    yield take();
    throw fault;
  }
  yield take();
}

/** Characters of `,="` that may be at the end of a chunk. */
const OPENING = 3;

/**
 * The same bytes with `="8944…"` as `"8944…"`: spreadsheets are made to keep all digits of a number so, which is no
 * CSV. Only before a digit: within a quoted value a single quote ends it, and no digit follows.
 */
async function* plainQuotes(chunks: AsyncIterable<Buffer>, delimiter: Delimiter): AsyncGenerator<Buffer> {
  const wrapped = new RegExp(`([\\r\\n${delimiter === "\t" ? "\\t" : delimiter}])="(?=\\d)`, "g");
  let held = "\n";
  let isFirst = true;
  for await (const chunk of chunks) {
    // One character a byte, so that any encoding passes unchanged.
    const text = (held + chunk.toString("latin1")).replace(wrapped, '$1"');
    held = text.slice(-OPENING);
    yield Buffer.from(text.slice(isFirst ? 1 : 0, -OPENING), "latin1");
    isFirst = text.length <= OPENING && isFirst;
  }
  yield Buffer.from(isFirst ? held.slice(1) : held, "latin1");
}

function promised(run: (done: (fault?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => run((fault) => (fault ? reject(fault) : resolve())));
}

/** The line that the next record begins on, and the names of the columns once they were read. */
interface Place {
  line: number;
  header: string[] | null;
}

/**
 * Counts lines as records complete: the parser's own count takes a CRLF inside quotes twice, and is ahead when it
 * fails. The record, as a list of one; null for a blank one.
 */
function note(place: Place, fields: string[], lines: number): [CsvRecord] | null {
  const { line } = place;
  place.line += lines;
  if (fields.every((field) => field.trim() === "")) return null;
  place.header ??= fields;
  return [{ line, fields: fields.map(unguardCell) }];
}

function lineBreaks(field: string): number {
  return field.includes("\n") || field.includes("\r") ? (field.match(/\r\n|\n|\r/g)?.length ?? 0) : 0;
}

function explain(label: string, place: Place, fault: unknown): unknown {
  if (isSystemFault(fault)) {
    return new CsvError("csv_unreadable", label, systemReason(fault), "Check the disk and its rights.", {}, fault);
  }
  const words = fault instanceof ParserError ? faults[fault.code] : undefined;
  if (!(fault instanceof ParserError) || words === undefined) return fault;
  const column = columnName(place.header, Number(fault.column));
  return new CsvError("csv_invalid", label, words.what, words.hint, { line: place.line, column });
}

/** The line and column of the byte `offset`, where a file stops being text. */
export async function locate(label: string, chunks: AsyncIterable<Buffer>, form: Form): Promise<CsvPlace> {
  let header: string[] | null = null;
  let last: CsvRecord | null = null;
  try {
    for await (const records of parseRecords(label, withMark(chunks), form)) {
      header ??= records[0]?.fields ?? null;
      last = records.at(-1) ?? last;
    }
  } catch (fault) {
    if (!(fault instanceof CsvError) || fault.line === null || fault.column === null) throw fault;
    return { line: fault.line, column: fault.column };
  }
  if (last === null) return {};
  // Within the header the names cannot be trusted.
  const names = header === last.fields ? null : header;
  return { line: last.line, column: columnName(names, last.fields.length - 1) };
}

/** A letter behind the last byte, so that the field it belongs to exists even if it is empty so far. */
async function* withMark(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* chunks;
  yield Buffer.from("x");
}
