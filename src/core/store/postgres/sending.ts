import { nextTick } from "node:process";
import type pg from "pg";
import { streamOf } from "./stream.ts";

/**
 * Statements of one client, as a transaction sends them. The client pipelines: what is sent is executed in its order,
 * each statement before the response to the one before it has arrived.
 */
export interface Sending {
  /** Takes the client's place in the query builder: within a transaction it waits only for what is read. */
  readonly client: Pick<pg.ClientBase, "query">;
  /** Begins a transaction: from now on failures are kept. */
  open(): void;
  /** Sends a statement that is not waited for. */
  send(text: string): void;
  /** Waits for all that was sent. Throws the first failure of any statement. */
  settle(): Promise<void>;
  /** Statements of the transaction that changed something. */
  writes(): number;
  /** The first failure of any statement: those after it fail since the transaction is aborted. Null: none failed. */
  failure(): { error: unknown } | null;
  /** Waits for all that was sent and forgets failures: the transaction was rolled back to before them. */
  forget(): Promise<void>;
  /** The transaction has ended: what is asked from now on is waited for. */
  close(): void;
}

/** Most statements under way: a command that writes thousands of rows leaves the event loop to others in between. */
const MOST_UNDER_WAY = 100;

interface State {
  underWay: Promise<void>[];
  writes: number;
  failure: { error: unknown } | null;
}

/** What the query builder gets for a statement whose result is not read. */
const UNREAD = { command: "", rowCount: null, oid: 0, fields: [], rows: [] };

/** Sends the statements of `client`, which pipelines. */
export function sendingOn(client: pg.ClientBase): Sending {
  let state: State | null = null;
  const inTurn = turnsOf(client);

  /** Keeps what a statement came to; never rejects. */
  function noted(sent: Promise<unknown>): Promise<void> {
    const own = state;
    return sent.then(
      () => undefined,
      (error: unknown) => {
        if (own !== null) own.failure ??= { error };
      },
    );
  }

  async function waitForAll(): Promise<void> {
    const waiting = state?.underWay ?? [];
    if (state !== null) state.underWay = [];
    await Promise.all(waiting);
  }

  async function settle(): Promise<void> {
    await waitForAll();
    if (state !== null && state.failure !== null) throw state.failure.error;
  }

  async function query(config: pg.QueryConfig, values?: unknown[]): Promise<unknown> {
    const sent = inTurn().query(config, values);
    if (state === null) return sent;
    const ended = noted(sent);
    const { writes, unread } = kindOf(config.text);
    if (writes) state.writes += 1;
    if (!unread) return sent;
    state.underWay.push(ended);
    if (state.underWay.length >= MOST_UNDER_WAY) await settle();
    return UNREAD;
  }

  return {
    // The builder calls this one form of the driver's many.
    client: { query: query as unknown as pg.ClientBase["query"] },
    open() {
      state = { underWay: [], writes: 0, failure: null };
    },
    send: (text) => void state?.underWay.push(noted(inTurn().query(text))),
    settle,
    writes: () => state?.writes ?? 0,
    failure: () => state?.failure ?? null,
    async forget() {
      await waitForAll();
      if (state !== null) state.failure = null;
    },
    close() {
      state = null;
    },
  };
}

/**
 * The client, which keeps what it sends until nothing more is sent without waiting: each packet costs both ends a call
 * of their system.
 */
function turnsOf(client: pg.ClientBase): () => pg.ClientBase {
  const stream = streamOf(client);
  let begun = false;
  function end(): void {
    begun = false;
    stream?.uncork();
  }
  return () => {
    if (begun) return client;
    begun = true;
    stream?.cork();
    // After the promises that are resolved by now: those who wait for them send more.
    nextTick(end);
    return client;
  };
}

interface Kind {
  writes: boolean;
  /** It writes and returns nothing. */
  unread: boolean;
}

const kinds = new Map<string, Kind>();

function kindOf(text: string): Kind {
  const known = kinds.get(text);
  if (known !== undefined) return known;
  const writes = /^(insert|update|delete)\s/i.test(text);
  const found = { writes, unread: writes && !/\sreturning\s/i.test(text) };
  kinds.set(text, found);
  return found;
}
