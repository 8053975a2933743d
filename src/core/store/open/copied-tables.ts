import { createHash } from "node:crypto";
import type Database from "better-sqlite3";
import { getTableColumns, getTableName } from "drizzle-orm";
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";
import type pg from "pg";
import { StoreError } from "../problems.ts";
import { postgresTables } from "../schema/postgres-tables.ts";

/** Rows that a copy reads and writes at once. */
const BATCH = 1000;

/** How far a copy is. */
export interface CopyProgress {
  done: number;
  total: number;
}

/** A value as both engines word it. */
export type Cell = string | null;

/** A table as its copy needs it. */
export interface CopiedTable {
  name: string;
  columns: string[];
  /** What each column is on PostgreSQL: text or bigint. */
  types: string[];
  /** The tables that it refers to, itself left out. */
  needs: string[];
}

/** Every table, those first that others refer to. */
export function tablesInOrder(): CopiedTable[] {
  // The kit builds these with PostgreSQL's own builders; its type names SQLite's (schema/kit.ts).
  const waiting = Object.values(postgresTables).map((table) => copied(table as unknown as PgTable));
  const ordered: CopiedTable[] = [];
  while (waiting.length > 0) {
    const ready = waiting.findIndex(({ needs }) => needs.every((need) => ordered.some(({ name }) => name === need)));
    if (ready < 0) throw new Error(`tables refer to each other in a circle: ${waiting.map(({ name }) => name)}`);
    ordered.push(...waiting.splice(ready, 1));
  }
  return ordered;
}

function copied(table: PgTable): CopiedTable {
  const columns = Object.values(getTableColumns(table));
  const name = getTableName(table);
  const needs = getTableConfig(table).foreignKeys.map((key) => getTableName(key.reference().foreignTable));
  return {
    name,
    columns: columns.map((column) => column.name),
    types: columns.map((column) => (column.getSQLType().startsWith("text") ? "text" : "bigint")),
    needs: needs.filter((need) => need !== name),
  };
}

/** Throws `StoreError` when the rows that were read are not those that were sent. */
export function requireSame(table: string, { sent, found }: { sent: string; found: string }, hint: string): void {
  if (sent === found) return;
  throw new StoreError(`The copy of ${table} differs from the original.`, `Nothing was kept. ${hint}`);
}

/** The rows of a table in SQLite, in batches. */
export function* rowsIn(source: Database.Database, { name, columns }: CopiedTable): Generator<Cell[][]> {
  const select = source.prepare(`SELECT ${columns.map((column) => `"${column}"`).join(", ")} FROM "${name}"`).raw();
  let batch: Cell[][] = [];
  for (const row of select.iterate()) {
    // `raw` yields each row as an array.
    batch.push((row as unknown[]).map(asCell));
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** The rows of a table on PostgreSQL, in batches; inside a transaction. */
export async function* rowsOn(source: pg.Client, { name, columns }: CopiedTable): AsyncGenerator<Cell[][]> {
  const names = columns.map((column) => `"${column}"::text`).join(", ");
  await source.query(`DECLARE copied CURSOR FOR SELECT ${names} FROM "${name}"`);
  for (;;) {
    const { rows } = await source.query<unknown[]>({ text: `FETCH ${BATCH} FROM copied`, rowMode: "array" });
    if (rows.length === 0) break;
    yield rows.map((row) => row.map(asCell));
  }
  await source.query("CLOSE copied");
}

/** A value of either engine as both word it. */
function asCell(value: unknown): Cell {
  return value === null ? null : String(value);
}

/** The checksum of a set of rows, in whatever order they come: their number, and the sum of their hashes. */
export function createDigest() {
  let count = 0;
  let sum = 0n;
  return {
    add(row: Cell[]) {
      const hash = createHash("sha256").update(JSON.stringify(row)).digest("hex").slice(0, 32);
      sum = BigInt.asUintN(128, sum + BigInt(`0x${hash}`));
      count += 1;
    },
    value: () => `${count}:${sum.toString(16)}`,
  };
}
