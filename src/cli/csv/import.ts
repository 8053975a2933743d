import type { CheckedRow, CsvRow } from "../../core/csv/rows.ts";
import type { CsvFile } from "./open.ts";
import { type ReasonGroup, type ReasonTally, tallyReasons } from "./reasons.ts";
import { type RejectedFile, rejectedFile } from "./rejected.ts";

const PROGRESS_ROWS = 1000;

/** The outcome of a row that was sent. */
export type RowOutcome = StoredOutcome | { rejected: string };
export type StoredOutcome = "imported" | "updated" | "duplicate";

/** A good row to send. */
export interface ImportItem<T> {
  line: number;
  value: T;
}

/** The end of an import, as `--json` prints it. */
export interface ImportSummary {
  read: number;
  imported: number;
  updated: number;
  duplicates: number;
  rejected: number;
  rejected_file: string | null;
  /** Why rows were rejected, the most frequent reason first. */
  reasons: ReasonGroup[];
  /** What is doubtful about rows that are taken all the same, the most frequent first. */
  warnings: ReasonGroup[];
  /** What the file's rows suggest to do. */
  suggestions: string[];
  seconds: number;
}

type Counts = Pick<ImportSummary, "read" | "imported" | "updated" | "duplicates" | "rejected">;

/** How far an import is. While rows are checked, how many there are is not known yet. */
export interface ImportProgress {
  phase: "check" | "send";
  done: number;
  total: number | null;
  counts: Readonly<Counts>;
}

/** A batch that is made ready row by row, while the one before it is sent. */
export interface Gathering<T> {
  add(value: T): void;
  /** Sends its rows, as `ImportJob.send` does. */
  send(): Promise<readonly RowOutcome[]>;
}

/** What to import, and how. */
export interface ImportJob<C extends string, T> {
  csv: CsvFile<C>;
  /** Checks a row by itself. Called in both passes: it must answer the same each time and remember nothing. */
  check(row: CsvRow<C>): CheckedRow<T>;
  /** Called with each row in a pass of its own, before any is checked: what rows say of each other is found there. */
  survey?: ((row: CsvRow<C>) => void) | undefined;
  /** Called once all rows are checked, before the first is sent; what it throws ends the import. */
  ready?: (() => Promise<void>) | undefined;
  /**
   * Sends the good rows of a batch; the outcomes in the same order. What it throws ends the import, after the rows
   * that a `PartlySent` names; once the signal is aborted that end is an ordinary one.
   */
  send(batch: readonly ImportItem<T>[]): Promise<readonly RowOutcome[]>;
  /** Begins a batch in place of `send`, where rows are to be made ready before it is their turn. */
  gather?: (() => Gathering<T>) | undefined;
  /** Rows that are sent at once, asked for each time. */
  batchSize(): number;
  /** Stop after the checks. */
  dryRun?: boolean;
  /** Send nothing if any row is bad, or doubtful. */
  strict?: boolean;
  /** Once aborted, nothing more is sent after the batch under way. */
  signal?: AbortSignal;
  progress?(progress: ImportProgress): void;
  /** Milliseconds of any clock. */
  now(): number;
  /** Where `stdin.rejected.csv` goes: the working directory by default. */
  folder?: string;
}

interface Run<C extends string, T> {
  job: ImportJob<C, T>;
  rejects: RejectedFile;
  counts: Counts;
  bad: RowSet;
  warned: ReasonTally;
}

/**
 * Checks every row of a file, then sends the good ones in batches; bad ones, and those that are refused when sent, go
 * to the rejected file. The file is streamed in two or three passes. Throws `CsvError` when the file is broken, has
 * changed meanwhile, or the rejected file cannot be written; and whatever `ready` and `send` throw.
 */
