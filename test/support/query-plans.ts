import type Database from "better-sqlite3";

/**
 * Tables of a handful of rows, made by the operator or the program itself: reading them whole is right. `due_keys` is
 * what platform/due-keys.ts has found so far, a key for each search of an index.
 */
export const smallTables = [
  "settings",
  "data_keys",
  "signing_keys",
  "carriers",
  "suppliers",
  "cron_runs",
  "outages",
  "due_keys",
];

/** A statement as the engine gets it. */
export interface Statement {
  sql: string;
  parameters: number;
}

/** What SQLite would do for a statement, a line a step; nothing is run. */
export function planOf(connection: Database.Database, { sql, parameters }: Statement): string[] {
  const nulls = Array.from({ length: parameters }, () => null);
  // Each row of a plan has its text in `detail`.
  const rows = connection.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...nulls) as { detail: string }[];
  return rows.map(({ detail }) => detail);
}

/**
 * What would make a statement dearer as the database grows: reading a table or an index from end to end, sorting what
 * was found, or walking to a page instead of going there.
 */
export function faultsOf({ sql }: Statement, plan: string[]): string[] {
  const steps = plan.filter((step) => !isSmall(step));
  const scans = steps.filter((step) => /^SCAN (?!CONSTANT ROW)/.test(step));
  const grows = steps.some((step) => /^(SCAN|SEARCH)/.test(step));
  const sorts = grows ? steps.filter((step) => step.startsWith("USE TEMP B-TREE")) : [];
  return [...scans, ...sorts, ...(walksToItsPage(sql, plan) ? ["the page's position is no part of the search"] : [])];
}

function isSmall(step: string): boolean {
  return smallTables.includes(/^(?:SCAN|SEARCH) (\w+)/.exec(step)?.[1] ?? "");
}

/** Whether rows before a page's position, `(column, id) > (?, ?)`, are read to get there. */
function walksToItsPage(sql: string, plan: string[]): boolean {
  const position = /\("\w+"\."(\w+)", "\w+"\."\w+"\) ([<>]) \(\?, \?\)/.exec(sql);
  if (position === null) return false;
  const [, column, sign] = position;
  const reached = new RegExp(`\\b${column}(,\\w+\\))?${sign}`);
  return !plan.some((step) => step.startsWith("SEARCH") && reached.test(step));
}
