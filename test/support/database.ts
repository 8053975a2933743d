import Database from "better-sqlite3";
import pg from "pg";
import type { Location } from "../../src/core/store/engines/open.ts";

/** Runs statements on a database, past the program. */
export async function onDatabase(location: Location, statements: string): Promise<void> {
  if ("url" in location) return onPostgresAt(location.url, statements);
  const connection = new Database(location.file);
  connection.exec(statements);
  connection.close();
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
