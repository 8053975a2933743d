import { getTableName } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import type pg from "pg";
import { createPermits } from "../../kernel/permits.ts";
import type { Engine } from "../engine.ts";
import { postgresTables } from "../schema/postgres-tables.ts";
import { ERASURE } from "../stored-value.ts";
import { sealedColumns } from "../vault.ts";
import type { PostgresAddress } from "./address.ts";
import { connectionOver } from "./dialect.ts";
import { faultOf } from "./faults.ts";
import { laneWriter } from "./lane-writer.ts";
import { migratePostgres, type OnWait } from "./migrate-postgres.ts";
import { wakesOver, windowDraws } from "./nodes.ts";
import { openPool } from "./pool.ts";
import { pulseOf } from "./pulse.ts";
import { checkReplica, openReplica, positionOf } from "./replica.ts";
import { scheduler } from "./scheduler.ts";
import { sendingOn } from "./sending.ts";
import { openSession } from "./session.ts";
import { type Lent, transactionsOf } from "./transactions.ts";
import { postgresWriter } from "./writer.ts";

/** Connections of one process, unless a budget sets less. */
const MOST_CONNECTIONS = 12;

/**
 * How many batches of slots (see lanes.ts) a process has under way: one connection is for writes that are alone, and as
 * many as for writes are left to reads.
 */
function batchesOfSlots(connections: number): number {
  return Math.max(0, Math.floor(connections / 2) - 1);
}

/**
 * PostgreSQL through a pool. Writes take one advisory lock for their transaction, so that commands see exactly what
 * they see on SQLite: nothing moves under them. Those of a lane share it, and take the lock of their slot. Group commit
 * makes up for it.
 */
export async function openPostgres(
  address: PostgresAddress & { replica?: string | undefined },
  { connections, onWait, id }: OpenOptions = {},
): Promise<Engine> {
  await migratePostgres(address, onWait);
  const { replica: url, insecure } = address;
  if (url !== undefined) await checkReplica({ url, insecure });
  return postgresEngine(address, { connections, id });
}

interface OpenOptions {
  connections?: number | undefined;
  onWait?: OnWait | undefined;
  /** What names this process among others on the database. */
  id?: string;
}

/** What the store keeps for each connection. */
function keptForEach(): (client: pg.PoolClient) => Lent {
  const known = new WeakMap<pg.PoolClient, Lent>();
  return (client) => {
    let own = known.get(client);
    if (own === undefined) {
      const sending = sendingOn(client);
      // The builder calls `query` alone.
      const db = drizzle({ client: sending.client as pg.PoolClient });
      own = { client, sending, connection: connectionOver(db) };
      known.set(client, own);
    }
    return own;
  };
}

function postgresEngine(
  address: PostgresAddress & { replica?: string | undefined },
  { connections = MOST_CONNECTIONS, id = "" }: Omit<OpenOptions, "onWait">,
): Engine {
  const pool = openPool({ url: address.url, max: connections });
  const wakes = wakesOver(address.url, id, pool);
  const lent = keptForEach();
  const batches = batchesOfSlots(connections);
  const permits = createPermits(batches);

  const { replica: url, insecure } = address;
  const connectionOf = (client: pg.PoolClient) => lent(client).connection;
  const replica = url === undefined ? null : openReplica({ url, insecure }, { connections, connectionOf });

  const snapshot: Engine["snapshot"] = async (run) => {
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
  };

  return {
    snapshot,
    // Each has a connection anyway.
    apart: snapshot,
    readOne: (run) => pool.ask((client) => run(connectionOf(client))),
    commits({ makeTx, prepared, committed }) {
      const alone = postgresWriter(transactionsOf({ pool, lent }, null), makeTx, { beside: false });
      const ofSlots = () => prepared(laneWriter(transactionsOf({ pool, lent }, permits), makeTx));
      return scheduler({ alone: prepared(alone), ofSlots: batches === 0 ? null : ofSlots }, committed);
    },
    epoch: () =>
      pool.ask(async (client) => {
        const { rows } = await client.query({ name: "epoch", text: "SELECT value FROM settings WHERE key = 'epoch'" });
        return Number(rows[0]?.value ?? 0);
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
