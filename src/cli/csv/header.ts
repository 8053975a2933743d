import {
  addedPlaces,
  type CsvNeed,
  type CsvSpec,
  columnKey,
  headerPlace,
  isMet,
  placesByOtherNames,
  takeOwnNames,
} from "../../core/csv/columns.ts";
import { CsvError, columnName, printable } from "../../core/csv/error.ts";
import type { CsvRecord } from "../../core/csv/parse.ts";

/** How a reader helps itself where names do not match. */
export interface HeaderHelp {
  /** Our column by the name that the file has for it. */
  map?: ReadonlyMap<string, string> | undefined;
  /** A value for all rows, by our name of the column that the file may lack. */
  set?: ReadonlyMap<string, string> | undefined;
  /** Asks a person which of these columns of the file is `column`; null: none of them. */
  ask?(column: string, theirs: readonly string[]): Promise<string | null>;
}

/** A file's header, matched against what the command reads. */
export interface CsvHeader<C extends string = string> {
  line: number;
  /** The names as they are in the file. */
  raw: readonly string[];
  /** The position of each known column, counted from 0; the ones the file lacks are not in it. */
  positions: ReadonlyMap<C, number>;
  /** The values of columns that the file lacks. */
  constants: ReadonlyMap<C, string>;
  /** The positions of columns that an earlier run's rejected file added: neither known nor worth a warning. */
  added: ReadonlySet<number>;
  /** What the reader should know: columns that are ignored. */
  warnings: readonly string[];
  /** Columns that were found by another name than ours. */
  notes: readonly string[];
}

/**
 * Matches the first record of a file: by the names that `help` maps, by ours, then by other common names. A column that
 * is missing is asked for. Throws `csv_invalid` naming columns that are missing or there twice.
 */
export async function matchHeader<C extends string>(
  label: string,
  record: CsvRecord,
  spec: CsvSpec<C>,
  help: HeaderHelp = {},
): Promise<CsvHeader<C>> {
  refuseTwice(label, record);
  refuseForeign(label, record, spec);
  const positions = mappedPositions(label, record, spec, help);
  const taken = () => new Set(positions.values());
  takeOwnNames(record.fields, spec.columns, positions);
  const notes = takeOtherNames(label, record, spec, positions);
  const added = addedPlaces(record.fields, positions);
  const constants = constantsOf(label, spec, positions, help);
  await askForMissing(record, spec, positions, { help, added, constants });
  refuseMissing(label, record, spec, { positions, constants });
  const warnings = record.fields.flatMap((_, at) =>
    added.has(at) || taken().has(at)
      ? []
      : [`${label}: column ${columnName(record.fields, at)} is not known and is ignored.`],
  );
  return { line: record.line, raw: record.fields, positions, constants, added, warnings, notes };
}

/** Throws `csv_invalid` where none of the columns is in the first line, and two or more are in one below it. */
export function refuseTitle(label: string, records: readonly CsvRecord[], spec: CsvSpec): void {
  const [first] = records;
  const fields = records.map((record) => record.fields);
  const header = records[headerPlace(fields, spec.columns)];
  if (first === undefined || header === undefined || header === first) return;
  const hint = `Remove ${header.line - first.line === 1 ? "the line" : "the lines"} above it.`;
  const place = { line: first.line, column: columnName(first.fields, 0) };
  throw new CsvError("csv_invalid", label, `the header seems to be line ${header.line}`, hint, place);
}

function refuseTwice(label: string, record: CsvRecord): void {
  const keys = record.fields.map(columnKey);
  for (const [index, key] of keys.entries()) {
    const first = keys.indexOf(key);
    if (key !== "" && first !== index) throw twice(label, record, first, index);
  }
}

/** The columns that the reader mapped. Throws `csv_invalid` for a name that the file does not have. */
function mappedPositions<C extends string>(
  label: string,
  record: CsvRecord,
  { columns }: CsvSpec<C>,
  { map = new Map() }: HeaderHelp,
): Map<C, number> {
  const positions = new Map<C, number>();
  for (const [theirs, ours] of map) {
    const column = columns.find((one) => columnKey(one) === columnKey(ours));
    if (column === undefined) {
      const hint = `Known are: ${columns.join(", ")}.`;
      throw new CsvError("csv_invalid", label, `--map names "${printable(ours)}", which is not read here`, hint);
    }
    const at = record.fields.findIndex((name) => columnKey(name) === columnKey(theirs));
    if (at === -1)
      throw new CsvError("csv_invalid", label, `there is no column "${printable(theirs)}"`, theirNames(record));
    positions.set(column, at);
  }
  return positions;
}

