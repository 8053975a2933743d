import type { Client, Dispatcher } from "undici";
import { ANSWER_LIMIT_MS } from "../../core/webhooks/retries.ts";
import { type Connections, createConnections } from "./connections.ts";
import { guardedConnector, openConnector, portGuarded } from "./guarded-connector.ts";
import { createResolve, type Resolve } from "./resolve.ts";

/** What is sent: made once there is a connection. */
export interface WebhookMessage {
  headers: Record<string, string>;
  body: Buffer;
}

/** One attempt. */
export interface WebhookPost {
  url: string;
  /** Makes the message; its time does not count for the receiver. Null: nothing is to be sent any more. */
  compose(): Promise<WebhookMessage | null>;
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

/** Read of an answer's body at most; what follows is cut off with its connection. */
const READ_CAP = 64 * 1024;
/** Kept of it. */
const KEPT_CAP = 2 * 1024;

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
  const url = new URL(post.url);
  const connecting = await timed(limitMs, (signal) => connections.take(url, AbortSignal.any([signal, stopping])));
  const client = connecting.value;
  if (client === null) return stopping.aborted ? null : failed(connecting, limitMs);
  try {
    const message = await compose();
    if (message === null || stopping.aborted) return null;
    const exchanged = await timed(limitMs - connecting.ms, (signal) => exchange(client, { url, ...message }, signal));
    const latencyMs = Math.round(connecting.ms + exchanged.ms);
    if (exchanged.value === null) return { ...failed(exchanged, limitMs), latencyMs };
    return { ...exchanged.value, latencyMs };
  } finally {
    connections.give(client);
  }
}

/** How long something took, and what came of it: a value, or null and why. */
type Timed<T> = { ms: number } & ({ value: T; late: false } | { value: null; late: boolean; error: unknown });

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

type Exchanged = Omit<WebhookResponse, "latencyMs">;
type Sent = WebhookMessage & { url: URL };

async function exchange(client: Client, { url, headers, body }: Sent, signal: AbortSignal): Promise<Exchanged> {
  const response = await client.request({
    path: url.pathname + url.search,
    method: "POST",
    headers: { ...headers, "content-length": String(body.length) },
    body,
    signal,
  });
  return { statusCode: response.statusCode, error: null, body: await beginning(response.body) };
}

/** The beginning of a body as text. The status has come: a body that breaks off changes nothing of it. */
async function beginning(body: Dispatcher.ResponseData["body"]): Promise<string> {
  const kept: Buffer[] = [];
  let read = 0;
  try {
    for await (const chunk of body) {
      // Without an encoding set, undici's bodies yield buffers.
      const bytes = chunk as Buffer;
      if (read < KEPT_CAP) kept.push(bytes.subarray(0, KEPT_CAP - read));
      read += bytes.length;
      // Leaving the loop destroys the body and its connection.
      if (read > READ_CAP) break;
    }
  } catch {
    // Cut off, by the other side or by the limit.
  }
  // NUL is text that PostgreSQL does not store.
  return Buffer.concat(kept).toString("utf8").replaceAll("\0", "\ufffd");
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
