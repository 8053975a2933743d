import { pipeline } from "node:stream";
import { Parser, CsvError as ParserError, type CsvErrorCode as ParserErrorCode } from "csv-parse";
import { unguardCell } from "../kernel/formula.ts";
import { CsvError, type CsvPlace, columnName, isSystemFault, systemReason } from "./error.ts";
import type { Delimiter } from "./scan.ts";

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
 * The records of a file, header first; records whose fields are all blank are left out. Blanks around unquoted fields
 * are dropped. Throws `csv_invalid` naming line and column where the quoting is broken.
 */
export async function* parseRecords(
  label: string,
  chunks: AsyncIterable<Buffer>,
  { delimiter, firstLine }: Form,
): AsyncGenerator<CsvRecord> {
  const place: Place = { line: firstLine, header: null };
  const parser = new Parser({
    bom: true,
    delimiter,
    max_record_size: MAX_RECORD_CHARACTERS,
    on_record: (fields) => note(place, fields),
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
    trim: true,
  });
  // Every fault ends in the parser, and so in the loop below.
  pipeline(chunks, parser, () => undefined);
  const records: AsyncIterable<string[]> = parser;
  try {
    for await (const fields of records) yield { line: Number(fields.pop()), fields: fields.map(unguardCell) };
  } catch (fault) {
    throw explain(label, place, fault);
  }
}

/** The line that the next record begins on, and the names of the columns once they were read. */
interface Place {
  line: number;
  header: string[] | null;
}

/**
 * Counts lines as records complete: the parser's own count takes a CRLF inside quotes twice, and records it has read
 * but not yet handed out are lost when it fails. The line travels as the last field.
 */
function note(place: Place, fields: string[]): string[] | null {
  const line = place.line;
  place.line += 1;
  for (const field of fields) place.line += lineBreaks(field);
  if (fields.every((field) => field.trim() === "")) return null;
  place.header ??= [...fields];
  fields.push(String(line));
  return fields;
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
    for await (const record of parseRecords(label, withMark(chunks), form)) {
      header ??= record.fields;
      last = record;
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