/** The constants of columns that the file lacks: its own columns win. Throws `csv_invalid` for an unknown column. */
function constantsOf<C extends string>(
  label: string,
  { columns }: CsvSpec<C>,
  positions: ReadonlyMap<C, number>,
  { set = new Map() }: HeaderHelp,
): Map<C, string> {
  const constants = new Map<C, string>();
  for (const [name, value] of set) {
    const column = columns.find((one) => columnKey(one) === columnKey(name));
    if (column === undefined) {
      const hint = `Known are: ${columns.join(", ")}.`;
      throw new CsvError("csv_invalid", label, `--set names "${printable(name)}", which is not read here`, hint);
    }
    if (!positions.has(column)) constants.set(column, value);
  }
  return constants;
}

/** Takes columns by other common names of theirs, and says which. Throws `csv_invalid` where two fit. */
function takeOtherNames<C extends string>(
  label: string,
  record: CsvRecord,
  { columns }: CsvSpec<C>,
  positions: Map<C, number>,
): string[] {
  const notes: string[] = [];
  for (const column of columns) {
    if (positions.has(column)) continue;
    const [at, second] = placesByOtherNames(record.fields, column, positions);
    if (at === undefined) continue;
    if (second !== undefined) throw ambiguous(label, record, column, at, second);
    positions.set(column, at);
    notes.push(`${label}: column ${columnName(record.fields, at)} is read as ${column}.`);
  }
  return notes;
}

function ambiguous(label: string, record: CsvRecord, column: string, first: number, second: number): CsvError {
  const [one, other] = [first, second].map((at) => columnName(record.fields, at));
  const place = { line: record.line, column };
  return new CsvError(
    "csv_invalid",
    label,
    `columns ${one} and ${other} may both be ${column}`,
    mapHint(column),
    place,
  );
}

function mapHint(column: string): string {
  return `Say which with --map "THEIR NAME=${column}".`;
}

interface Asking<C extends string> {
  help: HeaderHelp;
  /** Columns that are not worth a question. */
  added: ReadonlySet<number>;
  /** Columns that need no answer. */
  constants: ReadonlyMap<C, string>;
}

/** Asks for each needed column that no name fits; the first that is answered with none ends the questions. */
async function askForMissing<C extends string>(
  record: CsvRecord,
  { needs }: CsvSpec<C>,
  positions: Map<C, number>,
  { help, added, constants }: Asking<C>,
): Promise<void> {
  // A file without any known column is another kind of file.
  if (help.ask === undefined || positions.size === 0) return;
  for (const need of needs.filter((one) => !isMet(one, [positions, constants]))) {
    const [group = []] = typeof need === "string" ? [[need]] : need;
    for (const column of group.filter((one) => !positions.has(one) && !constants.has(one))) {
      const taken = new Set(positions.values());
      const left = record.fields.filter((name, at) => name !== "" && !taken.has(at) && !added.has(at));
      const chosen = left.length === 0 ? null : await help.ask(column, left);
      if (chosen === null) return;
      positions.set(column, record.fields.indexOf(chosen));
    }
  }
}

function theirNames({ fields }: CsvRecord): string {
  const names = fields.slice(0, 12).map(printable).join(", ");
  return `Its header names: ${names}${fields.length > 12 ? ", …" : ""}.`;
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
  { positions, constants }: Pick<CsvHeader<C>, "positions" | "constants">,
): void {
  const missing = spec.needs.filter((need) => !isMet(need, [positions, constants]));
  const [first] = missing;
  if (first === undefined) return;
  const what = `the file lacks ${missing.map(describeNeed).join("; ")}`;
  const column = typeof first === "string" ? first : (first[0]?.[0] ?? "");
  const hint =
    positions.size === 0
      ? `The first line must name the columns. Known are: ${spec.columns.join(", ")}.`
      : `${theirNames(record)} ${mapHint(column)}`;
  throw new CsvError("csv_invalid", label, what, hint, { line: record.line, column });
}

function describeNeed<C extends string>(need: CsvNeed<C>): string {
  return typeof need === "string" ? need : need.map((group) => group.join(" and ")).join(", or ");
}

/** Columns in help: those that must be there are marked. */
export function columnWords({ columns, needs }: CsvSpec): string {
  const needed = new Set(needs.filter((need) => typeof need === "string"));
  const groups = needs.flatMap((need) => (typeof need === "string" ? [] : [need.map((group) => group.join(" and "))]));
  const listed = columns.map((column) => (needed.has(column) ? `${column}*` : column)).join(", ");
  return `${listed}. * needed${groups.map((group) => `; needed: ${group.join(", or ")}`).join("")}.`;
}
