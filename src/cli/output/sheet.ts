import { Chalk, type ChalkInstance, type ColorInfo, supportsColor, supportsColorStderr } from "chalk";
import Table from "cli-table3";
import { formatMoney } from "../../core/kernel/money.ts";
import { clean } from "./clean.ts";

/** One column of a table of T. */
export interface Column<T> {
  title: string;
  /** Null and "" show as a dash. */
  value(row: T, sheet: Sheet): string | number | null;
  align?: "left" | "right";
  /** May be cut short (with …) where the terminal is too narrow for everything. */
  shrinks?: boolean;
  /** Goes on in further lines there instead: nothing of it is ever cut. */
  wraps?: boolean;
  /** Left out there where that is still not enough, the last such column first. */
  spare?: boolean;
  /** Colours the whole cell. */
  paint?(sheet: Sheet, row: T): (text: string) => string;
}

/** What commands lay out their text output with. The drawing code is loaded when there is output. */
export interface Sheet {
  readonly paint: ChalkInstance;
  /** Columns of the terminal; Infinity where there is none. */
  readonly width: number;
  /**
   * Rows as a table, widths right for wide (CJK) characters. Too narrow a terminal cuts and wraps the columns that
   * allow it, then leaves out the spare ones; one that is still too narrow gets the rows one under the other, whole.
   * Without rows: the words of `empty`.
   */
  table<T>(columns: readonly Column<T>[], rows: readonly T[], empty: string): string;
  /** One record: a name and a value a line. */
  fields(record: Readonly<Record<string, string>>): string;
  /** "12.50 AUD": an amount of minor units with its currency's own decimals. */
  money(cents: number, currency: string): string;
}

/** The sheet of stdout or stderr: colours and a width only where it is a terminal. */
export function makeSheet(stream: NodeJS.WriteStream, { plain }: { plain: boolean }): Sheet {
  const support: ColorInfo = stream === process.stderr ? supportsColorStderr : supportsColor;
  const level = plain || !stream.isTTY || support === false ? 0 : support.level;
  const sheet: Sheet = {
    paint: new Chalk({ level }),
    width: stream.isTTY ? (stream.columns ?? 80) : Number.POSITIVE_INFINITY,
    table: (columns, rows, empty) => drawTable(sheet, columns, rows, empty),
    fields: (record) => drawFields(sheet, record),
    money: (cents, currency) => `${formatMoney(cents, currency)} ${currency}`,
  };
  return sheet;
}

/** The least that a cut column keeps, and a wrapped one; longer words of a wrapped one stay whole. */
const SMALLEST = 12;
const SMALLEST_WRAPPED = 24;
const GAP = "  ";
const NO_PADDING = { head: [], border: [], "padding-left": 0, "padding-right": 0 };
const NO_FRAME = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  right: "",
  "right-mid": "",
  mid: "",
  "mid-mid": "",
  middle: GAP,
};

/** See `Sheet.table`. */
export function drawTable<T>(sheet: Sheet, columns: readonly Column<T>[], rows: readonly T[], empty: string): string {
  if (rows.length === 0) return sheet.paint.dim(empty);
  if (sheet.width === Number.POSITIVE_INFINITY) return draw(sheet, columns, rows, []);
  for (let kept = columns; ; ) {
    const fitting = fittingWidths(sheet, kept, rows);
    if (fitting !== null) return draw(sheet, kept, rows, fitting);
    const spare = kept.findLastIndex((column) => column.spare === true);
    if (spare === -1) return stacked(sheet, columns, rows);
    kept = kept.toSpliced(spare, 1);
  }
}

/** The widths that the terminal has room for; null when it has not. */
function fittingWidths<T>(sheet: Sheet, columns: readonly Column<T>[], rows: readonly T[]): number[] | null {
  const widths = columnWidths(sheet, columns, rows);
  const least = columns.map((column, at) => leastWidth(sheet, column, rows, widths[at] ?? 0));
  const total = widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1);
  return shrink(widths, least, total - sheet.width);
}

function leastWidth<T>(sheet: Sheet, column: Column<T>, rows: readonly T[], width: number): number {
  if (column.shrinks === true) return Math.min(width, SMALLEST);
  if (column.wraps !== true) return width;
  const words = rows.flatMap((row) => plain(sheet, column, row).split(/\s+/));
  return Math.min(width, Math.max(SMALLEST_WRAPPED, widthOf(words)));
}

function draw<T>(sheet: Sheet, columns: readonly Column<T>[], rows: readonly T[], colWidths: number[]): string {
  const drawn = new Table({
    chars: NO_FRAME,
    style: NO_PADDING,
    head: columns.map((column) => sheet.paint.bold(column.title)),
    colAligns: columns.map((column) => column.align ?? "left"),
    colWidths,
  });
  for (const row of rows) {
    drawn.push(columns.map((column) => ({ content: painted(sheet, column, row), wordWrap: column.wraps === true })));
  }
  const lines = drawn.toString().split("\n");
  return lines.map((line) => line.trimEnd()).join("\n");
}

function columnWidths<T>(sheet: Sheet, columns: readonly Column<T>[], rows: readonly T[]): number[] {
  return columns.map((column) => widthOf([column.title, ...rows.map((row) => plain(sheet, column, row))]));
}

/** The widest of them as the library counts it: drawn alone, less the two border lines. */
function widthOf(texts: readonly string[]): number {
  const framed = new Table({ style: NO_PADDING });
  for (const text of texts) framed.push([text]);
  return framed.width - 2;
}

/** The widths that fit, the one furthest above its least made narrower first; null when they cannot. */
function shrink(widths: readonly number[], least: readonly number[], excess: number): number[] | null {
  const narrower = [...widths];
  for (let left = excess; left > 0; left -= 1) {
    const room = narrower.map((width, at) => width - (least[at] ?? width));
    const most = Math.max(...room);
    if (most <= 0) return null;
    const widest = room.indexOf(most);
    narrower[widest] = (narrower[widest] ?? 0) - 1;
  }
  return narrower;
}

function stacked<T>(sheet: Sheet, columns: readonly Column<T>[], rows: readonly T[]): string {
  const record = (row: T) => columns.map((column) => [column.title, painted(sheet, column, row)] as const);
  return rows.map((row) => drawFields(sheet, Object.fromEntries(record(row)))).join("\n\n");
}

function plain<T>(sheet: Sheet, column: Column<T>, row: T): string {
  const value = column.value(row, sheet);
  return value === null || value === "" ? "-" : clean(String(value));
}

function painted<T>(sheet: Sheet, column: Column<T>, row: T): string {
  const text = plain(sheet, column, row);
  return column.paint === undefined ? text : column.paint(sheet, row)(text);
}

/** See `Sheet.fields`. */
export function drawFields(sheet: Sheet, record: Readonly<Record<string, string>>): string {
  const width = Math.max(...Object.keys(record).map((name) => name.length));
  return Object.entries(record)
    .map(([name, value]) => `${sheet.paint.dim(name.padEnd(width))}${GAP}${value}`)
    .join("\n");
}
