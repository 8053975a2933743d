import { visibleText } from "../kernel/iccid.ts";
import { otherNames } from "./names.ts";

/** One column, or groups of columns of which one group must be there whole: [["sku"], ["product_id"]]. */
export type CsvNeed<C extends string> = C | readonly (readonly C[])[];

/** The columns a command reads. */
export interface CsvSpec<C extends string = string> {
  columns: readonly C[];
  needs: readonly CsvNeed<C>[];
  /** Columns that only another command's file has, and what to do instead. */
  foreign?: Readonly<Record<string, string>>;
  /** What a template shows in place of the usual sample of a column. */
  samples?: Readonly<Record<string, string>>;
}

/** Names of the columns that a rejected file adds; the second where the command itself reads one of the first. */
const ADDED_COLUMNS = {
  line: ["line", "rejected_line"],
  reason: ["reason", "rejected_reason"],
} as const;

const addedKeys = new Set([...ADDED_COLUMNS.line, ...ADDED_COLUMNS.reason].map(columnKey));

/** A column's name without case, spaces and marks between words: "Passport No." is `passport_no`. */
export function columnKey(name: string): string {
  return visibleText(name)
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[\s_.:*-]+/gu, "");
}

/** Positions of columns in a file's header, counted from 0; the ones that the file lacks are not in it. */
export type Positions<C extends string> = Map<C, number>;

/** Finds columns by their own names; a position that is taken is not taken again. */
export function takeOwnNames<C extends string>(
  names: readonly string[],
  columns: readonly C[],
  positions: Positions<C>,
): void {
  const keys = names.map(columnKey);
  for (const column of columns) {
    const at = positions.has(column) ? -1 : keys.indexOf(columnKey(column));
    if (at !== -1 && !isTaken(positions, at)) positions.set(column, at);
  }
}

function isTaken(positions: ReadonlyMap<string, number>, at: number): boolean {
  return new Set(positions.values()).has(at);
}

/** The positions, not taken yet, whose names are other common ones of a column. */
export function placesByOtherNames(
  names: readonly string[],
  column: string,
  positions: ReadonlyMap<string, number>,
): number[] {
  const known = new Set((otherNames[column] ?? []).map(columnKey));
  return [...names.keys()].filter((at) => known.has(columnKey(names[at] ?? "")) && !isTaken(positions, at));
}

/** The columns of a file as their names suggest it: by ours, then by other common ones, the first that fits. */
export function suggestedColumns<C extends string>(names: readonly string[], columns: readonly C[]): Positions<C> {
  const positions: Positions<C> = new Map();
  takeOwnNames(names, columns, positions);
  for (const column of columns) {
    const [at] = positions.has(column) ? [] : placesByOtherNames(names, column, positions);
    if (at !== undefined) positions.set(column, at);
  }
  return positions;
}

/** The positions of columns that an earlier run's rejected file added, and that are not read. */
export function addedPlaces(names: readonly string[], positions: ReadonlyMap<string, number>): Set<number> {
  return new Set(
    [...names.keys()].filter((at) => addedKeys.has(columnKey(names[at] ?? "")) && !isTaken(positions, at)),
  );
}

/** The names of the two columns that a rejected file adds, other ones than are read themselves. */
export function addedNames(columns: Iterable<string>): string[] {
  const read = new Set([...columns].map(columnKey));
  return [ADDED_COLUMNS.line, ADDED_COLUMNS.reason].map(([name, other]) => (read.has(name) ? other : name));
}

/**
 * Which of a file's first records names the columns: the first one, unless it has none of their names and one below it
 * has two or more.
 */
export function headerPlace(records: readonly (readonly string[])[], columns: readonly string[]): number {
  const known = new Set(columns.flatMap((one) => [one, ...(otherNames[one] ?? [])]).map(columnKey));
  const knows = (names: readonly string[]) => names.filter((name) => known.has(columnKey(name))).length;
  const [first, ...below] = records;
  if (first === undefined || knows(first) > 0) return 0;
  return below.findIndex((names) => knows(names) > 1) + 1;
}

/** Whether a need is met by what is there. */
export function isMet<C extends string>(need: CsvNeed<C>, there: readonly ReadonlyMap<C, unknown>[]): boolean {
  const has = (column: C) => there.some((columns) => columns.has(column));
  return typeof need === "string" ? has(need) : need.some((group) => group.every(has));
}
