import { setTimeout as pause } from "node:timers/promises";
import { sharedRun } from "../../kernel/shared-run.ts";
import type { StoreError } from "../problems.ts";
import { unreachable } from "./faults.ts";
import { askServer, faultIn, type Servers } from "./servers.ts";

/** How often a database that was away is asked again (ms). */
const BETWEEN_MS = 500;

/**
 * Knows which server is used, and whether it is away: silent, or one of several of which none takes writes. Only what
 * already waits makes it ask, so that a server at work gets no further sessions.
 */
export interface Watch {
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
export function watchServers(servers: Servers, onAway: () => void): Watch {
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
