import { buildConnector } from "undici";
import { addressOfHost, isPublicAddress, isWebhookPort } from "../../core/webhooks/address.ts";
import { ANSWER_LIMIT_MS } from "../../core/webhooks/retries.ts";
import { createConnections } from "./connections.ts";
import type { Exchanged } from "./metered-exchange.ts";
import { type Post, postOnce } from "./post-once.ts";
import { createResolve, lookupOf, type Resolve } from "./resolve.ts";
import { cutWords, wires } from "./wire.ts";

/** The response of an endpoint. */
export interface WebhookResponse {
  /** Null: no response in time; then `error` is the reason. */
  statusCode: number | null;
  /** Why there is no response, or why it was cut off. */
  error: string | null;
  /** The beginning of the answer's body as text; null without an answer. */
  body: string | null;
  /** It was cut off at the bound of bytes. */
  cut: boolean;
  latencyMs: number;
}

/** Posts events. */
export interface WebhookSender {
  /**
   * Connects, composes, posts once and follows no redirect. A missing response is a result too; null: given up before
   * anything was sent. Throws only what `compose` throws.
   */
  post(post: Post): Promise<WebhookResponse | null>;
  close(): Promise<void>;
}

/** Where it may connect to, and how long it waits. */
export interface SenderOptions {
  allowPrivate: boolean;
  /** From the first byte to the end of the answer; the contract's 10 s unless given. */
  limitMs?: number;
  resolve?: Resolve;
}

/** Bytes of a response that are read at most, from the connection's first one on. */
const MOST_BYTES = 64 * 1024;
/** Kept of its body. */
const KEPT_BYTES = 2 * 1024;

/** Posts events over connections that are kept alive; where they lead is checked when they are opened. */
export function createWebhookSender(options: SenderOptions): WebhookSender {
  const limitMs = options.limitMs ?? ANSWER_LIMIT_MS;
  const resolve = options.resolve ?? createResolve();
  const connect = portGuarded((options.allowPrivate ? openConnector : guardedConnector)(resolve, limitMs));
  const openWire = wires(connect, { timeoutMs: limitMs, mostBytes: MOST_BYTES });
  // No limit of connections per origin: the worker bounds each endpoint, and endpoints may share a host.
  const connections = createConnections(openWire);
  const bounds = { limitMs, mostBytes: MOST_BYTES, keptBytes: KEPT_BYTES };
  return {
    async post(post) {
      const exchanged = await postOnce(connections, post, bounds);
      return exchanged === null ? null : responseOf(exchanged, limitMs);
    },
    close: () => connections.close(),
  };
}

/** Once the status has come, a body that breaks off, is late or too long changes nothing of it. */
function responseOf({ statusCode, body, ended, error, ms }: Exchanged, limitMs: number): WebhookResponse {
  const cut = ended === "cut";
  const latencyMs = Math.round(ms);
  if (statusCode !== null) {
    return { statusCode, error: cut ? cutWords(MOST_BYTES) : null, body: textOf(body), cut, latencyMs };
  }
  const late = `no answer within ${limitMs / 1000} s`;
  const reason = cut ? cutWords(MOST_BYTES) : ended === "late" ? late : reasonFor(error);
  return { statusCode, error: reason, body: null, cut, latencyMs };
}

/** NUL is text that PostgreSQL does not store. */
function textOf(body: Buffer): string {
  return body.toString("utf8").replaceAll("\0", "\ufffd");
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

/** An address that nothing may be sent to. */
class RefusedAddress extends Error {
  constructor(address: string) {
    super(`the address ${address} is private, loopback or link-local`);
    this.name = "RefusedAddress";
  }
}

/** The same connector, for ports that events may be sent to: an endpoint may be older than this rule. */
function portGuarded(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) => {
    if (isWebhookPort(options.port)) return connect(options, callback);
    // Callers expect the answer after the call.
    queueMicrotask(() => callback(new Error(`the port ${options.port} is one that browsers block`), null));
  };
}

/**
 * Opens connections to public addresses only. What a name resolved to is filtered, and the connection is made to one of
 * those very addresses, so that a name cannot mean one thing when checked and another when connected to. The address at
 * the other end is looked at once more.
 */
function guardedConnector(resolve: Resolve, timeoutMs: number): buildConnector.connector {
  const lookup = lookupOf(resolve, (found) => {
    const chosen = found.filter(({ address }) => isPublicAddress(address));
    if (chosen.length === 0) throw new RefusedAddress(found[0]?.address ?? "none");
    return chosen;
  });
  const connect = buildConnector({ timeout: timeoutMs, allowH2: false, lookup });
  return (options, callback) => {
    // A host that is an address is never looked up.
    const spelled = addressOfHost(options.hostname);
    if (spelled !== null && !isPublicAddress(spelled)) return callback(new RefusedAddress(spelled), null);
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      const reached = socket.remoteAddress;
      if (reached !== undefined && isPublicAddress(reached)) return callback(null, socket);
      socket.destroy();
      callback(new RefusedAddress(reached ?? "unknown"), null);
    });
  };
}

/** The same without a guard, for `--allow-private-webhooks`. */
function openConnector(resolve: Resolve, timeoutMs: number): buildConnector.connector {
  return buildConnector({ timeout: timeoutMs, allowH2: false, lookup: lookupOf(resolve, (found) => found) });
}
