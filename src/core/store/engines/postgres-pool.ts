import pg from "pg";
import { isUnavailable } from "../problems.ts";
import { faultOf, unreachable } from "./postgres-faults.ts";

/** Connections to one PostgreSQL database. A connection that broke is discarded and never lent again. */
export interface Pool {
  /** Lends a connection. Throws `StoreUnavailable` when none can be had. */
  lend(): Promise<pg.PoolClient>;
  /** Ends the transaction of a lent connection by `end` and takes it back. Never throws. */
  takeBack(client: pg.PoolClient, end: "COMMIT" | "ROLLBACK"): Promise<void>;
  /** Runs statements outside a transaction. Throws `StoreUnavailable`. */
  ask<T>(run: (client: pg.PoolClient) => Promise<T>): Promise<T>;
  /** An error that `client` caused, as `StoreUnavailable` where it is one. */
  fault(error: unknown, client: pg.PoolClient): unknown;
  close(): Promise<void>;
}

/**
 * How long (ms) a session may hold up others before the server ends what it does. Each can be set in the address, as
 * `?statement_timeout=60000`.
 */
const sessionBounds = {
  // A node that is suspended or out of reach amid a transaction: the write lock is free again after that.
  idle_in_transaction_session_timeout: 10_000,
  // Longer than that, so that who waits for such a node gets its turn.
  lock_timeout: 15_000,
  statement_timeout: 30_000,
};

/** A lent connection whose server says nothing for so long (ms) is lost. Longer than any statement may take. */
const SILENCE_MS = 35_000;

/** The driver's pool; connections that broke are put into `lost`. */
function driverPool(url: string, lost: WeakSet<pg.PoolClient>): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: 12,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    application_name: "esimctl",
    ...sessionBounds,
  });
  // The pool replaces idle connections that break; without a listener one would end the process.
  pool.on("error", () => undefined);
  // The pool listens to idle connections only: without a listener, a lent one that breaks would end the process.
  pool.on("connect", (client) => {
    const lose = () => void lost.add(client);
    client.on("error", lose).on("end", lose);
    loseWhenSilent(client);
  });
  pool.on("acquire", (client) => limitSilence(client, SILENCE_MS));
  pool.on("release", (_error, client) => limitSilence(client, 0));
  return pool;
}

/** Opens a pool; connections are made when they are needed. */
export function openPool(url: string): Pool {
  const lost = new WeakSet<pg.PoolClient>();
  const pool = driverPool(url, lost);

  async function lend(): Promise<pg.PoolClient> {
    try {
      return await pool.connect();
    } catch (error) {
      throw unreachable(error);
    }
  }

  function fault(error: unknown, client: pg.PoolClient): unknown {
    const found = faultOf(error, lost.has(client));
    if (isUnavailable(found) && found.reason === "unreachable") lost.add(client);
    return found;
  }

  return {
    lend,
    fault,
    async takeBack(client, end) {
      // A lost connection is not waited for: the server rolls its transaction back by itself.
      const ended =
        !lost.has(client) &&
        (await client.query(end).then(
          () => true,
          () => false,
        ));
      client.release(!ended);
    },
    async ask(run) {
      const client = await lend();
      try {
        return await run(client);
      } catch (error) {
        throw fault(error, client);
      } finally {
        client.release(lost.has(client));
      }
    },
    close: () => pool.end(),
  };
}

/** Ends what is under way on a client whose server is silent: nothing else ends a query that gets no answer. */
function loseWhenSilent(client: pg.PoolClient): void {
  const stream = streamOf(client);
  stream?.on("timeout", () => stream.destroy(new Error(`no answer for ${SILENCE_MS / 1_000} s`)));
}

/** Limits the silence on a client's connection, in ms; 0: not at all. */
function limitSilence(client: pg.PoolClient, ms: number): void {
  const stream = streamOf(client);
  // The driver types it as any stream; it is a socket, with TLS or without.
  if (stream !== null && "setTimeout" in stream && typeof stream.setTimeout === "function") stream.setTimeout(ms);
}

function streamOf(client: pg.PoolClient) {
  return client instanceof pg.Client ? client.connection.stream : null;
}
