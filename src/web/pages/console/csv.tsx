import type { ComponentChildren } from "preact";
import { counted } from "../../../core/kernel/counted.ts";
import { invalid } from "../../../core/kernel/problem.ts";
import { csvRows, type FileRow, type FileShape } from "../../parts/csv-file.ts";
import { table } from "../../parts/shown.tsx";
import { encodingNote, uploadedText } from "../../parts/upload.ts";
import { type ConsoleVisit, type Form, field } from "../../session/visit.ts";

/** One row of a file, by its columns' names; the header is line 1. */
export type CsvLine = Pick<FileRow<string>, "line" | "values">;

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

/** KiB of a file that the console takes: as much as a form may send. */
const MOST_KIB = 16 * 1024;

/** The text of the file that a form sends, or carries since its preview, and what to say of it. Throws `validation`. */
export async function csvText(form: Form): Promise<{ text: string; note: string | null }> {
  if (field(form, TEXT_FIELD) !== "") return { text: String(form[TEXT_FIELD]), note: null };
  const { text, encoding } = await uploadedText(form, MOST_KIB);
  return { text, note: encodingNote(encoding) };
}

/** The rows of a CSV text whose header may have any columns. Throws `validation`, also for a row that is too long. */
export async function csvLines(text: string, shape: Omit<FileShape<string>, "columns">): Promise<CsvLine[]> {
  const rows = await csvRows<string>(text, shape);
  const wrong = rows.find(({ fault }) => fault !== null);
  if (wrong !== undefined) throw invalid({ file: [`is no CSV: line ${wrong.line} ${wrong.fault}`] });
  return rows;
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
