import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import type { SharedDatabase } from "../engine.ts";
import { allTopics, type Nodes, type Topic, type WindowDraw, type WindowShare } from "../store.ts";
import type { Pool } from "./pool.ts";
import { chooseServer, serversOf } from "./servers.ts";
import { keptAlive } from "./session.ts";

const CHANNEL = "esimctl_wake";

/**
 * How long (ms) topics are gathered for one notification. A commit with a notification in it waits for a lock that all
 * such commits share, so they are sent after commits, and by themselves.
 */
const GATHER_MS = 50;

/** How often a connection that listens is asked whether it still does, how long it has to answer, and to rest (ms). */
const CHECK_MS = 10_000;
const SILENT_MS = 3_000;
const REST_MS = 1_000;

/** Wakes between the processes that use one database. */
export interface Wakes extends Pick<SharedDatabase, "notify" | "listen"> {
  /** Sends what is gathered, and ends all listening. */
  close(): Promise<void>;
}

/** Wakes over the database at `url`; what a process sends itself, by its ID `own`, does not come back to it. */
export function wakesOver(url: string, own: string, pool: Pick<Pool, "ask">): Wakes {
  const sender = senderOf(own, pool);
  const listeners = new Set<{ stop(): Promise<void> }>();
  return {
    notify: sender.notify,
    listen(wake) {
      const listening = listen(url, (text) => {
        const [from, ...named] = text.split(" ");
        if (from !== own) for (const topic of allTopics) if (named.includes(topic)) wake(topic);
      });
      listeners.add(listening);
      return listening;
    },
    async close() {
      await sender.flush();
      await Promise.all([...listeners].map((listening) => listening.stop()));
    },
  };
}

function senderOf(own: string, pool: Pick<Pool, "ask">) {
  const gathered = new Set<Topic>();
  let timer: NodeJS.Timeout | null = null;

  async function send(): Promise<void> {
    timer = null;
    const text = [own, ...gathered].join(" ");
    gathered.clear();
    // One that is lost costs no work: each node looks by itself too.
    await pool.ask((client) => client.query("SELECT pg_notify($1, $2)", [CHANNEL, text])).catch(() => undefined);
  }

  return {
    notify(topic: Topic): void {
      gathered.add(topic);
      timer ??= setTimeout(send, GATHER_MS).unref();
    },
    async flush(): Promise<void> {
      if (timer === null) return;
      clearTimeout(timer);
      await send();
    },
  };
}