export async function importRows<C extends string, T>(job: ImportJob<C, T>): Promise<ImportSummary> {
  const start = job.now();
  const rejects = await rejectedFile(job.csv, job.folder);
  const counts = { read: 0, imported: 0, updated: 0, duplicates: 0, rejected: 0 };
  const warned = tallyReasons(job.csv.header.positions.keys());
  const run: Run<C, T> = { job, rejects, counts, bad: rowSet(), warned };
  let rejectedPath: string | null = null;
  try {
    if (job.survey !== undefined) await surveyRows(job, job.survey);
    await checkRows(run);
    await job.csv.assertUnchanged();
    const stopped = job.dryRun === true || (job.strict === true && counts.rejected > 0);
    if (!stopped && counts.rejected < counts.read) {
      if (job.signal?.aborted !== true) await job.ready?.();
      await sendRows(run);
      await job.csv.assertUnchanged();
    }
  } finally {
    rejectedPath = await rejects.close();
  }
  const seconds = Math.round(job.now() - start) / 1000;
  const found = { reasons: rejects.reasons(), warnings: warned.groups(), suggestions: job.csv.suggestions() };
  return { ...counts, rejected_file: rejectedPath, ...found, seconds };
}

/**
 * 0: done, or all was there already. 3: some rows were rejected, the rest done. 1: rows were rejected, none done. A dry
 * run counts the rows that would be sent as done.
 */
export function importExitCode(summary: Counts, dryRun = false): 0 | 1 | 3 {
  if (summary.rejected === 0) return 0;
  const done = dryRun ? summary.read - summary.rejected : summary.imported + summary.updated + summary.duplicates;
  return done > 0 ? 3 : 1;
}

async function surveyRows<C extends string, T>(
  { csv, signal }: ImportJob<C, T>,
  survey: (row: CsvRow<C>) => void,
): Promise<void> {
  for await (const rows of csv.pieces()) {
    if (signal?.aborted === true) return;
    for (const row of rows) if (row.fault === null) survey(row);
  }
}

async function checkRows<C extends string, T>(run: Run<C, T>): Promise<void> {
  const { job, counts } = run;
  for await (const rows of job.csv.pieces()) {
    for (const row of rows) {
      if (job.signal?.aborted === true) return;
      const checked = checkRow(job, row);
      const { warnings = [] } = checked;
      if ("problems" in checked || (job.strict === true && warnings.length > 0)) {
        run.bad.add(counts.read);
        await reject(run, row, [...("problems" in checked ? checked.problems : []), ...warnings]);
      } else if (warnings.length > 0) run.warned.add(row.line, row.values, warnings);
      counts.read += 1;
      if (counts.read % PROGRESS_ROWS === 0) report(run, "check", counts.read);
    }
  }
  report(run, "check", counts.read);
}

async function sendRows<C extends string, T>(run: Run<C, T>): Promise<void> {
  const { job } = run;
  const sender = oneAtATime(run);
  let batch = newBatch(job);
  let size = job.batchSize();
  let done = 0;
  // The first batch may take its time: a bar at 0 says what is waited for.
  report(run, "send", done);
  try {
    for await (const rows of job.csv.pieces()) {
      for (const row of rows) {
        if (job.signal?.aborted === true) return;
        const at = done++;
        if (run.bad.has(at)) continue;
        const checked = checkRow(job, row);
        if ("problems" in checked) await sender.settled().then(() => reject(run, row, checked.problems));
        else batch.add(row, checked.ok);
        if (batch.size() < size) continue;
        await sender.send(batch, done);
        batch = newBatch(job);
        size = job.batchSize();
      }
    }
    if (batch.size() > 0 && job.signal?.aborted !== true) await sender.send(batch, done);
  } finally {
    // Also where reading fails: what is under way comes to its end and is counted.
    await sender.settled();
  }
  report(run, "send", done);
}

/** Rows that are sent together. */
interface Batch<C extends string, T> {
  size(): number;
  /** Those that may be refused. */
  rows: CsvRow<C>[];
  add(row: CsvRow<C>, value: T): void;
  send(): Promise<readonly RowOutcome[]>;
}

