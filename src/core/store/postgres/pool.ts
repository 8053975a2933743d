import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { sharedRun } from "../../kernel/shared-run.ts";
import { isUnavailable, type StoreError } from "../problems.ts";
import { exhausted, faultOf, unreachable } from "./faults.ts";
import { askServer, faultIn, type Servers, serversOf } from "./servers.ts";
import { keptAlive } from "./session.ts";
import { streamOf } from "./stream.ts";

/** Connections to one PostgreSQL database. A connection that broke is discarded and never lent again. */
export interface Pool {
  /** Lends a connection. Throws `StoreUnavailable` when none can be had, at once while the database is away. */
  lend(): Promise<pg.PoolClient>;
  /** Ends the transaction of a lent connection by `end` and takes it back. Never throws. */
  takeBack(client: pg.PoolClient, end: "COMMIT" | "ROLLBACK"): Promise<void>;
  /** Runs statements outside a transaction. Throws `StoreUnavailable`. */
  ask<T>(run: (client: pg.PoolClient) => Promise<T>): Promise<T>;
  /** An error that `client` caused, as `StoreUnavailable` where it is one. */
  fault(error: unknown, client: pg.PoolClient): unknown;
  /** How long (ms) a session waits for a lock, as the address has it. */
  readonly lockTimeoutMs: number;
  close(): Promise<void>;
}

/**
 * How long (ms) a session may hold up others before the server ends what it does. Each can be set in the address, as
 * `?statement_timeout=60000`.
 */
const sessionBounds = {
  // A node that is suspended or out of reach amid a transaction: the write lock is free again after that.
  idle_in_transaction_session_timeout: 5_000,
  // Longer than that, so that who waits for such a node gets its turn.
  lock_timeout: 15_000,
  statement_timeout: 30_000,
};

/**
 * The server ends a session whose node is gone without a word (s; ms for what it has sent): the others need its
 * connection. Nothing on a Unix socket.
 */
const serverKeepsAlive =
  "-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3 -c tcp_user_timeout=30000";

/** How long (ms) a new connection, or one that is in use elsewhere, is waited for. */
const CONNECTION_MS = 10_000;

/** What the driver's pool says where all connections were in use for so long. */
const POOL_TIMEOUT = "timeout exceeded when trying to connect";

/** What waits for so long (ms) without a sign of the server makes the watch ask whether the server answers. */
const SUSPECT_MS = 500;

/** A lent connection whose server says nothing for so long (ms) is lost. Longer than any statement may take. */
const SILENCE_MS = 35_000;

/** How long (ms) closing waits for the server to end the sessions. */
const FAREWELL_MS = 1_000;

interface Opened {
  pool: pg.Pool;
  watch: Watch;
  /** Connections that broke. */
  lost: WeakSet<pg.PoolClient>;
  /** All connections, those that are being made too. */
  open: Set<pg.Client>;
  /** Those of them that are being made. */
  coming: Set<pg.Client>;
}

/** The driver's pool, whose connections go to the server that the watch has chosen. */
function driverPool(url: string, max: number): Opened {
  const lost = new WeakSet<pg.PoolClient>();
  const [open, coming] = [new Set<pg.Client>(), new Set<pg.Client>()];
  const watch = watchServers(serversOf(url), () => {
    for (const client of open) client.connection.stream.destroy(new Error("the server does not answer"));
  });
  // Called by the pool with `new`, and returns what is to be used.
  function Client(config: pg.ClientConfig): pg.Client {
    const client = new pg.Client({ ...config, connectionString: watch.current(), pipeline: true });
    open.add(client);
    coming.add(client);
    return client.once("end", () => {
      open.delete(client);
      coming.delete(client);
    });
  }
  const pool = new pg.Pool({
    // The type leaves out the configuration that the pool passes on.
    Client: Client as unknown as new () => pg.ClientBase,
    max,
    connectionTimeoutMillis: CONNECTION_MS,
    ...keptAlive,
    options: serverKeepsAlive,
    application_name: "esimctl",
    ...sessionBounds,
  });
  // The pool replaces idle connections that break; without a listener one would end the process.
  pool.on("error", () => watch.doubt());
  // The pool listens to idle connections only: without a listener, a lent one that breaks would end the process.
  pool.on("connect", (client) => {
    coming.delete(client);
    client.on("error", () => {
      lost.add(client);
      watch.doubt();
    });
    client.on("end", () => lost.add(client));
    watchSilence(client, watch);
  });
  pool.on("acquire", (client) => limitSilence(client, SUSPECT_MS));
  pool.on("release", (_error, client) => limitSilence(client, 0));
  return { pool, watch, lost, open, coming };
}