/** Listens until it is stopped; `received` gets each notification, and after each connection one of all topics. */
function listen(url: string, received: (text: string) => void): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;

  async function run(): Promise<void> {
    while (!signal.aborted) {
      // What breaks it is reported where it matters: by the reads and writes of the same database.
      await listenOnce(url, received, signal).catch(() => undefined);
      await pause(REST_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  const done = run();
  return {
    async stop() {
      stopping.abort();
      await done;
    },
  };
}

/** Listens on one connection until it breaks or `signal` is aborted. */
async function listenOnce(url: string, received: (text: string) => void, signal: AbortSignal): Promise<void> {
  const client = new pg.Client({
    connectionString: await chooseServer(serversOf(url)),
    connectionTimeoutMillis: SILENT_MS,
    ...keptAlive,
    application_name: "esimctl listen",
  });
  const lost = once(client, "end").catch(() => undefined);
  client.on("error", () => undefined);
  client.on("notification", ({ payload = "" }) => received(payload));
  const destroy = () => client.connection.stream.destroy();
  signal.addEventListener("abort", destroy, { once: true });
  try {
    await client.connect();
    await client.query(`LISTEN ${CHANNEL}`);
    received(["", ...allTopics].join(" "));
    while (!signal.aborted && (await isListening(client))) {
      await Promise.race([lost, pause(CHECK_MS, undefined, { signal, ref: false })]);
    }
  } finally {
    signal.removeEventListener("abort", destroy);
    destroy();
  }
}

/** False: the server is silent, or takes no writes any more and so sends nothing. */
async function isListening(client: pg.Client): Promise<boolean> {
  const silence = new AbortController();
  try {
    const answer = await Promise.race([
      client.query("SHOW transaction_read_only"),
      pause(SILENT_MS, null, { signal: silence.signal, ref: false }),
    ]);
    return answer?.rows[0]?.transaction_read_only === "off";
  } finally {
    silence.abort();
  }
}

/** Minutes that windows are kept: the clocks of nodes differ by seconds. */
const KEPT_MINUTES = 2;

// What is old by the server's clock too: by a clock that is minutes ahead the windows of all other nodes are old.
const DROP_OLD = `
  DELETE FROM rate_windows
   WHERE minute < least($1::bigint, floor(extract(epoch FROM now()) / 60)::bigint) - ${KEPT_MINUTES}`;

/**
 * SQL of a window after the draw `a`, when it was at `used` and `held` before. Requests that wait are counted at once,
 * up to the limit (`most`). What is given ahead of requests is half of what may still be held, and within the limit.
 */
const drawn = (used: string, held: string) => `
  SELECT was.used + now.allowed AS used, was.held + next.ahead AS held, now.allowed, next.ahead
    FROM (SELECT ${used} + a.spent AS used, greatest(${held} - a.spent, 0) AS held) was,
         LATERAL (SELECT greatest(least(a.wanted, a.most - was.used), 0) AS allowed) now,
         LATERAL (SELECT a.most / 20 - was.held AS room, a.most - was.used - now.allowed - was.held AS rest) free,
         LATERAL (SELECT greatest(least(greatest(free.room / 2, least(free.room, 1)), free.rest), 0) AS ahead) next`;

// Counts need not survive a crash of the server: no draw waits for its disk. In order, so that no two draws wait for
// each other.
const DRAW = `
  WITH relaxed AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true)),
  asked AS MATERIALIZED (
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[])
               AS a(minute, id, most, spent, wanted))
  INSERT INTO rate_windows AS w (minute, id, used, held, allowed, ahead)
  SELECT a.minute, a.id, d.used, d.held, d.allowed, d.ahead
    FROM relaxed, asked a, LATERAL (${drawn("0", "0")}) d ORDER BY a.minute, a.id
  ON CONFLICT (minute, id) DO UPDATE SET (used, held, allowed, ahead) = (
    SELECT d.used, d.held, d.allowed, d.ahead FROM asked a, LATERAL (${drawn("w.used", "w.held")}) d
     WHERE a.minute = excluded.minute AND a.id = excluded.id)
  RETURNING minute, id, used, allowed, ahead`;

/** What `Nodes.draw` promises. No two draws of one call are of the same window. */
export function windowDraws(pool: Pick<Pool, "ask">): Nodes["draw"] {
  let latest = 0;
  return (draws) =>
    pool.ask(async (client) => {
      const minute = Math.max(...draws.map((draw) => draw.minute));
      // Also a lower one, of a clock that was set back.
      if (minute !== latest) {
        latest = minute;
        await client.query(DROP_OLD, [minute]);
      }
      return drawFrom(client, draws);
    });
}

async function drawFrom(client: Pick<pg.ClientBase, "query">, draws: readonly WindowDraw[]): Promise<WindowShare[]> {
  const column = <K extends keyof WindowDraw>(name: K) => draws.map((draw) => draw[name]);
  const values = [column("minute"), column("id"), column("limit"), column("spent"), column("wanted")];
  const { rows } = await client.query({ name: "draw_windows", text: DRAW, values });
  const shares = new Map(rows.map((row) => [`${row.minute} ${row.id}`, row]));
  return draws.map(({ minute, id }) => {
    const { used, allowed, ahead } = shares.get(`${minute} ${id}`);
    return { used: Number(used), allowed: Number(allowed), ahead: Number(ahead) };
  });
}
