import pg from "pg";
import { type PostgresAddress, refuseCleartext } from "./postgres-address.ts";
import { unreachable } from "./postgres-faults.ts";

/** Every writing transaction on one database holds this advisory lock: one at a time, on any number of nodes. */
export const WRITE_LOCK = 5_214_801;

/**
 * A session of its own, for work that may take its time: no statement of it is ended by a time limit. The caller ends
 * it. Throws `StoreError`.
 */
export async function openSession(address: PostgresAddress): Promise<pg.Client> {
  refuseCleartext(address);
  const client = new pg.Client({
    connectionString: address.url,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    application_name: "esimctl",
  });
  // The query under way reports a lost connection; without a listener it would end the process.
  client.on("error", () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    throw unreachable(error);
  }
}
