import Table from "cli-table3";
import measure from "fast-string-truncated-width";
import { wrapAnsi } from "fast-wrap-ansi";
import { clean } from "./clean.ts";
import type { Column, Sheet } from "./sheet.ts";
import { withoutSeconds } from "./words.ts";

/** From this width on rows are always a table; below, those that do not fit are cards: a name and a value a line. */
const TABLE_FROM = 60;
/** The least that a cut column keeps, and a wrapped one; longer words of a wrapped one stay whole. */
const SMALLEST = 12;
const SMALLEST_WRAPPED = 24;
/** The least that any column keeps on a terminal that is too narrow for all of this. */
const STUB = 6;
const GAP = "  ";

/** A table that is drawn page by page: which columns it has, and how wide they are at least, the first page decides. */
export interface TableDrawing<T> {
  /** The titles; "" where rows are cards. */
  readonly head: string;
  /** The rows of the next page, without a line break at the end. */
  draw(rows: readonly T[]): string;
}

/** The texts of a page: one list a row, one text a column. */
type Cells = readonly (readonly string[])[];

/** What a table keeps of its columns, and their widths. */
interface Layout<T> {
  /** The columns by their place among all. */
  kept: readonly number[];
  columns: readonly Column<T>[];
  widths: readonly number[];
  /** Moments lose their seconds. */
  brief: boolean;
}

/** See `Sheet.table`. Later pages may widen columns, where the terminal has room; none becomes narrower. */
export function openTable<T>(sheet: Sheet, columns: readonly Column<T>[], first: readonly T[]): TableDrawing<T> {
  const layout = layoutOf(sheet.width, columns, cellsOf(sheet, columns, first));
  if (layout === null) return cards(sheet, columns);
  const titles = layout.columns.map(({ title }) => title);
  let widths = layout.widths;
  return {
    head: lines(layout.columns, widths, [titles], (text) => sheet.paint.bold(text)),
    draw(rows) {
      const all = cellsOf(sheet, columns, rows);
      const cells = all.map((texts) => layout.kept.map((at) => shortened(texts[at] ?? "", layout.brief)));
      widths = widened(sheet.width, layout.columns, widths, cells);
      return lines(layout.columns, widths, cells, (text, at, column) => {
        const row = rows[at];
        return (row === undefined ? undefined : layout.columns[column]?.paint?.(sheet, row)(text)) ?? text;
      });
    },
  };
}

/**
 * How a page fits: whole, then without seconds, then cut and wrapped, then without spare columns; those of them that
 * have room beside what is left come back. Null, on a narrow terminal: as cards.
 */
function layoutOf<T>(width: number, columns: readonly Column<T>[], cells: Cells): Layout<T> | null {
  const all = columns.map((_, at) => at);
  const widths = columnWidths(columns, cells);
  if (total(widths) <= width) return { kept: all, columns, widths, brief: false };
  const brief = cells.map((texts) => texts.map(withoutSeconds));
  const fitting = (kept: readonly number[]): Layout<T> | null => {
    const some = kept.flatMap((at) => columns[at] ?? []);
    const shown = brief.map((texts) => kept.map((at) => texts[at] ?? ""));
    const natural = columnWidths(some, shown);
    const narrowed = shrink(natural, leastWidths(some, shown, natural), total(natural) - width);
    return narrowed === null ? null : { kept, columns: some, widths: narrowed, brief: true };
  };
  if (width < TABLE_FROM) return fitting(all);
  const left: number[] = [];
  let kept: readonly number[] = all;
  let found = fitting(kept);
  for (let spare = sparest(columns, kept); found === null && spare !== null; spare = sparest(columns, kept)) {
    const leaving = spare;
    left.push(leaving);
    kept = kept.filter((at) => at !== leaving);
    found = fitting(kept);
  }
  if (found === null) return stubs(width, columns, kept, brief);
  for (const at of left.toReversed()) found = fitting([...found.kept, at].toSorted((a, b) => a - b)) ?? found;
  return found;
}

/** The column to leave out first, by its place among all: of those with the lowest rank the last one. */
function sparest<T>(columns: readonly Column<T>[], kept: readonly number[]): number | null {
  const rank = (at: number) => {
    const spare = columns[at]?.spare;
    return spare === true ? 0 : (spare ?? Number.POSITIVE_INFINITY);
  };
  const lowest = Math.min(...kept.map(rank));
  return lowest === Number.POSITIVE_INFINITY ? null : (kept.findLast((at) => rank(at) === lowest) ?? null);
}

/** Columns that fit whatever they allow. */
function stubs<T>(width: number, columns: readonly Column<T>[], kept: readonly number[], brief: Cells): Layout<T> {
  const some = kept.flatMap((at) => columns[at] ?? []);
  const natural = columnWidths(
    some,
    brief.map((texts) => kept.map((at) => texts[at] ?? "")),
  );
  const least = natural.map((one) => Math.min(one, STUB));
  const widths = shrink(natural, least, total(natural) - width) ?? least;
  return { kept, columns: some, widths, brief: true };
}

