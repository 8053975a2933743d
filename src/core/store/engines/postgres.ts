import { getTableName } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import type pg from "pg";
import { ERASURE } from "../erasure.ts";
import type { Writer } from "../group-commit.ts";
import { postgresTables } from "../schema/postgres-tables.ts";
import type { Db } from "../store.ts";
import { sealedColumns } from "../vault.ts";
import type { Connection, Engine, TxMaker } from "./engine.ts";
import { migratePostgres, type OnWait } from "./migrate-postgres.ts";
import type { PostgresAddress } from "./postgres-address.ts";
import { faultOf } from "./postgres-faults.ts";
import { openPool, type Pool } from "./postgres-pool.ts";
import { pulseOf } from "./postgres-pulse.ts";
import { openReplica, positionOf } from "./postgres-replica.ts";
import { type Sending, sendingOn } from "./postgres-sending.ts";
import { openSession, WRITE_LOCK } from "./postgres-session.ts";
import { wakesOver } from "./postgres-wakes.ts";
import { windowDraws } from "./postgres-windows.ts";

/** Connections of one process, unless a budget sets less. */
const MOST_CONNECTIONS = 12;

/**
 * PostgreSQL through a pool. Writes take one advisory lock for their transaction, so that commands see exactly what
 * they see on SQLite: nothing moves under them. Group commit makes up for it.
 */
export async function openPostgres(
  address: PostgresAddress & { replica?: string | undefined },
  { connections, onWait, id }: OpenOptions = {},
): Promise<Engine> {
  await migratePostgres(address, onWait);
  return postgresEngine(address, { connections, id });
}

interface OpenOptions {
  connections?: number | undefined;
  onWait?: OnWait | undefined;
  /** Of this process among others on the database. */
  id?: string;
}

function postgresEngine(
  address: PostgresAddress & { replica?: string | undefined },
  { connections = MOST_CONNECTIONS, id = "" }: Omit<OpenOptions, "onWait">,
): Engine {
  const pool = openPool({ url: address.url, max: connections });
  const wakes = wakesOver(address.url, id, pool);
  const known = new WeakMap<pg.PoolClient, Lent>();

  function lent(client: pg.PoolClient): Lent {
    let own = known.get(client);
    if (own === undefined) {
      const sending = sendingOn(client);
      // The builder calls `query` alone. It has the same shape for both engines; see schema/kit.ts.
      const db = drizzle({ client: sending.client as pg.PoolClient }) as unknown as Db;
      own = { client, sending, connection: { db, t: postgresTables, prepared: new Map() } };
      known.set(client, own);
    }
    return own;
  }

  const { replica: url, insecure } = address;
  const connectionOf = (client: pg.PoolClient) => lent(client).connection;
  const replica = url === undefined ? null : openReplica({ url, insecure }, { connections, connectionOf });

  return {
    async snapshot(run) {
      const client = await pool.lend();
      try {
        // The first query follows it at once.
        const begun = client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
        begun.catch(() => undefined);
        const result = await run(connectionOf(client));
        await begun;
        return result;
      } catch (error) {
        throw pool.fault(error, client);
      } finally {
        await pool.takeBack(client, "COMMIT");
      }
    },
    look: (run) => pool.ask((client) => run(connectionOf(client))),
    writer: (makeTx) => postgresWriter({ pool, lent, makeTx }),
    moment: () =>
      pool.ask(async (client) => {
        const { rows } = await client.query({ name: "epoch", text: "SELECT value FROM settings WHERE key = 'epoch'" });
        // No number of all its commits is as cheap to read.
        return { epoch: Number(rows[0]?.value ?? 0), state: null };
      }),
    replica: replica && { ...replica, position: () => positionOf(pool) },
    erase: () => erasePostgres(address),
    ping: () => pool.ask((client) => pulseOf(client)),
    nodes: { draw: windowDraws(pool), notify: wakes.notify, listen: wakes.listen },
    async close() {
      await wakes.close();
      await Promise.all([pool.close(), replica?.close()]);
    },
  };
}

