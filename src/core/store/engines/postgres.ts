import { drizzle } from "drizzle-orm/node-postgres";
import pg from "pg";
import type { Writer } from "../group-commit.ts";
import { migrate, migrationsOf } from "../migrate.ts";
import { StoreError } from "../problems.ts";
import { postgresTables } from "../schema/postgres-tables.ts";
import type { Db } from "../store.ts";
import type { Connection, Engine, TxMaker } from "./engine.ts";

/** Every writing transaction on one database holds this advisory lock: one at a time, on any number of nodes. */
const WRITE_LOCK = 5_214_801;

/**
 * PostgreSQL through a pool. Writes take one advisory lock for their transaction, so that commands see exactly what
 * they see on SQLite: nothing moves under them. Group commit makes up for it.
 */
export async function openPostgres(url: string): Promise<Engine> {
  const pool = new pg.Pool({
    connectionString: url,
    max: 12,
    connectionTimeoutMillis: 10_000,
    application_name: "esimctl",
  });
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on("error", () => undefined);
  try {
    await migratePostgres(pool);
  } catch (error) {
    await pool.end();
    throw asStoreError(error);
  }
  return postgresEngine(pool);
}

async function migratePostgres(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    await client.query(`SELECT pg_advisory_xact_lock(${WRITE_LOCK})`);
    await migrate(
      {
        run: async (statement) => void (await client.query(statement)),
        rows: async (statement) => (await client.query(statement)).rows,
      },
      migrationsOf("postgres"),
    );
    await client.query("COMMIT");
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }
}

function postgresEngine(pool: pg.Pool): Engine {
  const known = new WeakMap<pg.PoolClient, Connection>();

  function connectionOf(client: pg.PoolClient): Connection {
    let connection = known.get(client);
    if (connection === undefined) {
      // The query builder has the same shape for both engines; see schema/kit.ts.
      connection = { db: drizzle(client) as unknown as Db, t: postgresTables, prepared: new Map() };
      known.set(client, connection);
    }
    return connection;
  }

  return {
    async snapshot(run) {
      const client = await pool.connect();
      let broken = true;
      try {
        await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
        try {
          return await run(connectionOf(client));
        } finally {
          await client.query("COMMIT");
          broken = false;
        }
      } finally {
        client.release(broken);
      }
    },
    writer: (makeTx) => postgresWriter(pool, connectionOf, makeTx),
    async epoch() {
      const { rows } = await pool.query({ name: "epoch", text: "SELECT value FROM settings WHERE key = 'epoch'" });
      return Number(rows[0]?.value ?? 0);
    },
    ping: async () => void (await pool.query("SELECT 1")),
    close: () => pool.end(),
  };
}

function postgresWriter(pool: pg.Pool, connectionOf: (client: pg.PoolClient) => Connection, makeTx: TxMaker): Writer {
  let client: pg.PoolClient | null = null;

  function current(): pg.PoolClient {
    if (client === null) throw new Error("no transaction is open");
    return client;
  }

  return {
    async begin() {
      client = await pool.connect();
      await client.query("BEGIN");
      await client.query(`SELECT pg_advisory_xact_lock(${WRITE_LOCK})`);
    },
    savepoint: async () => void (await current().query("SAVEPOINT command")),
    release: async () => void (await current().query("RELEASE SAVEPOINT command")),
    async rollbackToSavepoint() {
      await current().query("ROLLBACK TO SAVEPOINT command");
      await current().query("RELEASE SAVEPOINT command");
    },
    async commit() {
      await current().query("COMMIT");
      current().release();
      client = null;
    },
    async rollback() {
      if (client === null) return;
      // A connection that cannot even roll back is thrown away; the server then undoes the transaction itself.
      const undone = await client.query("ROLLBACK").then(
        () => true,
        () => false,
      );
      client.release(!undone);
      client = null;
    },
    tx: (signal, requestId) => makeTx(connectionOf(current()), signal, requestId),
  };
}

/** Any fault but our own in words. */
export function asStoreError(error: unknown): unknown {
  if (error instanceof StoreError) return error;
  const words = error instanceof Error ? error.message || String(error) : String(error);
  return new StoreError(
    `The PostgreSQL database cannot be used: ${words}.`,
    "Check the --database address, that the server runs, and that this user may create tables there.",
    error,
  );
}
