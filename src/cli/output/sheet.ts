import type { ChalkInstance } from "chalk";

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
  /** Left out there where that is still not enough: `true` first, then by rank; of equal ones the last one first. */
  spare?: true | number;
  /** Colors the whole cell. */
  paint?(sheet: Sheet, row: T): (text: string) => string;
}

/** What commands lay out their text output with. The drawing code is loaded when there is output. */
export interface Sheet {
  readonly paint: ChalkInstance;
  /** Columns of the terminal; Infinity where there is none. */
  readonly width: number;
  /**
   * Rows as a table, widths right for wide (CJK) characters. Where they do not fit, moments lose their seconds, and
   * columns that allow it are cut and wrapped between words; then the spare ones are left out, and as a last resort all
   * are cut. Below 60 columns rows are cards instead, one under the other, whole. Without rows: the words of `empty`.
   */
  table<T>(columns: readonly Column<T>[], rows: readonly T[], empty: string): string;
  /** One record: a name and a value a line; long values go on below, broken between words. */
  fields(record: Readonly<Record<string, string>>): string;
  /** "12.50 AUD": an amount of minor units with its currency's own decimals. */
  money(cents: number, currency: string): string;
}
