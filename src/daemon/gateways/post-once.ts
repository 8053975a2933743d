import { LRUCache } from "lru-cache";
import type { Connection, Connections } from "./connections.ts";
import { type Exchanged, exchange, type Message, type ResponseBounds } from "./metered-exchange.ts";

/** One attempt. */
export interface Post {
  url: string;
  /** Makes the message; its time does not count for the receiver. Null: nothing is to be sent any more. */
  compose(): Message | null | Promise<Message | null>;
  /** Once it aborts nothing more is sent: what is not under way by then is given up. */
  stopping: AbortSignal;
}

/**
 * Connects, composes, posts once and follows no redirect. A missing response is a result too; null: given up before
 * anything was sent. Throws only what `compose` throws.
 */
export async function postOnce(
  connections: Connections,
  post: Post,
  bounds: ResponseBounds,
): Promise<Exchanged | null> {
  const { compose, stopping } = post;
  const { url, origin, path } = addressOf(post.url);
  const connecting = await connected(connections, { url, origin, stopping, limitMs: bounds.limitMs });
  const { connection } = connecting;
  if (connection === null) return stopping.aborted ? null : connecting.exchanged;
  try {
    const composed = compose();
    const message = composed instanceof Promise ? await composed : composed;
    if (message === null || stopping.aborted) return null;
    const limitMs = Math.max(bounds.limitMs - connecting.ms, 0);
    const exchanged = await exchange(connection, { path, ...message }, { ...bounds, limitMs });
    return { ...exchanged, ms: connecting.ms + exchanged.ms };
  } finally {
    connections.give(connection);
  }
}

/** The parts of a URL. */
interface Address {
  url: URL;
  origin: string;
  path: string;
}

/** Parsed once for all attempts that follow each other. */
const addresses = new LRUCache<string, Address>({ max: 1_000 });

function addressOf(text: string): Address {
  const known = addresses.get(text);
  if (known !== undefined) return known;
  const url = new URL(text);
  const address = { url, origin: url.origin, path: url.pathname + url.search };
  addresses.set(text, address);
  return address;
}

type Connecting = { connection: Connection; ms: number } | { connection: null; exchanged: Exchanged };

interface Target {
  url: URL;
  origin: string;
  stopping: AbortSignal;
  limitMs: number;
}

/** A connection that is idle, else a new one. */
async function connected(connections: Connections, { url, origin, stopping, limitMs }: Target): Promise<Connecting> {
  const idle = connections.idle(origin);
  if (idle !== null) return { connection: idle, ms: 0 };
  const began = performance.now();
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), Math.max(limitMs, 0));
  const ms = () => performance.now() - began;
  try {
    return { connection: await connections.open(url, AbortSignal.any([late.signal, stopping])), ms: ms() };
  } catch (error) {
    const ended = late.signal.aborted ? "late" : "broken";
    return { connection: null, exchanged: { statusCode: null, body: NOTHING, ended, error, ms: ms() } };
  } finally {
    clearTimeout(timer);
  }
}

const NOTHING = Buffer.alloc(0);
