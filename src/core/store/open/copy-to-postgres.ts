import Database from "better-sqlite3";
import type pg from "pg";
import type { PostgresAddress } from "../postgres/address.ts";
import { asStoreError } from "../postgres/faults.ts";
import { openPostgres } from "../postgres/postgres.ts";
import { openSession } from "../postgres/session.ts";
import { StoreError } from "../problems.ts";
import { asStoreError as asSqliteError } from "../sqlite/faults.ts";
import {
  type Cell,
  type CopiedTable,
  type CopyProgress,
  createDigest,
  requireSame,
  rowsIn,
  rowsOn,
  tablesInOrder,
} from "./copied-tables.ts";

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
  const copied: { table: CopiedTable; sent: string }[] = [];
  for (const table of tables) {
    const sent = createDigest();
    for (const batch of rowsIn(source, table)) {
      for (const row of batch) sent.add(row);
      await insert(target, table, batch);
      done += batch.length;
      onProgress({ done, total });
    }
    copied.push({ table, sent: sent.value() });
  }
  // Once all is in: triggers of one table may change another, such as the version of an order.
  for (const { table, sent } of copied) {
    const found = await digestOf(target, table);
    requireSame(table.name, { sent, found }, "Look into the server's log, and whether its encoding is UTF8.");
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

async function insert(target: pg.Client, { name, columns, types }: CopiedTable, rows: Cell[][]): Promise<void> {
  const names = columns.map((column) => `"${column}"`).join(", ");
  const arrays = types.map((type, at) => `$${at + 1}::${type}[]`).join(", ");
  const text = `INSERT INTO "${name}" (${names}) SELECT * FROM unnest(${arrays})`;
  await target.query({ name: `copy_${name}`, text, values: columns.map((_, at) => rows.map((row) => row[at])) });
}

async function digestOf(target: pg.Client, table: CopiedTable): Promise<string> {
  const found = createDigest();
  for await (const batch of rowsOn(target, table)) for (const row of batch) found.add(row);
  return found.value();
}
