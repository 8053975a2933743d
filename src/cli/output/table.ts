import Table from "cli-table3";
import { clean } from "./clean.ts";
import type { Column, Sheet } from "./sheet.ts";

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