function leastWidths<T>(columns: readonly Column<T>[], cells: Cells, natural: readonly number[]): number[] {
  return columns.map(({ shrinks, wraps }, at) => {
    const width = natural[at] ?? 0;
    if (shrinks === true) return Math.min(width, SMALLEST);
    if (wraps !== true) return width;
    const words = cells.flatMap((texts) => (texts[at] ?? "").split(" "));
    return Math.min(width, Math.max(SMALLEST_WRAPPED, widest(words)));
  });
}

/** The widths for the next page: what it needs, as far as there is room; no column becomes narrower than it is. */
function widened<T>(
  width: number,
  columns: readonly Column<T>[],
  current: readonly number[],
  cells: Cells,
): readonly number[] {
  const needed = columnWidths(columns, cells).map((one, at) => Math.max(one, current[at] ?? 0));
  const excess = total(needed) - width;
  if (excess <= 0) return needed;
  const least = needed.map((one, at) => (columns[at]?.shrinks || columns[at]?.wraps ? (current[at] ?? 0) : one));
  return shrink(needed, least, excess) ?? shrink(needed, current, excess) ?? current;
}

/** The widths that fit, the one furthest above its least made narrower first; null when they cannot. */
function shrink(widths: readonly number[], least: readonly number[], excess: number): number[] | null {
  const narrower = [...widths];
  for (let left = excess; left > 0; left -= 1) {
    const room = narrower.map((width, at) => width - (least[at] ?? width));
    const most = Math.max(...room);
    if (most <= 0) return null;
    const widestAt = room.indexOf(most);
    narrower[widestAt] = (narrower[widestAt] ?? 0) - 1;
  }
  return narrower;
}

function columnWidths<T>(columns: readonly Column<T>[], cells: Cells): number[] {
  return columns.map(({ title }, at) => {
    let most = measure(title).width;
    for (const texts of cells) most = Math.max(most, measure(texts[at] ?? "").width);
    return most;
  });
}

function widest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, measure(text).width), 0);
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1);
}

/** What cli-table3 draws between and around columns: two blanks, and no lines. */
const SIDES = ["top", "bottom", "left", "right", "mid", "left-mid", "mid-mid", "right-mid"] as const;
const CORNERS = ["top-mid", "top-left", "top-right", "bottom-mid", "bottom-left", "bottom-right"] as const;
const BARE = { ...Object.fromEntries([...SIDES, ...CORNERS].map((name) => [name, ""])), middle: GAP };

/** Rows of these widths: texts are cut with … or wrapped between words, and colored as a whole. */
function lines<T>(
  columns: readonly Column<T>[],
  widths: readonly number[],
  rows: Cells,
  paint: (text: string, row: number, column: number) => string,
): string {
  const table = new Table({
    chars: BARE,
    style: { "padding-left": 0, "padding-right": 0, head: [], border: [], compact: true },
    colWidths: [...widths],
    colAligns: columns.map(({ align }) => align ?? "left"),
  });
  for (const [row, texts] of rows.entries()) {
    table.push(texts.map((text, at) => ({ content: paint(text, row, at), wordWrap: columns[at]?.wraps === true })));
  }
  return table
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}

function shortened(text: string, brief: boolean): string {
  return brief ? withoutSeconds(text) : text;
}

function cellsOf<T>(sheet: Sheet, columns: readonly Column<T>[], rows: readonly T[]): string[][] {
  return rows.map((row) => columns.map((column) => plain(sheet, column, row)));
}

function plain<T>(sheet: Sheet, column: Column<T>, row: T): string {
  const value = column.value(row, sheet);
  return value === null || value === "" ? "-" : clean(String(value));
}

function cards<T>(sheet: Sheet, columns: readonly Column<T>[]): TableDrawing<T> {
  const painted = (column: Column<T>, row: T) => {
    const text = plain(sheet, column, row);
    return column.paint === undefined ? text : column.paint(sheet, row)(text);
  };
  const card = (row: T) => Object.fromEntries(columns.map((column) => [column.title, painted(column, row)] as const));
  let begun = false;
  return {
    head: "",
    draw(rows) {
      const text = rows.map((row) => drawFields(sheet, card(row))).join("\n\n");
      // A blank line between the cards of two pages too.
      const gap = begun ? "\n" : "";
      begun = true;
      return gap + text;
    },
  };
}

/** See `Sheet.table`. */
export function drawTable<T>(sheet: Sheet, columns: readonly Column<T>[], rows: readonly T[], empty: string): string {
  if (rows.length === 0) return sheet.paint.dim(empty);
  const table = openTable(sheet, columns, rows);
  return [...(table.head === "" ? [] : [table.head]), table.draw(rows)].join("\n");
}

/** The least room for values that are wrapped beside their names. */
const VALUE_ROOM = 20;

/** See `Sheet.fields`. */
export function drawFields(sheet: Sheet, record: Readonly<Record<string, string>>): string {
  const width = widest(Object.keys(record));
  const room = Math.max(VALUE_ROOM, sheet.width - width - GAP.length);
  const indent = `\n${" ".repeat(width)}${GAP}`;
  return Object.entries(record)
    .map(([name, value]) => {
      const whole = measure(value).width <= room;
      const text = whole ? value : wrapAnsi(value, room).trimStart().replaceAll("\n", indent);
      return `${sheet.paint.dim(name.padEnd(width))}${GAP}${text}`;
    })
    .join("\n");
}
