import { setTimeout as pause } from "node:timers/promises";
import type { Dispatcher, FormData } from "undici";
import type { Secret } from "../../../core/kernel/secret.ts";
import type { Store } from "../../../core/store/store.ts";
import { blockTurns, type Limit, takeTurn } from "../../../core/supply/limit.ts";
import { dropToken, keepToken, sharedToken } from "../../../core/supply/token.ts";

/** A request to a provider. */
export interface Call {
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below the supplier's base address, e.g. `/esim/order`, with its query. */
  path: string;
  headers?: Record<string, string>;
  /** The exact bytes. */
  body?: string | FormData;
  /** What the call takes of which of the provider's limits. */
  limits: readonly { limit: Limit; cost: number }[];
  /** Whether `take` took that before; left out: no. */
  taken?: boolean;
  /** How long the answer may take (ms); left out: 30 s. */
  timeoutMs?: number;
}

/** What was answered. Only `sent: false` says that no byte of the request went out. */
export type Answer =
  | { sent: false; reason: string }
  /** A limit, ours or the provider's: nothing was sent, or nothing happened. */
  | { sent: false; waitMs: number }
  /** Sent, and no whole answer. */
  | { sent: true; status: null; reason: string }
  /** `body` is undefined where it is no JSON. */
  | { sent: true; status: number; headers: Record<string, string>; body: unknown };

/** Calls of one supplier, within the limits that all nodes share. */
export interface ProviderCalls {
  /** Takes what a call takes of limits, before it is made; answers in how many ms to ask again, 0: it was taken. */
  take(limits: Call["limits"]): Promise<number>;
  /** Sends once. Follows no redirect, repeats nothing. A 429 is `{sent: false, waitMs}`. */
  send(call: Call): Promise<Answer>;
  /** As `send`, and waits for limits up to `mostMs` in all: for what people wait for. */
  sendInTurn(call: Call, mostMs?: number): Promise<Answer>;
  /** The access token that all nodes share; null: there is none that is valid. */
  token(): Promise<Secret | null>;
  keepToken(token: string, expiresAt: number): Promise<void>;
  /** Forgets this one, which is no longer taken. */
  dropToken(token: Secret): Promise<void>;
}

interface Parts {
  store: Pick<Store, "read" | "write">;
  dispatcher: Dispatcher;
  supplier: string;
  /** The base address, without a slash at its end. */
  url: string;
}

const TIMEOUT_MS = 30_000;
const LONGEST_TURN_MS = 15_000;
/** A whole catalog of 3,000 plans is 3 MB. */
const MOST_BYTES = 64 * 1024 * 1024;
/** A 429 that does not say how long. */
const UNNAMED_WAIT_MS = 1_000;

/** Makes the calls of one supplier. */
export function createProviderCalls({ store, dispatcher, supplier, url }: Parts): ProviderCalls {
  async function take(limits: Call["limits"]): Promise<number> {
    for (const { limit, cost } of limits) {
      const waitMs = await store.write(takeTurn, { supplier, limit, cost });
      if (waitMs > 0) return waitMs;
    }
    return 0;
  }

  async function send(call: Call): Promise<Answer> {
    const waitMs = call.taken === true ? 0 : await take(call.limits);
    if (waitMs > 0) return { sent: false, waitMs };
    const answer = await exchanged(dispatcher, url, call);
    if (!answer.sent || answer.status !== 429) return answer;
    const asked = waitOf(answer.headers) ?? UNNAMED_WAIT_MS;
    const [first] = call.limits;
    if (first !== undefined) await store.write(blockTurns, { supplier, limit: first.limit, waitMs: asked });
    return { sent: false, waitMs: asked };
  }

  async function sendInTurn(call: Call, mostMs = LONGEST_TURN_MS): Promise<Answer> {
    const answer = await send(call);
    if (answer.sent || !("waitMs" in answer) || answer.waitMs > mostMs) return answer;
    await pause(answer.waitMs);
    return sendInTurn(call, mostMs - answer.waitMs);
  }

  return {
    take,
    send,
    sendInTurn,
    token: () => store.read(sharedToken, { supplier }),
    keepToken: (token, expiresAt) => store.write(keepToken, { supplier, token, expiresAt }),
    dropToken: (token) => store.write(dropToken, { supplier, token: token.reveal() }),
  };
}

/** Faults of connecting: no byte of the request went out. */
const unconnected = new Set([
  ...["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"],
  ...["CERT_HAS_EXPIRED", "DEPTH_ZERO_SELF_SIGNED_CERT", "ERR_TLS_CERT_ALTNAME_INVALID"],
  ...["SELF_SIGNED_CERT_IN_CHAIN", "UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
]);

async function exchanged(dispatcher: Dispatcher, url: string, call: Call): Promise<Answer> {
  const signal = AbortSignal.timeout(call.timeoutMs ?? TIMEOUT_MS);
  const headers = { accept: "application/json", "user-agent": "esimctl", ...call.headers };
  const target = new URL(url + call.path);
  try {
    const { origin } = target;
    const path = target.pathname + target.search;
    const body = call.body ?? null;
    const response = await dispatcher.request({ origin, path, method: call.method, headers, body, signal });
    const text = await boundedText(response.body);
    return { sent: true, status: response.statusCode, headers: plain(response.headers), body: parsed(text) };
  } catch (error) {
    const code = codeOf(error);
    if (unconnected.has(code)) return { sent: false, reason: `no connection (${code})` };
    return { sent: true, status: null, reason: signal.aborted ? "timeout" : "no whole answer" };
  }
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : null;
  return typeof code === "string" ? code : "";
}

async function boundedText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > MOST_BYTES) throw new Error("the answer is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function plain(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const pairs = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(", ") : value]],
  );
  return Object.fromEntries(pairs);
}

/** How long an answer asks to wait (ms), by Retry-After in seconds; null: it does not. */
export function waitOf(headers: Record<string, string>): number | null {
  const seconds = Number(headers["retry-after"]);
  return Number.isFinite(seconds) && seconds > 0 ? Math.ceil(seconds * 1_000) : null;
}