/** Opens a pool of `max` connections; they are made when they are needed. */
export function openPool({ url, max }: { url: string; max: number }): Pool {
  const opened = driverPool(url, max);
  const { pool, watch, lost, open, coming } = opened;
  const lend = () => lendFrom(opened, max);

  function fault(error: unknown, client: pg.PoolClient): unknown {
    const found = faultOf(error, lost.has(client));
    if (isUnavailable(found) && found.reason === "unreachable") lost.add(client);
    // Where there are several servers, another one may take writes by now.
    if (isUnavailable(found) && found.reason === "read_only") watch.doubt();
    return found;
  }

  return {
    lend,
    fault,
    lockTimeoutMs: lockTimeoutOf(url),
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
    async close() {
      const ended = pool.end();
      // The pool waits for those that are being made, as long as for a connection; a silent server makes none.
      for (const client of coming) client.connection.stream.destroy(new Error("the pool is closed"));
      await ended;
      watch.stop();
      await farewell(open);
    },
  };
}

/** The limit of waits for locks in an address; 0 there is none, and one with a unit counts as the usual one. */
function lockTimeoutOf(url: string): number {
  const [connectionString = ""] = serversOf(url).urls;
  // Made for its reading of the address, which the types leave out; it connects to nothing.
  const read: unknown = Reflect.get(new pg.Client({ connectionString, ...sessionBounds }), "connectionParameters");
  const limit = Number(Reflect.get(Object(read), "lock_timeout"));
  if (Number.isNaN(limit)) return sessionBounds.lock_timeout;
  return limit === 0 ? Number.POSITIVE_INFINITY : limit;
}

async function lendFrom({ pool, watch }: Opened, max: number): Promise<pg.PoolClient> {
  await watch.server();
  const connecting = pool.connect();
  const waiting = setInterval(() => watch.suspect(), SUSPECT_MS);
  try {
    return await watch.orAway(connecting);
  } catch (error) {
    // One that comes too late was made for nothing.
    connecting.then(
      (client) => client.release(true),
      () => undefined,
    );
    if (error instanceof Error && error.message === POOL_TIMEOUT) throw exhausted(max, error);
    watch.doubt();
    throw faultOf(error, true);
  } finally {
    clearInterval(waiting);
  }
}

/** Waits for the server to end the sessions; a silent one's are cut off: they would keep the process alive. */
async function farewell(open: ReadonlySet<pg.Client>): Promise<void> {
  const until = performance.now() + FAREWELL_MS;
  while (open.size > 0 && performance.now() < until) await pause(10);
  for (const client of open) client.connection.stream.destroy();
}

/** Makes the watch ask about a server that is silent on a client, and ends what is under way on it in the end. */
function watchSilence(client: pg.PoolClient, watch: Watch): void {
  const stream = streamOf(client);
  if (stream === null) return;
  let before = -1;
  let since = 0;
  stream.on("timeout", () => {
    const read = "bytesRead" in stream ? Number(stream.bytesRead) : 0;
    if (read !== before) since = performance.now();
    before = read;
    if (performance.now() - since > SILENCE_MS) {
      stream.destroy(new Error(`no answer for ${SILENCE_MS / 1_000} s`));
      return;
    }
    watch.suspect();
    limitSilence(client, SUSPECT_MS);
  });
}

