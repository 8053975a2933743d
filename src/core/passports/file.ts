import { collectAdvice } from "../csv/advice.ts";
import { addedNames, addedPlaces, isMet, suggestedColumns } from "../csv/columns.ts";
import { type DateOrder, isDayColumn, tallyDates } from "../csv/dates.ts";
import type { Delimiter } from "../csv/delimiter.ts";
import { type CheckedRow, type CsvRow, rowReader } from "../csv/rows.ts";
import { refusingUnread, SENT_FILE } from "../csv/sent-file.ts";
import { type CsvTable, readTable } from "../csv/table.ts";
import { csvLine } from "../csv/write.ts";
import { type PassportField, passportNames, requiredFields } from "../kernel/identity-fields.ts";
import { invalid } from "../kernel/problem.ts";
import { type GoodRow, passportRows } from "./rows.ts";

/** What is read of a file that a person sends: more of it belongs to a program, or to the operator. */
export const FILE_LIMITS = { mebibytes: 2, rows: 5_000 } as const;

/** One row of a file, checked by itself and against the others. */
export interface PassportLine {
  row: CsvRow<PassportField>;
  checked: CheckedRow<GoodRow>;
}

/** A file of passports, read and checked; nothing of it is stored. */
export interface ReadPassports {
  /** Its own names of its columns. */
  names: readonly string[];
  delimiter: Delimiter;
  /** Lines above the header, which are left out. */
  above: number;
  /** Which of its columns is read as each of our columns, counted from 0. */
  positions: ReadonlyMap<PassportField, number>;
  /** The order of its dates where they are not YYYY-MM-DD. */
  dates: DateOrder | undefined;
  /** Rows with dates of which no order is known. */
  unclearDates: number;
  /** Needed columns that no column of it is; no row is checked while there are any. */
  missing: PassportField[];
  /** Its columns that are not read. */
  unread: string[];
  lines: PassportLine[];
  /** What its rows suggest to do. */
  suggestions: string[];
}

/** How a file is to be read; what is left out is recognized. */
export interface PassportReading {
  text: string;
  positions?: ReadonlyMap<PassportField, number> | undefined;
  /** Null: all dates are YYYY-MM-DD. */
  dates?: DateOrder | null | undefined;
  /** YYYY-MM-DD */
  today: string;
}

/** Reads and checks a file of passports. Throws `validation` for one that cannot be read. */
export async function readPassportFile({ text, today, ...asked }: PassportReading): Promise<ReadPassports> {
  const table = await refusingUnread(readTable(SENT_FILE, text, passportNames));
  const { names, records, delimiter, above } = table;
  const { rows: most } = FILE_LIMITS;
  if (records.length > most) throw invalid({ file: [`has more than ${most.toLocaleString("en")} rows: split it`] });
  const positions = asked.positions ?? suggestedColumns(names, passportNames);
  const known = datesOf(table, positions);
  const dates = asked.dates === undefined ? (known.order ?? undefined) : (asked.dates ?? undefined);
  const toRow = rowReader({ columns: passportNames, names, positions, delimiter, dates });
  const missing = requiredFields.filter((field) => !isMet<PassportField>(field, [positions]));
  const rows = missing.length > 0 ? [] : records.map(toRow);
  return {
    ...{ names, delimiter, above, positions, dates, missing },
    unclearDates: dates === undefined ? known.rows : 0,
    unread: unreadIn(names, positions),
    lines: checkAll(rows, today),
    suggestions: adviceOn(rows),
  };
}

function datesOf({ names, records, delimiter }: CsvTable, positions: ReadonlyMap<PassportField, number>) {
  const tally = tallyDates();
  const days = passportNames.filter(isDayColumn);
  const toRow = rowReader({ columns: days, names, positions, delimiter, dates: undefined });
  for (const record of records) tally.see(days, toRow(record).values);
  return { rows: tally.rows(), order: tally.order() };
}

function unreadIn(names: readonly string[], positions: ReadonlyMap<PassportField, number>): string[] {
  const read = new Set([...positions.values(), ...addedPlaces(names, positions)]);
  return names.filter((name, at) => name !== "" && !read.has(at));
}

function checkAll(rows: readonly CsvRow<PassportField>[], today: string): PassportLine[] {
  const { survey, check } = passportRows(today);
  for (const row of rows) if (row.fault === null) survey(row);
  return rows.map((row) => ({ row, checked: row.fault === null ? check(row) : { problems: [row.fault] } }));
}

function adviceOn(rows: readonly CsvRow<PassportField>[]): string[] {
  const advice = collectAdvice();
  for (const { line, values } of rows) advice.see(line, values);
  return advice.suggestions();
}

/** A row that was left out, and why. */
export interface RejectedPassport {
  line: number;
  raw: readonly string[];
  reasons: readonly string[];
}

/** The rows that were left out as a file in the form of theirs, which is read again once it is corrected. */
export function rejectedCsv(
  { names, delimiter, positions }: Pick<ReadPassports, "names" | "delimiter" | "positions">,
  rejected: readonly RejectedPassport[],
): string {
  const added = addedPlaces(names, positions);
  const kept = [...names.keys()].filter((at) => !added.has(at));
  const form = { delimiter };
  const header = csvLine(form, [...kept.map((at) => names[at] ?? ""), ...addedNames(positions.keys())], true);
  const lines = rejected.map(({ line, raw, reasons }) => {
    const fields = kept.map((at) => raw[at] ?? "");
    return csvLine(form, [...fields, String(line), reasons.join("; "), ...raw.slice(names.length)]);
  });
  return header + lines.join("");
}