/** Sessions, prepared transactions and replicas that may still see the database as it was before the noted purge. */
const EARLIER = `
  SELECT 1 FROM settings n, pg_stat_activity a
    WHERE n.key = $1 AND a.pid <> pg_backend_pid() AND a.datname = current_database()
      AND greatest(age(a.backend_xid), age(a.backend_xmin)) >= age(n.xmin)
  UNION ALL SELECT 1 FROM settings n, pg_prepared_xacts p WHERE n.key = $1 AND age(p.transaction) >= age(n.xmin)
  UNION ALL SELECT 1 FROM settings n, pg_replication_slots s WHERE n.key = $1 AND age(s.xmin) >= age(n.xmin)`;

/** Tables that name people in clear. */
const NAMING_PEOPLE = (
  [
    "orders",
    "orderItems",
    "events",
    "itemAttempts",
    "activationAttempts",
    "deliveryAttempts",
    "idempotencyKeys",
    "peopleIndex",
  ] as const
).map((name) => getTableName(postgresTables[name]));

/**
 * Vacuums the tables of sealed values and of people's names after a purge, once no reader sees what is dead in them:
 * until then VACUUM would leave it there without an error. Sessions of other roles are seen only with
 * `pg_read_all_stats`.
 */
async function erasePostgres(address: PostgresAddress): Promise<boolean> {
  const session = await openSession(address);
  try {
    return await vacuumPurged(session);
  } catch (error) {
    throw faultOf(error, false);
  } finally {
    await session.end().catch(() => undefined);
  }
}

async function vacuumPurged(client: pg.Client): Promise<boolean> {
  const noted = await client.query("SELECT value FROM settings WHERE key = $1", [ERASURE]);
  if (noted.rows.length === 0) return true;
  if ((await client.query(EARLIER, [ERASURE])).rows.length > 0) return false;
  const sealed = sealedColumns.map((column) => column.split(".")[0]);
  for (const table of new Set([...sealed, ...NAMING_PEOPLE])) await client.query(`VACUUM "${table}"`);
  // A purge that came meanwhile has another value, and stays noted.
  await client.query("DELETE FROM settings WHERE key = $1 AND value = $2", [ERASURE, noted.rows[0]?.value]);
  return true;
}

/** A connection of the pool, with what the store keeps for it. */
interface Lent {
  client: pg.PoolClient;
  sending: Sending;
  connection: Connection;
}

interface WriterParts {
  pool: Pool;
  lent(client: pg.PoolClient): Lent;
  makeTx: TxMaker;
}

/** Statements that nothing is read of are sent ahead, and their failures surface with the release or the commit. */
function postgresWriter({ pool, lent, makeTx }: WriterParts): Writer {
  let open: Lent | null = null;

  function current(): Lent {
    if (open === null) throw new Error("no transaction is open");
    return open;
  }

  return {
    async begin() {
      open = lent(await pool.lend());
      const { sending } = open;
      sending.open();
      sending.send("BEGIN");
      sending.send(`SELECT pg_advisory_xact_lock(${WRITE_LOCK})`);
    },
    savepoint: async () => current().sending.send("SAVEPOINT command"),
    async release() {
      const { sending } = current();
      sending.send("RELEASE SAVEPOINT command");
      await sending.settle();
    },
    async rollbackToSavepoint() {
      const { client, sending } = current();
      await client.query("ROLLBACK TO SAVEPOINT command");
      await sending.forget();
      sending.send("RELEASE SAVEPOINT command");
      return true;
    },
    async commit() {
      const { client, sending } = current();
      const committed = client.query("COMMIT");
      committed.catch(() => undefined);
      // After a statement that failed, it rolls back.
      await sending.settle();
      // PostgreSQL ends a failed transaction by a rollback, and reports no error.
      if ((await committed).command !== "COMMIT") throw new Error("the transaction was rolled back, not committed");
      sending.close();
      client.release();
      open = null;
    },
    async rollback() {
      if (open === null) return;
      const { client, sending } = open;
      await pool.takeBack(client, "ROLLBACK");
      sending.close();
      open = null;
    },
    durable: async () => undefined,
    fault: (error) =>
      open === null ? faultOf(error, false) : pool.fault(open.sending.failure()?.error ?? error, open.client),
    tx: (signal, requestId) => makeTx(current().connection, signal, requestId),
  };
}
