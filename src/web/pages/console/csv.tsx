import { CsvError, parse } from "csv-parse/sync";
import type { ComponentChildren } from "preact";
import { counted } from "../../../core/kernel/counted.ts";
import { invalid } from "../../../core/kernel/problem.ts";
import type { ConsoleVisit, Form } from "../../session/visit.ts";
import { table } from "./shown.tsx";

/** One row of a file, by its columns' names; the header is line 1. */
export interface CsvLine {
  line: number;
  values: Record<string, string>;
}

/** A row that is left out, and why. Values are not repeated: they may be secrets. */
export interface BadLine {
  line: number;
  problems: readonly string[];
}

/** What a file was checked to hold. */
export interface CheckedLines<T> {
  good: T[];
  bad: BadLine[];
}

/** The field in which a file's text is carried from the preview to the import. */
export const TEXT_FIELD = "csv";

/** The text of the file that a form sends, or carries since its preview. Throws `validation`. */
export function csvText(form: Form): string {
  const carried = form[TEXT_FIELD];
  if (typeof carried === "string" && carried !== "") return carried;
  const { file } = form;
  if (!Buffer.isBuffer(file) || file.length === 0) throw invalid({ file: ["is required"] });
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(file);
  } catch {
    throw invalid({ file: ["is not UTF-8 text: save it as CSV UTF-8"] });
  }
}

interface FileShape {
  /** Columns that have to be there; of several together, one. */
  needs: readonly (string | readonly string[])[];
  /** The most rows that one request may take in. */
  most: number;
}

/** The rows of a CSV text with a header; columns may be in any order. Throws `validation`. */
export function csvLines(text: string, { needs, most }: FileShape): CsvLine[] {
  const [header = "", ...rows] = parsed(text);
  const names = header === "" ? [] : header.cells.map(columnName);
  const missing = needs.filter((need) => ![need].flat().some((name) => names.includes(name)));
  if (missing.length > 0) {
    const words = missing.map((need) => [need].flat().join(" or ")).join(", ");
    throw invalid({ file: [`has no column ${words}`] });
  }
  if (rows.length === 0) throw invalid({ file: ["has no rows"] });
  if (rows.length > most) {
    throw invalid({
      file: [`has ${counted(rows.length, "row")}, and a page takes ${most}: import it in the terminal`],
    });
  }
  return rows.map(({ cells, line }) => {
    return { line, values: Object.fromEntries(names.map((name, at) => [name, (cells[at] ?? "").trim()])) };
  });
}

interface ParsedRow {
  cells: string[];
  line: number;
}

function parsed(text: string): ParsedRow[] {
  const delimiter = delimiterOf(text);
  try {
    const options = {
      delimiter,
      bom: true,
      skip_empty_lines: true,
      relax_column_count_less: true,
      info: true,
    } as const;
    // With `info` each row comes with its place.
    const rows = parse(text, options) as unknown as { record: string[]; info: { lines: number } }[];
    return rows.map(({ record, info }) => ({ cells: record, line: info.lines }));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const at = "lines" in error && typeof error.lines === "number" ? ` at line ${error.lines}` : "";
    throw invalid({ file: [`is no CSV${at}: quotes or the number of columns are wrong`] });
  }
}

/** Spreadsheets of many countries put semicolons or tabs between. */
function delimiterOf(text: string): string {
  const header = text.split("\n", 1)[0] ?? "";
  const counts = [",", ";", "\t"].map((mark) => ({ mark, many: header.split(mark).length }));
  return counts.reduce((most, one) => (one.many > most.many ? one : most)).mark;
}

function columnName(title: string): string {
  return title
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, "_");
}

/** Rows that a preview names. */
const MOST_NAMED = 100;

/** The rows that are left out of an import, with the reasons. */
export function badLines(visit: ConsoleVisit, bad: readonly BadLine[]): ComponentChildren {
  const title = `${counted(bad.length, "row")} left out`;
  const more = bad.length - MOST_NAMED;
  return [
    table(visit, { title, caption: "Rows that are left out", rows: bad.slice(0, MOST_NAMED) }, [
      { title: "Line", cell: (one) => one.line },
      { title: "Why", cell: (one) => one.problems.join("; ") },
    ]),
    more > 0 && <p>And {more} more.</p>,
  ];
}

/** The lines on which one value is there more than once, by the value. */
export function repeated(lines: readonly CsvLine[], keyOf: (line: CsvLine) => string): Map<string, number[]> {
  const groups = Map.groupBy(
    lines.filter((line) => keyOf(line) !== ""),
    keyOf,
  );
  return new Map([...groups].flatMap(([key, all]) => (all.length > 1 ? [[key, all.map(({ line }) => line)]] : [])));
}
