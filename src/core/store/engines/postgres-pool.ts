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

/** Opens a pool; connections are made when they are needed. */
export function openPool(url: string): Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: 12,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    application_name: "esimctl",
  });
  const lost = new WeakSet<pg.PoolClient>();
  // The pool replaces idle connections that break; without a listener one would end the process.
  pool.on("error", () => undefined);
  // The pool listens to idle connections only: without a listener, a lent one that breaks would end the process.
  pool.on("connect", (client) => {
    const lose = () => void lost.add(client);
    client.on("error", lose).on("end", lose);
  });

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
