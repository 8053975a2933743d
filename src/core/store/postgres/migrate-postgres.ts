import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import { alteredTables, migrate, migrationsOf, pendingMigrations } from "../migrations/migrate.ts";
import type { MigrationTarget } from "../migrations/migration.ts";
import { isUnavailable } from "../problems.ts";
import type { PostgresAddress } from "./address.ts";
import { asStoreError, faultOf } from "./faults.ts";
import { openSession, refusePooler, WRITE_LOCK } from "./session.ts";

/** How long a migration waits for the lock of all writes (ms), and how often it tries: for about five minutes. */
const LOCK_WAIT_MS = 2_000;
const BETWEEN_ATTEMPTS_MS = 2_000;
const ATTEMPTS = 150;
/** How long it waits for a table's lock (ms): nodes that serve wait meanwhile. */
const TABLE_WAIT_MS = 100;
/** When the server ends a migration that does nothing (ms): its node is suspended, and all others cannot write. */
const IDLE_MS = 8_000;

/** Called each time that opening has to wait for other sessions, with words for a person. */
export type OnWait = (words: string) => void;

/** Brings the schema up to date. Throws `StoreError`: as `locked` when other sessions kept their locks all the time. */
export async function migratePostgres(address: PostgresAddress, onWait: OnWait = () => undefined): Promise<void> {
  const session = await openSession(address);
  try {
    await refusePooler(session, "--database");
    if (await isUpToDate(session)) return;
    for (let attempt = 1; !(await migrated(session, attempt === ATTEMPTS)); attempt++) {
      onWait("Another session uses tables that the new schema changes: trying again until it lets go of them.");
      await pause(BETWEEN_ATTEMPTS_MS);
    }
  } catch (error) {
    throw asStoreError(error);
  } finally {
    await session.end().catch(() => undefined);
  }
}

/** Whether nothing is to be migrated: then the start of a node waits for no lock. */
async function isUpToDate(session: pg.Client): Promise<boolean> {
  return (await isMade(session)) && (await pendingMigrations(targetOf(session), migrationsOf("postgres"))).length === 0;
}

async function isMade(session: pg.Client): Promise<boolean> {
  const { rows } = await session.query("SELECT to_regclass('schema_history') IS NOT NULL AS made");
  return rows[0]?.made === true;
}

/** Locks the tables that are to be altered, before other work is done: it would be in vain where one is in use. */
async function lockTables(session: pg.Client): Promise<void> {
  if (!(await isMade(session))) return;
  const wanted = migrationsOf("postgres");
  const pending = await pendingMigrations(targetOf(session), wanted);
  const tables = alteredTables(wanted.filter(({ name }) => pending.includes(name)));
  const { rows } = await session.query("SELECT name FROM unnest($1::text[]) name WHERE to_regclass(name) IS NOT NULL", [
    tables,
  ]);
  if (rows.length > 0) await session.query(`LOCK TABLE ${rows.map(({ name }) => name).join(", ")}`);
}

/**
 * One attempt. It waits for locks for a short time only: all writes wait for it once it has their lock, and all that
 * come later wait behind a session that waits for a table's lock. False: a lock was not to be had, and nothing changed;
 * the last attempt throws instead.
 */
async function migrated(session: pg.Client, isLast: boolean): Promise<boolean> {
  await session.query("BEGIN");
  try {
    await session.query(`SET LOCAL lock_timeout = ${LOCK_WAIT_MS}`);
    await session.query(`SET LOCAL idle_in_transaction_session_timeout = ${IDLE_MS}`);
    await session.query(`SELECT pg_advisory_xact_lock(${WRITE_LOCK})`);
    await session.query(`SET LOCAL lock_timeout = ${TABLE_WAIT_MS}`);
    await lockTables(session);
    await migrate(targetOf(session), migrationsOf("postgres"));
    await session.query("COMMIT");
    return true;
  } catch (error) {
    // On a lost session nothing is left to roll back.
    await session.query("ROLLBACK").catch(() => undefined);
    const fault = faultOf(error, false);
    if (!isLast && isUnavailable(fault) && fault.reason === "locked") return false;
    throw error;
  }
}

const targetOf = (session: pg.Client): MigrationTarget => ({
  run: async (statement) => void (await session.query(statement)),
  rows: async (statement) => (await session.query(statement)).rows,
});
