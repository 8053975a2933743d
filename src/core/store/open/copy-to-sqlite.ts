import Database from "better-sqlite3";
import type pg from "pg";
import type { PostgresAddress } from "../postgres/address.ts";
import { asStoreError } from "../postgres/faults.ts";
import { openSession, WRITE_LOCK } from "../postgres/session.ts";
import { MOVED } from "../sealing/relocated.ts";
import { asStoreError as asSqliteError } from "../sqlite/faults.ts";
import { openSqlite } from "../sqlite/sqlite.ts";
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

/** How long a transaction of a node that just ended may keep a lock (ms). */
const LOCK_WAIT_MS = 20_000;

/** How a copy to SQLite is followed. */
interface Following {
  onProgress: (progress: CopyProgress) => void;
  /** Runs when the file is complete and compared, before the source is closed. Answers what that one moved to. */
  copied: () => Promise<string>;
}

/**
 * Copies all of an up-to-date PostgreSQL database into a new SQLite file and compares every table's content. Nothing
 * writes to the source meanwhile: its write lock and its tables are locked until `copied` has run; from then on it
 * refuses to be opened. Answers the rows copied. Throws `StoreError`: then the source stays in use, and the file is
 * the caller's to remove.
 */
export async function copyToSqlite(
  address: PostgresAddress,
  file: string,
  { onProgress, copied }: Following,
): Promise<number> {
  await openSqlite(file, { create: true, verify: false }).then((engine) => engine.close());
  const source = await openSession(address);
  try {
    await source.query("BEGIN");
    await source.query(`SET LOCAL lock_timeout = ${LOCK_WAIT_MS}`);
    await source.query(`SELECT pg_advisory_xact_lock(${WRITE_LOCK})`);
    const rows = await copyTables(source, file, onProgress);
    await closeSource(source, await copied());
    await source.query("COMMIT");
    return rows;
  } catch (error) {
    throw error instanceof Database.SqliteError ? asSqliteError(error, file) : asStoreError(error);
  } finally {
    // Ending the session takes back what was not committed.
    await source.end().catch(() => undefined);
  }
}

async function copyTables(source: pg.Client, file: string, onProgress: Following["onProgress"]): Promise<number> {
  const tables = tablesInOrder();
  // Not the write lock alone: no other program writes either.
  await source.query(`LOCK TABLE ${tables.map(({ name }) => `"${name}"`).join(", ")} IN EXCLUSIVE MODE`);
  let total = 0;
  for (const { name } of tables) {
    const { rows } = await source.query(`SELECT count(*) AS rows FROM "${name}"`);
    total += Number(rows[0]?.rows);
  }
  const target = new Database(file, { fileMustExist: true });
  target.defaultSafeIntegers(true);
  target.pragma("synchronous = FULL");
  target.pragma("foreign_keys = ON");
  try {
    target.exec("BEGIN IMMEDIATE");
    let done = 0;
    const copied: { table: CopiedTable; sent: string }[] = [];
    for (const table of tables) {
      const sent = await copyTable({ source, target, table }, (rows) => {
        done += rows;
        onProgress({ done, total });
      });
      copied.push({ table, sent });
    }
    // Once all is in: triggers of one table may change another, such as the version of an order.
    for (const { table, sent } of copied) {
      const found = createDigest();
      for (const batch of rowsIn(target, table)) for (const row of batch) found.add(row);
      requireSame(table.name, { sent, found: found.value() }, "Check the disk of the data directory.");
    }
    target.exec("COMMIT");
    target.pragma("wal_checkpoint(TRUNCATE)");
    return done;
  } finally {
    target.close();
  }
}

interface Copying {
  source: pg.Client;
  target: Database.Database;
  table: CopiedTable;
}

/** Copies the rows of a table; answers the checksum of what was read. */
async function copyTable({ source, target, table }: Copying, onRows: (rows: number) => void): Promise<string> {
  const { name, columns, types } = table;
  const places = columns.map(() => "?").join(", ");
  const names = columns.map((column) => `"${column}"`).join(", ");
  const insert = target.prepare(`INSERT INTO "${name}" (${names}) VALUES (${places})`);
  const sent = createDigest();
  for await (const batch of rowsOn(source, table)) {
    for (const row of batch) {
      sent.add(row);
      insert.run(row.map((cell, at) => bound(cell, types[at])));
    }
    onRows(batch.length);
  }
  return sent.value();
}

function bound(cell: Cell, type: string | undefined): string | bigint | null {
  return cell === null || type === "text" ? cell : BigInt(cell);
}

/** Notes where the data went on, and raises the epoch: nodes that still run look at the note with it. */
async function closeSource(source: pg.Client, to: string): Promise<void> {
  await source.query("INSERT INTO settings (key, value) VALUES ($1, $2)", [MOVED, to]);
  await source.query("UPDATE settings SET value = (value::bigint + 1)::text WHERE key = 'epoch'");
}
