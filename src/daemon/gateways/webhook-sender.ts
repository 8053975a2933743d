import { LRUCache } from "lru-cache";
import type { Client } from "undici";
import { ANSWER_LIMIT_MS } from "../../core/webhooks/retries.ts";
import { type Connections, createConnections } from "./connections.ts";
import { guardedConnector, openConnector, portGuarded } from "./guarded-connector.ts";
import { createResolve, type Resolve } from "./resolve.ts";
import { exchange, type Timed, type WebhookMessage } from "./webhook-exchange.ts";

/** One attempt. */
export interface WebhookPost {
  url: string;
  /** Makes the message; its time does not count for the receiver. Null: nothing is to be sent any more. */
  compose(): WebhookMessage | null | Promise<WebhookMessage | null>;
  /** Once it aborts nothing more is sent: what is not under way by then is given up. */
  stopping: AbortSignal;
}

/** The response of an endpoint. */
export interface WebhookResponse {
  /** Null: no response in time; then `error` is the reason. */
  statusCode: number | null;
  error: string | null;
  /** The beginning of the answer's body as text; null without an answer. */
  body: string | null;
  latencyMs: number;
}

/** Posts events. */
export interface WebhookSender {
  /**
   * Connects, composes, posts once and follows no redirect. A missing response is a result too; null: given up before
   * anything was sent. Throws only what `compose` throws.
   */
  post(post: WebhookPost): Promise<WebhookResponse | null>;
  close(): Promise<void>;
}

/** Where it may connect to, and how long it waits. */
export interface SenderOptions {
  allowPrivate: boolean;
  /** From the first byte to the end of the answer; the contract's 10 s unless given. */
  limitMs?: number;
  resolve?: Resolve;
}

/** Posts events over connections that are kept alive; where they lead is checked when they are opened. */
export function createWebhookSender(options: SenderOptions): WebhookSender {
  const limitMs = options.limitMs ?? ANSWER_LIMIT_MS;
  const resolve = options.resolve ?? createResolve();
  const connect = portGuarded((options.allowPrivate ? openConnector : guardedConnector)(resolve, limitMs));
  // No limit of connections per origin: the worker bounds each endpoint, and endpoints may share a host.
  const connections = createConnections(connect);
  return {
    post: (post) => attempt(connections, post, limitMs),
    close: () => connections.close(),
  };
}

async function attempt(connections: Connections, post: WebhookPost, limitMs: number): Promise<WebhookResponse | null> {
  const { compose, stopping } = post;
  const { url, origin, path } = addressOf(post.url);
  const idle = connections.idle(origin);
  const connecting: Timed<Client> =
    idle === null ? await opened(connections, { url, stopping, limitMs }) : { value: idle, late: false, ms: 0 };
  const client = connecting.value;
  if (client === null) return stopping.aborted ? null : failed(connecting, limitMs);
  try {
    const composed = compose();
    const message = composed instanceof Promise ? await composed : composed;
    if (message === null || stopping.aborted) return null;
    const exchanged = await exchange(client, { path, ...message }, Math.max(limitMs - connecting.ms, 0));
    const latencyMs = Math.round(connecting.ms + exchanged.ms);
    if (exchanged.value === null) return { ...failed(exchanged, limitMs), latencyMs };
    const { statusCode, body } = exchanged.value;
    return { statusCode, error: null, body, latencyMs };
  } finally {
    connections.give(client);
  }
}

/** The parts of an endpoint's URL. */
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

/** A new connection to the URL's origin. */
function opened(
  connections: Connections,
  { url, stopping, limitMs }: { url: URL; stopping: AbortSignal; limitMs: number },
): Promise<Timed<Client>> {
  return timed(limitMs, (signal) => connections.open(url, AbortSignal.any([signal, stopping])));
}

async function timed<T>(limitMs: number, run: (signal: AbortSignal) => Promise<T>): Promise<Timed<T>> {
  const began = performance.now();
  const cut = new AbortController();
  const timer = setTimeout(() => cut.abort(), Math.max(limitMs, 0));
  try {
    return { value: await run(cut.signal), late: false, ms: performance.now() - began };
  } catch (error) {
    return { value: null, late: cut.signal.aborted, error, ms: performance.now() - began };
  } finally {
    clearTimeout(timer);
  }
}

function failed(why: { late: boolean; error?: unknown; ms: number }, limitMs: number): WebhookResponse {
  const error = why.late ? `no answer within ${limitMs / 1000} s` : reasonFor(why.error);
  return { statusCode: null, error, body: null, latencyMs: Math.round(why.ms) };
}

const plain: Readonly<Record<string, string>> = {
  ENOTFOUND: "the name does not resolve",
  ENODATA: "the name does not resolve",
  ETIMEOUT: "the name servers do not answer",
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was reset",
  UND_ERR_SOCKET: "the connection was closed before an answer came",
  UND_ERR_CONNECT_TIMEOUT: "no connection within the time limit",
  CERT_HAS_EXPIRED: "the certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the certificate is self-signed",
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate is for another name",
};

function reasonFor(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code: unknown = Reflect.get(error, "code");
  const known = typeof code === "string" ? plain[code] : undefined;
  // Several addresses were tried in vain: the error's own message is then empty.
  return known ?? (error.message || String(code ?? error.name));
}
