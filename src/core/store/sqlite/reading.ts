import Database from "better-sqlite3";
import { counted } from "../../kernel/counted.ts";
import type { Engine } from "../engine.ts";
import { migrate, migrationsOf, pendingMigrations } from "../migrations/migrate.ts";
import type { Migration, MigrationTarget } from "../migrations/migration.ts";
import { driftBetween, type Inspection, type Shape } from "../shape.ts";
import { connectionOver } from "./dialect.ts";
import { asStoreError } from "./faults.ts";

/** The table in a backup's file that makes it one. */
export const BACKUP_TABLE = "esimctl_backup";
const BUSY_TIMEOUT_MS = 10_000;
const WORDS_OF_DAMAGE = 20;

/** Opens a database file for reading: nothing is made, migrated or repaired. Throws `StoreError`. */
export function readSqlite(file: string): Pick<Engine, "snapshot" | "ping" | "close"> {
  const connection = connect(file);
  const given = connectionOver(connection);
  return {
    async snapshot(run) {
      try {
        connection.exec("BEGIN");
        return await run(given);
      } catch (error) {
        throw asStoreError(error, file);
      } finally {
        if (connection.inTransaction) connection.exec("ROLLBACK");
      }
    },
    ping: async () => ({ now: null, heldMs: null }),
    close: async () => void connection.close(),
  };
}

/** Whether the file has every migration of this program. Throws `StoreError`, also when it has more of them. */
export async function isCurrentSqlite(file: string): Promise<boolean> {
  const connection = connect(file);
  try {
    return (await pendingMigrations(targetOf(connection), migrationsOf("sqlite"))).length === 0;
  } catch (error) {
    throw asStoreError(error, file);
  } finally {
    connection.close();
  }
}

/** Reads the whole file for damage, and compares its schema with the one that our migrations make. */
export async function inspectSqlite(file: string): Promise<Inspection> {
  const connection = connect(file);
  try {
    const damage = damageIn(connection);
    const wanted = migrationsOf("sqlite");
    const pending = await pendingMigrations(targetOf(connection), wanted);
    const expected = await shapeAfter(wanted.filter(({ name }) => !pending.includes(name)));
    return { damage, drift: driftBetween(expected, shapeOf(connection)), pending };
  } catch (error) {
    throw asStoreError(error, file);
  } finally {
    connection.close();
  }
}

const shapes = new Map<string, Shape>();

/** The schema that these migrations make; they are run once per process, as they take longer than small checks do. */
async function shapeAfter(migrations: Migration[]): Promise<Shape> {
  const key = migrations.map(({ name }) => name).join();
  const known = shapes.get(key);
  if (known !== undefined) return known;
  const expected = new Database(":memory:");
  try {
    await migrate(targetOf(expected), migrations);
    const shape = shapeOf(expected);
    shapes.set(key, shape);
    return shape;
  } finally {
    expected.close();
  }
}

function connect(file: string): Database.Database {
  try {
    return new Database(file, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
  } catch (error) {
    throw asStoreError(error, file);
  }
}

function damageIn(connection: Database.Database): string[] {
  // Both pragmas answer rows of the shapes that SQLite documents for them.
  const pages = connection.pragma(`integrity_check(${WORDS_OF_DAMAGE})`) as { integrity_check: string }[];
  const strays = connection.pragma("foreign_key_check") as { table: string; parent: string }[];
  const lost = Map.groupBy(strays, ({ table, parent }) => `${table} that name a row of ${parent} which is not there`);
  return [
    ...pages.map((row) => row.integrity_check).filter((words) => words !== "ok"),
    ...[...lost].map(([words, rows]) => `${counted(rows.length, "row")} of ${words}`),
  ];
}

// A backup's own description is in its file and is no part of the schema.
const WORDS = `SELECT type, name, sql FROM sqlite_master
  WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND tbl_name <> '${BACKUP_TABLE}'`;

function shapeOf(connection: Database.Database): Shape {
  // The columns of sqlite_master, as SQLite documents them.
  const rows = connection.prepare(WORDS).all() as { type: string; name: string; sql: string | null }[];
  return new Map(rows.map(({ type, name, sql }) => [`${type} ${name}`, (sql ?? "").replaceAll(/\s+/g, " ").trim()]));
}

function targetOf(connection: Database.Database): MigrationTarget {
  return {
    run: async (statement) => void connection.exec(statement),
    // better-sqlite3 types rows as unknown; each is an object of columns.
    rows: async (statement) => connection.prepare(statement).all() as Record<string, unknown>[],
  };
}
