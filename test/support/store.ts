import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import pg from "pg";
import { onTestFinished } from "vitest";
import type { Clock } from "../../src/core/kernel/clock.ts";
import { randomIds } from "../../src/core/kernel/ids.ts";
import { migrate } from "../../src/core/store/migrations/migrate.ts";
import type { Migration } from "../../src/core/store/migrations/migration.ts";
import { type Location, openStore } from "../../src/core/store/open/open.ts";
import { openPostgres } from "../../src/core/store/postgres/postgres.ts";
import { openSqlite } from "../../src/core/store/sqlite/sqlite.ts";
import type { Store } from "../../src/core/store/store.ts";
import { asSent } from "./as-sent.ts";
import { type Owner, thisTest } from "./owner.ts";

export const onPostgres = process.env.ESIMCTL_TEST_ENGINE === "postgres";

export interface TestStore {
  store: Store;
  location: Location;
  masterKey: Buffer;
  /** A second store on the same database, as another process would open it; by its own clock, if it has one. */
  again(clock?: Clock): Promise<Store>;
}

/** A temporary directory, removed with the test or another owner. */
export function temporaryDirectory(owner: Owner = thisTest): string {
  const directory = mkdtempSync(join(tmpdir(), "esimctl-test-"));
  owner(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A fresh database of the engine under test; closed and removed with the test. */
export async function openTestStore(clock: Clock): Promise<TestStore> {
  const location = onPostgres ? await emptyPostgres() : { file: await emptyDatabase(), create: true };
  const masterKey = randomBytes(32);
  const again = async (own = clock) => {
    const opened = await openStore(location, { clock: own, ids: randomIds(), masterKey });
    onTestFinished(() => opened.close());
    return asSent(opened);
  };
  return { store: await again(), location, masterKey, again };
}

/** Runs statements on a database, past the store. */
export async function runStatements(location: Location, statements: string[]): Promise<void> {
  if ("url" in location) {
    const client = new pg.Client({ connectionString: location.url });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    return client.end();
  }
  const database = new Database(location.file);
  for (const statement of statements) database.exec(statement);
  database.close();
}

/** Makes a database as `migrations` leave it, with rows of that time. */
export async function asBefore(location: Location, migrations: Migration[], rows: string[]): Promise<void> {
  const statements: string[] = [];
  await migrate({ run: async (text) => void statements.push(text), rows: async () => [] }, migrations);
  await runStatements(location, [...statements, ...rows]);
}

/** A place for a database that the test makes itself. */
export async function freshLocation(): Promise<Location> {
  return onPostgres ? freshPostgres() : { file: join(temporaryDirectory(), "old.db"), create: true };
}

/** A database as it was before `migration` ran: what the migration filled is emptied by `statements`. */
export function rewind(location: Location, migration: string, statements: string[]): Promise<void> {
  return runStatements(location, [...statements, `DELETE FROM schema_history WHERE name = '${migration}'`]);
}

let migrated: Promise<Buffer> | null = null;

async function emptyDatabase(): Promise<string> {
  const file = join(temporaryDirectory(), "esimctl.db");
  await copyEmptyDatabase(file);
  return file;
}

/** Writes a database with the current schema and nothing in it: migrating one is many times the work of copying it. */
export async function copyEmptyDatabase(file: string): Promise<void> {
  migrated ??= migratedDatabase();
  writeFileSync(file, await migrated, { mode: 0o600 });
}

async function migratedDatabase(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), "esimctl-test-"));
  try {
    const file = join(folder, "esimctl.db");
    await (await openSqlite(file, { create: true, verify: false })).close();
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A database of its own on the suite's PostgreSQL, dropped with the test. */
export async function freshPostgres(): Promise<{ url: string }> {
  const made = await createDatabase();
  onTestFinished(() => dropDatabase(made.name));
  return { url: made.url };
}

/** The URL of the same; undefined where SQLite is under test, whose database is in the directory of its data. */
export async function freshUrl(): Promise<string | undefined> {
  return onPostgres ? (await freshPostgres()).url : undefined;
}

let template: Promise<string> | null = null;

/** The same with the current schema and nothing in it: a copy takes a part of the work of the migrations. */
async function emptyPostgres(): Promise<{ url: string }> {
  template ??= migratedPostgres();
  const made = await createDatabase(`TEMPLATE ${await template} ${await copyingFiles()}`);
  onTestFinished(() => dropDatabase(made.name));
  return { url: made.url };
}

let strategy: Promise<string> | null = null;

/**
 * How a small database is copied quickest: its files, with what sessions have prepared in them, in place of each page
 * through the log. Before PostgreSQL 15 there was no other way.
 */
function copyingFiles(): Promise<string> {
  strategy ??= onServer(serverUrl(), "SHOW server_version_num").then(([version]) =>
    Number(version?.server_version_num) < 150_000 ? "" : "STRATEGY file_copy",
  );
  return strategy;
}

/** The name of a database without connections. It is dropped with the server. */
async function migratedPostgres(): Promise<string> {
  const { name, url } = await createDatabase();
  await (await openPostgres({ url })).close();
  return name;
}

function serverUrl(): string {
  const server = process.env.ESIMCTL_TEST_POSTGRES;
  if (server === undefined) throw new Error("the PostgreSQL suite was not started by its configuration");
  return server;
}

async function createDatabase(how = ""): Promise<{ name: string; url: string }> {
  const name = `t_${randomBytes(8).toString("hex")}`;
  await onServer(serverUrl(), `CREATE DATABASE ${name} ${how}`);
  const url = new URL(serverUrl());
  url.pathname = `/${name}`;
  return { name, url: url.toString() };
}

async function dropDatabase(name: string): Promise<void> {
  await onServer(serverUrl(), `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
}

async function onServer(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<Record<string, unknown>>(statement);
  await client.end();
  return rows;
}
