import { CsvError, columnName, printable } from "./error.ts";
import type { CsvRecord } from "./parse.ts";

/** One column, or groups of columns of which one group must be there whole: [["sku"], ["product_id"]]. */
export type CsvNeed<C extends string> = C | readonly (readonly C[])[];

/** The columns a command reads. */
export interface CsvSpec<C extends string = string> {
  columns: readonly C[];
  needs: readonly CsvNeed<C>[];
  /** Columns that only another command's file has, and what to do instead. */
  foreign?: Readonly<Record<string, string>>;
}

/** A file's header, matched against what the command reads. */
export interface CsvHeader<C extends string = string> {
  line: number;
  /** The names as they are in the file. */
  raw: readonly string[];
  /** The position of each known column, counted from 0; the ones the file lacks are not in it. */
  positions: ReadonlyMap<C, number>;
  /** The positions of columns that an earlier run's rejected file added: neither known nor worth a warning. */
  added: ReadonlySet<number>;
  /** What the reader should know: columns that are ignored. */
  warnings: readonly string[];
}

/** Names of the columns that a rejected file adds; the second where the command itself reads one of the first. */
export const ADDED_COLUMNS = {
  line: ["line", "rejected_line"],
  reason: ["reason", "rejected_reason"],
} as const;

const addedKeys = new Set([...ADDED_COLUMNS.line, ...ADDED_COLUMNS.reason].map(columnKey));

/** A column's name without case, spaces, underscores and hyphens: "Passport No" is `passport_no`. */
export function columnKey(name: string): string {
  return name
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[\s_-]+/gu, "");
}

/** Matches the first record of a file. Throws `csv_invalid` naming columns that are missing or there twice. */
export function matchHeader<C extends string>(label: string, record: CsvRecord, spec: CsvSpec<C>): CsvHeader<C> {
  const keys = record.fields.map(columnKey);
  const known = new Map(spec.columns.map((column) => [columnKey(column), column]));
  const positions = new Map<C, number>();
  const added = new Set<number>();
  const warnings: string[] = [];
  for (const [index, key] of keys.entries()) {
    const first = keys.indexOf(key);
    if (key !== "" && first !== index) throw twice(label, record, first, index);
    const column = known.get(key);
    if (column !== undefined) positions.set(column, index);
    else if (addedKeys.has(key)) added.add(index);
    else warnings.push(`${label}: column ${columnName(record.fields, index)} is not known and is ignored.`);
  }
  refuseForeign(label, record, spec);
  refuseMissing(label, record, spec, positions);
  return { line: record.line, raw: record.fields, positions, added, warnings };
}

/** A file of something else would go in by mistake where its columns happen to be enough. */
function refuseForeign(label: string, record: CsvRecord, { foreign = {} }: CsvSpec): void {
  for (const [index, field] of record.fields.entries()) {
    const hint = Object.entries(foreign).find(([name]) => columnKey(name) === columnKey(field))?.[1];
    if (hint === undefined) continue;
    const place = { line: record.line, column: columnName(record.fields, index) };
    throw new CsvError("csv_invalid", label, "this is another kind of file", hint, place);
  }
}

function twice(label: string, record: CsvRecord, first: number, second: number): CsvError {
  const what = `this is column ${first + 1} once more (column ${second + 1})`;
  const place = { line: record.line, column: columnName(record.fields, second) };
  return new CsvError("csv_invalid", label, what, "Keep one of the two columns.", place);
}

function refuseMissing<C extends string>(
  label: string,
  record: CsvRecord,
  spec: CsvSpec<C>,
  positions: ReadonlyMap<C, number>,
): void {
  const missing = spec.needs.filter((need) => !isMet(need, positions));
  const [first] = missing;
  if (first === undefined) return;
  const what = `the file lacks ${missing.map(describeNeed).join("; ")}`;
  const names = record.fields.slice(0, 12).map(printable).join(", ");
  const hint =
    positions.size === 0
      ? `The first line must name the columns. Known are: ${spec.columns.join(", ")}.`
      : `Its first line names: ${names}${record.fields.length > 12 ? ", …" : ""}.`;
  const column = typeof first === "string" ? first : (first[0]?.[0] ?? "");
  throw new CsvError("csv_invalid", label, what, hint, { line: record.line, column });
}

function isMet<C extends string>(need: CsvNeed<C>, positions: ReadonlyMap<C, number>): boolean {
  if (typeof need === "string") return positions.has(need);
  return need.some((group) => group.every((column) => positions.has(column)));
}

function describeNeed<C extends string>(need: CsvNeed<C>): string {
  return typeof need === "string" ? need : need.map((group) => group.join(" and ")).join(", or ");
}