function newBatch<C extends string, T>(job: ImportJob<C, T>): Batch<C, T> {
  const rows: CsvRow<C>[] = [];
  if (job.gather === undefined) {
    const items: ImportItem<T>[] = [];
    const add = (row: CsvRow<C>, value: T) => {
      rows.push(row);
      items.push({ line: row.line, value });
    };
    return { rows, size: () => items.length, add, send: () => job.send(items) };
  }
  const gathering = job.gather();
  let size = 0;
  const add = (row: CsvRow<C>, value: T) => {
    rows.push(row);
    gathering.add(value);
    size += 1;
  };
  return { rows, size: () => size, add, send: gathering.send };
}

/** Sends batches in turn: while one is under way, the rows of the next are read and checked. */
function oneAtATime<C extends string, T>(run: Run<C, T>) {
  const { job } = run;
  let underway: Promise<void> = Promise.resolve();
  return {
    /** Resolves once the batch before is stored; what ended that one is thrown, and this one is not sent. */
    async send(batch: Batch<C, T>, done: number): Promise<void> {
      await underway;
      if (job.signal?.aborted === true) return;
      underway = sendBatch(run, batch).then(() => report(run, "send", done));
      // Thrown where it is waited for.
      underway.catch(() => undefined);
    },
    settled: () => underway,
  };
}

/** What ended a batch whose first rows were sent before. */
export class PartlySent extends Error {
  readonly outcomes: readonly RowOutcome[];

  constructor(outcomes: readonly RowOutcome[], cause: unknown) {
    super("A batch was sent in part.", { cause });
    this.outcomes = outcomes;
  }
}

async function sendBatch<C extends string, T>(run: Run<C, T>, batch: Batch<C, T>): Promise<void> {
  const { job } = run;
  const { rows } = batch;
  try {
    const outcomes = await batch.send();
    if (outcomes.length !== batch.size()) throw new Error(`${batch.size()} rows sent, ${outcomes.length} outcomes`);
    await count(run, rows, outcomes);
  } catch (error) {
    if (error instanceof PartlySent) await count(run, rows, error.outcomes);
    // Stopped while the rest still waited to be sent.
    if (job.signal?.aborted !== true) throw error instanceof PartlySent ? error.cause : error;
  }
}

async function count<C extends string, T>(
  run: Run<C, T>,
  rows: readonly CsvRow<C>[],
  outcomes: readonly RowOutcome[],
): Promise<void> {
  const { counts } = run;
  for (const [index, outcome] of outcomes.entries()) {
    const row = rows[index];
    if (outcome === "imported") counts.imported += 1;
    else if (outcome === "updated") counts.updated += 1;
    else if (outcome === "duplicate") counts.duplicates += 1;
    else if (row !== undefined) await reject(run, row, [outcome.rejected]);
  }
}

function checkRow<C extends string, T>(job: ImportJob<C, T>, row: CsvRow<C>): CheckedRow<T> {
  return row.fault === null ? job.check(row) : { problems: [row.fault] };
}

async function reject<C extends string, T>(run: Run<C, T>, row: CsvRow<C>, reasons: readonly string[]): Promise<void> {
  run.counts.rejected += 1;
  await run.rejects.reject(row, reasons);
}

function report<C extends string, T>(run: Run<C, T>, phase: "check" | "send", done: number): void {
  const total = phase === "check" ? null : run.counts.read;
  run.job.progress?.({ phase, done, total, counts: { ...run.counts } });
}

/** A set of row numbers that costs one bit per row, so that a million bad rows need 125 kB. */
interface RowSet {
  add(row: number): void;
  has(row: number): boolean;
}

/** An empty set of row numbers from 0 on. */
function rowSet(): RowSet {
  let bits = new Uint8Array(1024);
  return {
    add(row) {
      const byte = row >> 3;
      if (byte >= bits.length) {
        const wider = new Uint8Array(Math.max(bits.length * 2, byte + 1));
        wider.set(bits);
        bits = wider;
      }
      bits[byte] = (bits[byte] ?? 0) | (1 << (row & 7));
    },
    has: (row) => ((bits[row >> 3] ?? 0) & (1 << (row & 7))) !== 0,
  };
}
