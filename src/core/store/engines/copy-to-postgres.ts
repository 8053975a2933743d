import { createHash } from "node:crypto";
import Database from "better-sqlite3";
import { getTableColumns, getTableName } from "drizzle-orm";
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";
import type pg from "pg";
import { StoreError } from "../problems.ts";
import { postgresTables } from "../schema/postgres-tables.ts";
import { openPostgres } from "./postgres.ts";
import type { PostgresAddress } from "./postgres-address.ts";
import { asStoreError } from "./postgres-faults.ts";
import { openSession } from "./postgres-session.ts";
import { asStoreError as asSqliteError } from "./sqlite-faults.ts";

const BATCH = 1000;

/** How far a copy is. */
export interface CopyProgress {
  done: number;
  total: number;
}

type Cell = string | null;

/** A table as its copy needs it. */
interface CopiedTable {
  name: string;
  columns: string[];
  /** What each column is on PostgreSQL: text or bigint. */
  types: string[];
  /** The tables that it refers to, itself left out. */
  needs: string[];
}

/** Every table, those first that others refer to. */
function tablesInOrder(): CopiedTable[] {
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

/**
 * Copies all of an up-to-date SQLite database into an unused PostgreSQL database, in one transaction there, and
 * compares every table's content before the commit. Nothing writes to the source meanwhile: its write lock is held
 * until `committed` has run. Answers the rows copied. Throws `StoreError`: then the target holds no data, unless
 * `committed` threw.
 */
export async function copyToPostgres(
  file: string,
  address: PostgresAddress,
  { onProgress, committed }: { onProgress: (progress: CopyProgress) => void; committed: () => Promise<void> },
): Promise<number> {
  await openPostgres(address).then((engine) => engine.close());
  const target = await openSession(address);
  const source = new Database(file, { fileMustExist: true, timeout: 10_000 });
  source.defaultSafeIntegers(true);
  try {
    source.exec("BEGIN IMMEDIATE");
    await target.query("BEGIN");
    const rows = await copyTables(source, target, onProgress);
    await target.query("COMMIT");
    await committed();
    return rows;
  } catch (error) {
    throw error instanceof Database.SqliteError ? asSqliteError(error, file) : asStoreError(error);
  } finally {
    // Ending the session takes back what was not committed.
    await target.end().catch(() => undefined);
    source.close();
  }
}

async function copyTables(
  source: Database.Database,
  target: pg.Client,
  onProgress: (progress: CopyProgress) => void,
): Promise<number> {
  const tables = tablesInOrder();
  await refuseUsed(target, tables);
  const total = tables.reduce((sum, { name }) => sum + countIn(source, name), 0);
  let done = 0;
  for (const table of tables) {
    const sent = createDigest();
    for (const batch of batchesOf(source, table)) {
      for (const row of batch) sent.add(row);
      await insert(target, table, batch);
      done += batch.length;
      onProgress({ done, total });
    }
    if ((await digestOnTarget(target, table)) !== sent.value()) {
      throw new StoreError(
        `The copy of ${table.name} differs from the original.`,
        "Nothing was kept. Look into the PostgreSQL server's log, and whether its encoding is UTF8.",
      );
    }
  }
  return done;
}

/** Throws `StoreError` when any table holds a row: two installations are never mixed. */
async function refuseUsed(target: pg.Client, tables: CopiedTable[]): Promise<void> {
  for (const { name } of tables) {
    await target.query(`LOCK TABLE "${name}" IN EXCLUSIVE MODE`);
    const { rowCount } = await target.query(`SELECT 1 FROM "${name}" LIMIT 1`);
    if (rowCount === 0) continue;
    throw new StoreError(
      "That PostgreSQL database holds esimctl data already.",
      "Name a new, empty database; if a move was cut off at its very end, drop this one and create it again.",
    );
  }
}

function countIn(source: Database.Database, table: string): number {
  return Number(source.prepare(`SELECT count(*) FROM "${table}"`).pluck().get());
}

function* batchesOf(source: Database.Database, { name, columns }: CopiedTable): Generator<Cell[][]> {
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

async function insert(target: pg.Client, { name, columns, types }: CopiedTable, rows: Cell[][]): Promise<void> {
  const names = columns.map((column) => `"${column}"`).join(", ");
  const arrays = types.map((type, at) => `$${at + 1}::${type}[]`).join(", ");
  const text = `INSERT INTO "${name}" (${names}) SELECT * FROM unnest(${arrays})`;
  await target.query({ name: `copy_${name}`, text, values: columns.map((_, at) => rows.map((row) => row[at])) });
}

async function digestOnTarget(target: pg.Client, { name, columns }: CopiedTable): Promise<string> {
  const found = createDigest();
  const names = columns.map((column) => `"${column}"::text`).join(", ");
  await target.query(`DECLARE copied CURSOR FOR SELECT ${names} FROM "${name}"`);
  for (;;) {
    const { rows } = await target.query<unknown[]>({ text: `FETCH ${BATCH} FROM copied`, rowMode: "array" });
    if (rows.length === 0) break;
    for (const row of rows) found.add(row.map(asCell));
  }
  await target.query("CLOSE copied");
  return found.value();
}

function asCell(value: unknown): Cell {
  return value === null ? null : String(value);
}

/** The checksum of a set of rows, in whatever order they come: their number, and the sum of their hashes. */
function createDigest() {
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
