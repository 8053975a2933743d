import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { within } from "../../kernel/within.ts";
import type { Connection, Position, Replica } from "../engine.ts";
import { ReplicaUnused } from "../engine.ts";
import { causesOf, isUnavailable, StoreError } from "../problems.ts";
import { LINE_KEY } from "../replica-line.ts";
import type { ReplicaLook } from "../store.ts";
import { type PostgresAddress, refuseCleartext } from "./address.ts";
import { asStoreError, faultOf, textOf } from "./faults.ts";
import { openPool, type Pool } from "./pool.ts";
import { askServer, serversOf } from "./servers.ts";
import { openSession, refusePooler } from "./session.ts";

/** How long a read waits for a connection, and then for the replica (ms), and how often it looks. */
const WAIT_MS = 50;
const BETWEEN_MS = 2;
/** How long a look at the replica waits for it (ms): one that takes longer is behind. */
const LOOK_MS = 500;
/** After a read that the replica could not answer, all go to the primary for so long (ms). */
const REST_MS = 1_000;

const POSITION = `
  SELECT pg_current_wal_flush_lsn()::text AS at, substr(pg_walfile_name(pg_current_wal_flush_lsn()), 1, 8) AS timeline,
         (SELECT value FROM settings WHERE key = '${LINE_KEY}') AS line`;

const REACHED = `
  SELECT pg_is_in_recovery() AS standby, pg_last_wal_replay_lsn() >= $1::pg_lsn AS reached,
         (SELECT value FROM settings WHERE key = '${LINE_KEY}') AS line,
         (extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) * 1000)::float8 AS lag_ms`;

/** What a server that takes writes has committed by now: no commit that was answered comes after it. */
export function positionOf(pool: Pick<Pool, "ask">): Promise<Position> {
  return pool.ask(async (client) => {
    const { rows } = await client.query({ name: "wal_position", text: POSITION });
    const { at, timeline, line } = rows[0];
    return { at: String(at), timeline: String(timeline), line: line === null ? null : String(line) };
  });
}

interface Followed {
  state: "used" | "behind" | "foreign";
  lagMs: number;
}

/** Waits until the server of a session has replayed a position. */
async function follow(client: Pick<pg.ClientBase, "query">, { at, line }: Position, waitMs: number): Promise<Followed> {
  for (const began = performance.now(); ; await pause(BETWEEN_MS)) {
    const { rows } = await client.query({ name: "wal_reached", text: REACHED, values: [at] });
    const { standby, reached, line: its, lag_ms } = rows[0];
    const waited = performance.now() - began;
    if (standby !== true) return { state: "foreign", lagMs: 0 };
    // Both: a server that follows another one may be further in another history.
    if (reached === true && its === line) return { state: "used", lagMs: Math.round(waited) };
    if (waited > waitMs) {
      return { state: reached === true ? "foreign" : "behind", lagMs: Math.max(Math.round(waited), Number(lag_ms)) };
    }
  }
}

const WORDS = {
  behind: "it has not replayed what was committed",
  foreign: "it is no hot standby of the database",
} as const;

/**
 * Throws `StoreError` where an address cannot be that of a replica. Nothing is known yet of one that is away: its reads
 * go to the primary.
 */
export async function checkReplica(address: PostgresAddress): Promise<void> {
  refuseCleartext(address);
  const { urls, writable } = serversOf(address.url);
  const [only] = urls;
  if (writable || urls.length > 1 || only === undefined) {
    throw new StoreError("The --read-database address has to name one replica.", "Name one server that is read only.");
  }
  // A session to a silent server takes longer to fail.
  if ((await askServer(only, false)).kind !== "usable") return;
  try {
    const session = await openSession(address);
    await refusePooler(session, "--read-database").finally(() => session.end().catch(() => undefined));
  } catch (error) {
    if (!isUnavailable(faultOf(error, false))) throw asStoreError(error);
  }
}

/** Lends a connection that is free soon; one that comes later goes back at once. */
async function lendSoon(pool: Pool): Promise<pg.PoolClient> {
  const lending = pool.lend();
  if (await within(lending, WAIT_MS)) return lending;
  lending.then(
    (unused) => unused.release(),
    () => undefined,
  );
  throw new ReplicaUnused("no connection to it is free");
}

/** A replica at `address`, which `checkReplica` has let pass, on at most `connections`. */
export function openReplica(
  address: PostgresAddress,
  { connections, connectionOf }: { connections: number; connectionOf: (client: pg.PoolClient) => Connection },
): Replica {
  const pool = openPool({ url: address.url, max: connections });
  let restUntil = 0;

  async function onSnapshot<T>(client: pg.PoolClient, run: (connection: Connection) => Promise<T>): Promise<T> {
    try {
      await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
      return await run(connectionOf(client));
    } catch (error) {
      const fault = pool.fault(error, client);
      // One that is the query's own fails on the primary too. Others are the replica's: it cancels long reads.
      const isItsOwn = isUnavailable(fault) || [...causesOf(error)].some((cause) => cause instanceof pg.DatabaseError);
      throw isItsOwn ? new ReplicaUnused(textOf(error)) : error;
    } finally {
      await pool.takeBack(client, "COMMIT");
    }
  }

  return {
    async snapshot(position, run) {
      if (performance.now() < restUntil) throw new ReplicaUnused("it rests");
      try {
        const client = await lendSoon(pool);
        const { state } = await follow(client, position, WAIT_MS).catch(async (error: unknown) => {
          const fault = pool.fault(error, client);
          await pool.takeBack(client, "ROLLBACK");
          throw new ReplicaUnused(textOf(fault));
        });
        if (state === "used") return await onSnapshot(client, run);
        await pool.takeBack(client, "ROLLBACK");
        throw new ReplicaUnused(WORDS[state]);
      } catch (error) {
        if (!(error instanceof ReplicaUnused) && !isUnavailable(error)) throw error;
        restUntil = performance.now() + REST_MS;
        throw new ReplicaUnused(textOf(error));
      }
    },
    async look(position): Promise<ReplicaLook> {
      try {
        const { state, lagMs } = await pool.ask((client) => follow(client, position, LOOK_MS));
        return { state, lagMs, detail: state === "used" ? null : WORDS[state] };
      } catch (error) {
        return { state: "away", lagMs: null, detail: textOf(error) };
      }
    },
    close: () => pool.close(),
  };
}
