import { Readable } from "node:stream";
import { Agent, type Dispatcher } from "undici";
import { ANSWER_LIMIT_MS } from "../../core/webhooks/retries.ts";
import { guardedConnector, openConnector } from "./guarded-connector.ts";
import { createResolve, type Resolve } from "./resolve.ts";

/** How deliveries name their sender. */
export const USER_AGENT = "esimctl-webhooks/1";

/** What is posted: a whole body, or one too long to be held in memory that can be read as often as needed. */
export interface WebhookPost {
  url: string;
  headers: Record<string, string>;
  body: Buffer | { length: number; chunks(): AsyncIterable<Buffer> };
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
  /** Posts once and follows no redirect. Never throws: a missing response is a result too. */
  post(post: WebhookPost): Promise<WebhookResponse>;
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
  const connect = (options.allowPrivate ? openConnector : guardedConnector)(resolve, limitMs);
  // No limit of connections per origin here: the worker bounds each endpoint, and endpoints may share a host.
  const agent = new Agent({ connect, keepAliveTimeout: 30_000, keepAliveMaxTimeout: 60_000 });
  return {
    post: (post) => timed(limitMs, (signal) => exchange(agent, post, signal)),
    close: () => agent.destroy(),
  };
}

type Exchanged = Omit<WebhookResponse, "latencyMs">;

async function timed(limitMs: number, run: (signal: AbortSignal) => Promise<Exchanged>): Promise<WebhookResponse> {
  const began = performance.now();
  const cut = new AbortController();
  const timer = setTimeout(() => cut.abort(), limitMs);
  try {
    return { ...(await run(cut.signal)), latencyMs: Math.round(performance.now() - began) };
  } catch (error) {
    const reason = cut.signal.aborted ? `no answer within ${limitMs / 1000} s` : reasonFor(error);
    return { statusCode: null, error: reason, body: null, latencyMs: Math.round(performance.now() - began) };
  } finally {
    clearTimeout(timer);
  }
}

async function exchange(agent: Agent, { url, headers, body }: WebhookPost, signal: AbortSignal): Promise<Exchanged> {
  const { origin, pathname, search } = new URL(url);
  const length = String(body.length);
  const response = await agent.request({
    origin,
    path: pathname + search,
    method: "POST",
    headers: { ...headers, "content-length": length },
    body: Buffer.isBuffer(body) ? body : Readable.from(body.chunks(), { objectMode: false }),
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