/** Reports the silence on a client's connection, in ms; 0: not at all. */
function limitSilence(client: pg.PoolClient, ms: number): void {
  const stream = streamOf(client);
  // The driver types it as any stream; it is a socket, with TLS or without.
  if (stream !== null && "setTimeout" in stream && typeof stream.setTimeout === "function") stream.setTimeout(ms);
}

/** How often a database that was away is asked again (ms). */
const BETWEEN_MS = 500;

/**
 * Knows which server is used, and whether it is away: silent, or one of several of which none takes writes. Only what
 * already waits makes it ask, so that a server at work gets no further sessions.
 */
interface Watch {
  /** The server to use. Throws `StoreUnavailable` at once while the database is away. */
  server(): Promise<string>;
  /** The server that was last chosen. */
  current(): string;
  /** Something has waited for a while: asks whether the server answers. */
  suspect(): void;
  /** A connection broke or a write was refused: of several servers another one may take writes by now. */
  doubt(): void;
  /** As `waiting` ends; rejects with `StoreUnavailable` once the database is away. */
  orAway<T>(waiting: Promise<T>): Promise<T>;
  /** Asks nothing more. */
  stop(): void;
}

interface State {
  /** Null: it is not known which server takes writes. */
  chosen: string | null;
  last: string;
  away: StoreError | null;
  waits: Set<(fault: StoreError) => void>;
}

/** Watches the servers of one address; `onAway` is called when the database is away and when another one is chosen. */
function watchServers(servers: Servers, onAway: () => void): Watch {
  const [first = ""] = servers.urls;
  const isOne = servers.urls.length === 1 && !servers.writable;
  const state: State = { chosen: isOne ? first : null, last: first, away: null, waits: new Set() };
  const stopping = new AbortController();
  const askOnce = sharedRun(async () => {
    const wasAway = state.away !== null;
    const before = state.last;
    await look(servers, isOne, state);
    if (state.away === null ? state.last !== before : !wasAway) onAway();
    if (state.away !== null && !wasAway) void askUntilBack();
  });

  async function askUntilBack(): Promise<void> {
    while (state.away !== null && !stopping.signal.aborted) {
      await pause(BETWEEN_MS, undefined, { ref: false, signal: stopping.signal }).catch(() => undefined);
      if (!stopping.signal.aborted) await askOnce();
    }
  }

  return {
    async server() {
      if (state.away === null && state.chosen === null) await askOnce();
      if (state.away !== null) throw state.away;
      return state.chosen ?? state.last;
    },
    current: () => state.chosen ?? state.last,
    suspect: () => void (state.away === null && askOnce()),
    doubt() {
      if (!isOne) state.chosen = null;
    },
    async orAway(waiting) {
      const { promise, reject } = Promise.withResolvers<never>();
      state.waits.add(reject);
      try {
        return await Promise.race([waiting, promise]);
      } finally {
        state.waits.delete(reject);
      }
    },
    stop: () => stopping.abort(),
  };
}

/** Asks all servers, and notes which one is used, or that the database is away. */
async function look({ urls, writable }: Servers, isOne: boolean, state: State): Promise<void> {
  const states = await Promise.all(urls.map((url) => askServer(url, writable)));
  // A single server that refuses is no use to wait for: connections to it fail at once, and say why.
  const found = urls.find((_, at) => states[at]?.kind === "usable" || (isOne && states[at]?.kind === "refused"));
  if (found !== undefined) {
    Object.assign(state, { away: null, chosen: found, last: found });
    return;
  }
  const fault = unreachable(faultIn(states));
  state.away = fault;
  if (!isOne) state.chosen = null;
  for (const reject of state.waits) reject(fault);
}
