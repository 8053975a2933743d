import pg from "pg";
import { StoreError } from "../problems.ts";
import { type PostgresAddress, refuseCleartext } from "./address.ts";
import { faultOf } from "./faults.ts";
import { askServer, chooseServer, serversOf } from "./servers.ts";

/** Every writing transaction on one database holds this advisory lock: one at a time, on any number of nodes. */
export const WRITE_LOCK = 5_214_801;

/** A connection on which nothing is sent is asked after this long whether its other end is there, and not after 2 h. */
export const keptAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;

/** How often a session that waits for its server asks whether the server answers at all (ms). */
const SILENCE_MS = 5_000;

/**
 * A session of its own, for work that may take its time: no statement of it is ended by a time limit, and it is lost
 * when the server is silent. The caller ends it. Throws `StoreError`.
 */
export async function openSession(address: PostgresAddress): Promise<pg.Client> {
  refuseCleartext(address);
  const url = await chooseServer(serversOf(address.url));
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    ...keptAlive,
    application_name: "esimctl",
  });
  // The query under way reports a lost connection; without a listener it would end the process.
  client.on("error", () => undefined);
  try {
    await client.connect();
    loseWhenSilent(client, url);
    return client;
  } catch (error) {
    throw faultOf(error, true);
  }
}

/**
 * Throws `StoreError` behind a pooler of connections. It gives a session to several clients in turn, and drops what a
 * session of a node rests on: its time limits, its prepared statements, its own lock.
 */
export async function refusePooler(session: pg.Client, option: "--database" | "--read-database"): Promise<void> {
  const { rows } = await session.query("SELECT pg_backend_pid() AS pid");
  // A pooler makes up what it reports of the session when a connection starts.
  const reported: unknown = Reflect.get(session, "processID");
  if (rows[0]?.pid === reported) return;
  throw new StoreError(
    `The ${option} address is that of a connection pooler, such as PgBouncer.`,
    `Name the server itself with ${option}: each node keeps to its own serve --database-connections.`,
  );
}

/** Ends what is under way on a session whose server is silent: nothing else ends a query that gets no response. */
function loseWhenSilent(client: pg.Client, url: string): void {
  const read = () => ("bytesRead" in client.connection.stream ? Number(client.connection.stream.bytesRead) : 0);
  let before = read();
  const timer = setInterval(async () => {
    const isSilent = read() === before;
    before = read();
    if (!isSilent) return;
    const { kind } = await askServer(url, false);
    if (kind === "silent") client.connection.stream.destroy(new Error("the server does not answer"));
  }, SILENCE_MS).unref();
  client.once("end", () => clearInterval(timer));
}
