import Database from "better-sqlite3";
import pg from "pg";
import { onTestFinished } from "vitest";
import { dataDirectory } from "../../src/core/platform/data-directory.ts";
import type { Location } from "../../src/core/store/open/open.ts";
import type { Served } from "./daemon.ts";
import { eventually } from "./hangs.ts";

/** Runs statements on a database, past the program. */
export async function onDatabase(location: Location, statements: string): Promise<void> {
  if ("url" in location) return onPostgresAt(location.url, statements);
  const connection = new Database(location.file);
  connection.exec(statements);
  connection.close();
}

/** A session on a PostgreSQL database, past the program; it ends with the test. */
export async function sessionOn(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** Where the database is that a daemon serves. */
export function locationOf(served: Served): Location {
  if ("database" in served) return { url: served.database };
  return { file: dataDirectory(served.data).databaseFile, create: false };
}

/** The rows that a query finds. Integers are numbers on both engines. */
export type Rows = <Row extends object = Record<string, unknown>>(query: string) => Promise<Row[]>;

/** Looks at what is committed, in one snapshot, past the program and beside it. */
export async function inSnapshot<T>(location: Location, look: (rows: Rows) => Promise<T>): Promise<T> {
  if ("url" in location) return inPostgresSnapshot(location.url, look);
  const connection = new Database(location.file, { readonly: true });
  try {
    connection.exec("BEGIN");
    return await look(async <Row extends object>(query: string) => connection.prepare<[], Row>(query).all());
  } finally {
    connection.close();
  }
}

/** What PostgreSQL counts (bigint) and sums up (numeric). */
const NUMBERS: number[] = [pg.types.builtins.INT8, pg.types.builtins.NUMERIC];

async function inPostgresSnapshot<T>(url: string, look: (rows: Rows) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, types: { getTypeParser: parserOf } });
  await client.connect();
  try {
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    return await look(async <Row extends object>(query: string) => (await client.query<Row>(query)).rows);
  } finally {
    await client.end();
  }
}

const parserOf: typeof pg.types.getTypeParser = (id: number, format?: "text" | "binary") =>
  NUMBERS.includes(id) ? Number : pg.types.getTypeParser(id, format);

const SESSIONS = `
  SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`;
const LEASED = ["orders", "order_items", "activations", "deliveries", "topups"];
const LEASES_END = LEASED.map((table) => `UPDATE ${table} SET due_at = 1, leased_until = 1 WHERE leased_until > 1`);

/** Ends the leases of a node that was killed, as time does, once its sessions are through; nothing else uses `url`. */
export async function endLeases(url: string): Promise<void> {
  await eventually(
    () => inSnapshot({ url }, (rows) => rows(SESSIONS)),
    (sessions) => sessions.length === 0,
  );
  await onDatabase({ url }, LEASES_END.join(";"));
}

async function onPostgresAt(url: string, statements: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statements).finally(() => client.end());
}

/** The suite's PostgreSQL server itself. */
const onServer = (statements: string) => onPostgresAt(process.env.ESIMCTL_TEST_POSTGRES ?? "", statements);

const nameOf = (url: string) => new URL(url).pathname.slice(1);

/** Ends every session on a database of the suite's PostgreSQL. */
export function cutConnections(url: string): Promise<void> {
  return onServer(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${nameOf(url)}'`);
}

/** Makes a database of the suite's PostgreSQL refuse connections, and ends open ones. */
export async function refuseConnections(url: string): Promise<void> {
  await onServer(`ALTER DATABASE ${nameOf(url)} WITH ALLOW_CONNECTIONS false`);
  await cutConnections(url);
}

/** The end of `refuseConnections`. */
export function acceptConnections(url: string): Promise<void> {
  return onServer(`ALTER DATABASE ${nameOf(url)} WITH ALLOW_CONNECTIONS true`);
}

/** Makes a database of the suite's PostgreSQL read-only, or writable again, for new sessions; ends open ones. */
export async function setReadOnly(url: string, yes: boolean): Promise<void> {
  const change = yes ? "SET default_transaction_read_only = on" : "RESET default_transaction_read_only";
  await onServer(`ALTER DATABASE ${nameOf(url)} ${change}`);
  await cutConnections(url);
}
