import type { Checked } from "../kernel/checked.ts";
import { counted } from "../kernel/counted.ts";
import { plainDigits, visibleText } from "../kernel/iccid.ts";
import { type DateOrder, isDayColumn, isoDay } from "./dates.ts";
import type { Delimiter } from "./delimiter.ts";
import { printable } from "./error.ts";
import type { CsvRecord } from "./parse.ts";

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

/** A row that is good may have something doubtful about it, in words like a reason's. */
export type CheckedRow<T> = Checked<T> & { warnings?: readonly string[] };

/** How the records below a header are read. */
export interface RowForm<C extends string> {
  columns: readonly C[];
  /** The names as they are in the file. */
  names: readonly string[];
  positions: ReadonlyMap<C, number>;
  /** The values of columns that the file lacks. */
  constants?: ReadonlyMap<C, string>;
  delimiter: Delimiter;
  /** The order of its dates where they are not YYYY-MM-DD. */
  dates: DateOrder | undefined;
}

/** Makes a row of each record below the header. */
export function rowReader<C extends string>(form: RowForm<C>): (record: CsvRecord) => CsvRow<C> {
  const places = placesOf(form);
  return (record) => toRow(record, form, places);
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

function placesOf<C extends string>({ columns, positions, dates }: RowForm<C>): ColumnPlace<C>[] {
  return columns.map((column) => ({
    column,
    at: positions.get(column) ?? -1,
    order: isDayColumn(column) ? dates : undefined,
    digits: DIGITS.includes(column),
  }));
}

function toRow<C extends string>(record: CsvRecord, form: RowForm<C>, places: readonly ColumnPlace<C>[]): CsvRow<C> {
  const values: Partial<Record<C, string>> = {};
  for (const { column, at, order, digits } of places) {
    const cell = record.fields[at] ?? form.constants?.get(column) ?? "";
    const value = digits ? plainDigits(cell) : visibleText(cell);
    values[column] = order === undefined ? value : isoDay(value, order);
  }
  // The loop above gave every column of the spec a value.
  return {
    line: record.line,
    values: values as Record<C, string>,
    raw: record.fields,
    fault: fieldFault(record, form),
  };
}

const DELIMITER_WORDS: Readonly<Record<Delimiter, string>> = { ",": "comma", ";": "semicolon", "\t": "tab" };

/** A row that is too short may be cut off, one that is too long holds a delimiter that should have been quoted. */
function fieldFault(
  { fields }: CsvRecord,
  { names, delimiter }: Pick<RowForm<string>, "names" | "delimiter">,
): string | null {
  const wanted = names.length;
  const surplus = fields.slice(wanted).some((field) => field.trim() !== "");
  if (fields.length >= wanted && !surplus) return null;
  const counts = `has ${counted(fields.length, "field")} where the header has ${wanted}`;
  if (surplus) return `${counts}: a ${DELIMITER_WORDS[delimiter]} within a value needs quotes around the value`;
  // Without quotes around it: the reason goes into a cell of the rejected file.
  return `${counts}: it ends before ${printable(names[fields.length] ?? "")}`;
}
