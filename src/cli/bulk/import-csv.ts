import { setFlagsFromString } from "node:v8";
import type { CsvSpec } from "../../core/csv/columns.ts";
import type { CheckedRow, CsvRow } from "../../core/csv/rows.ts";
import type { Gathering, ImportItem, ImportProgress, ImportSummary, RowOutcome } from "../csv/import.ts";
import type { CsvFile } from "../csv/open.ts";
import type { Context } from "../frame/command.ts";
import { exitCodes } from "../kernel/exit-codes.ts";
import type { Result } from "../output/result.ts";
import type { Sheet } from "../output/sheet.ts";
import { endedWords } from "../output/words.ts";
import { type Reading, readingOf, withFindings } from "./reading.ts";

/** The keys of what every import prints. */
export const IMPORT_JSON =
  "{read, imported, updated, duplicates, rejected, rejected_file, reasons: [{reason, rows, example: {line, column, " +
  "form}}], warnings: [as reasons], suggestions, seconds}";

/** Rows a transaction: small enough that a running daemon does not wait. */
const BATCH = 200;

/** One import: what it reads, how it checks a row, how good ones are sent. */
export interface Import<C extends string, T> {
  file: string;
  spec: CsvSpec<C>;
  check(row: CsvRow<C>): CheckedRow<T>;
  /** Called with the file once its header is read; what it throws ends the import. */
  opened?: (csv: CsvFile<C>) => void;
  /** As `ImportJob.survey`. */
  survey?: ((row: CsvRow<C>) => void) | undefined;
  /** As `ImportJob.ready`. */
  ready?: () => Promise<void>;
  send(rows: T[]): Promise<readonly RowOutcome[]>;
  /** In place of `send`, where rows are made ready while those before them are sent. */
  gather?: () => Gathering<T>;
  /** Rows that `send` gets next; 200 unless given. Ctrl-C lets what is being sent come to its end. */
  batchSize?: () => number;
  dryRun: boolean;
  strict: boolean;
  reading: Reading;
  /** What `send` does leaves little garbage: V8 may favor speed over memory. */
  isLean?: boolean;
  /** What it does, beside the bar; "Importing" unless given. */
  label?: string;
  /** How the summary is printed; as every import unless given. */
  present?: (summary: ImportSummary, exitCode: 0 | 1 | 3 | 130, dryRun: boolean) => Result | Promise<Result>;
}

/** Imports a CSV file row by row, with a progress bar, to the end or to Ctrl-C; see csv/import.ts. */
export async function importCsv<C extends string, T>(context: Context, asked: Import<C, T>): Promise<Result> {
  const { file, spec, check, send, batchSize = () => BATCH, dryRun, strict, reading, label = "Importing" } = asked;
  const { present = importResult, isLean = false, gather, survey, ready } = asked;
  const [{ openCsv }, { importExitCode, importRows }, { startProgress }, { systemClock }] = await Promise.all([
    import("../csv/open.ts"),
    import("../csv/import.ts"),
    import("../output/progress.ts"),
    import("../../core/kernel/clock.ts"),
  ]);
  const signal = context.interruption;
  // Without them V8 lets the garbage of a big file grow to hundreds of megabytes. That of lean ones costs little time.
  setFlagsFromString(isLean ? "--heap-growing-percent=50" : "--optimize-for-size");
  const csv = await openCsv(file, spec, await readingOf(context, reading));
  const progress = startProgress(context.globals);
  try {
    asked.opened?.(csv);
    for (const warning of csv.header.warnings) context.warn(warning);
    for (const note of csv.header.notes) context.note(note);
    const summary = await importRows({
      csv,
      check,
      survey,
      ready:
        ready &&
        (async () => {
          // A question is not asked beneath a bar.
          progress.stop();
          await ready();
        }),
      send: (batch: readonly ImportItem<T>[]) => send(batch.map(({ value }) => value)),
      gather,
      batchSize,
      dryRun,
      strict,
      signal,
      progress: ({ phase, done, total }: ImportProgress) =>
        progress.show(phase === "check" ? "Checking" : label, done, total),
      now: systemClock.now,
    });
    progress.stop();
    return await present(summary, signal.aborted ? exitCodes.interrupted : importExitCode(summary, dryRun), dryRun);
  } finally {
    progress.stop();
    await csv.close();
  }
}

/** The summary of an import, as every import prints it. */
export function importResult(summary: ImportSummary, exitCode: 0 | 1 | 3 | 130, dryRun: boolean): Result {
  return { json: summary, exitCode, text: (sheet) => summaryText(sheet, summary, exitCode, dryRun) };
}

function summaryText(sheet: Sheet, summary: ImportSummary, exitCode: number, dryRun: boolean): string {
  const { read, imported, updated, duplicates, rejected, rejected_file, seconds } = summary;
  const counted = sheet.fields({
    read: String(read),
    sent: dryRun ? "0 (dry run)" : String(imported + updated + duplicates),
    imported: String(imported),
    updated: String(updated),
    duplicates: String(duplicates),
    rejected: rejected_file === null ? String(rejected) : `${rejected}, in ${rejected_file}`,
    seconds: String(seconds),
  });
  return endedWords(sheet, withFindings(sheet, counted, summary), exitCode);
}
