import Table from "cli-table3";
import { clean } from "./clean.ts";
import type { Column, Sheet } from "./sheet.ts";

const SMALLEST = 12;
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
  const widths = columnWidths(sheet, columns, rows);
  const total = widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1);
  const fitting = shrink(columns, widths, total - sheet.width);
  return fitting === null ? stacked(sheet, columns, rows) : draw(sheet, columns, rows, fitting);
}

function draw<T>(sheet: Sheet, columns: readonly Column<T>[], rows: readonly T[], colWidths: number[]): string {
  const drawn = new Table({
    chars: NO_FRAME,
    style: NO_PADDING,
    head: columns.map((column) => sheet.paint.bold(column.title)),
    colAligns: columns.map((column) => column.align ?? "left"),
    colWidths,
  });
  for (const row of rows) drawn.push(columns.map((column) => painted(sheet, column, row)));
  const lines = drawn.toString().split("\n");
  return lines.map((line) => line.trimEnd()).join("\n");
}

/** Display widths as the library counts them: each column drawn alone, less its two border lines. */
function columnWidths<T>(sheet: Sheet, columns: readonly Column<T>[], rows: readonly T[]): number[] {
  return columns.map((column) => {
    const framed = new Table({ style: NO_PADDING });
    framed.push([column.title], ...rows.map((row) => [plain(sheet, column, row)]));
    return framed.width - 2;
  });
}

/** The widths that fit, the widest that may shrink cut first; null when they cannot. */
function shrink<T>(columns: readonly Column<T>[], widths: readonly number[], excess: number): number[] | null {
  const narrower = [...widths];
  for (let left = excess; left > 0; left -= 1) {
    const room = narrower.map((width, at) => (columns[at]?.shrinks === true ? width - SMALLEST : 0));
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
