import { buildConnector } from "undici";
import type { Secret } from "../../core/kernel/secret.ts";
import { signature, signatureFault, signatureHeader } from "../../core/webhooks/signature.ts";
import { createConnections } from "./connections.ts";
import type { Exchanged, Message } from "./metered-exchange.ts";
import { postOnce } from "./post-once.ts";
import { wires } from "./wire.ts";

/** A JSON request to a party that shares a secret with the operator: a carrier, a supplier. */
export interface SignedRequest {
  url: string;
  secret: Secret;
  /** Identifies repetitions of a request: the same at every attempt. */
  reference: string;
  body: unknown;
  /** From the first byte to the end of the response. */
  timeoutMs: number;
}

/** The response; `fault` is why there is no `body`. */
export interface SignedResponse {
  /** Null: no response in time. */
  statusCode: number | null;
  /** The parsed JSON; undefined with a fault. */
  body: unknown;
  fault: "no_answer" | "timeout" | "too_long" | "not_json" | null;
  latencyMs: number;
}

/** Sends requests to every party that shares a secret with the operator. */
export interface SignedExchange {
  /** Posts once, follows no redirect, never throws: a missing response is a result too. */
  post(request: SignedRequest): Promise<SignedResponse>;
  close(): Promise<void>;
}

/** The header with the signature of a request's or callback's raw body: `t=<unix seconds>,v1=<hex>`. */
export const SIGNATURE_HEADER = "x-signature";
/** The header with the idempotency reference. */
const REFERENCE_HEADER = "idempotency-key";

/** Bytes of a response that are read at most, from the connection's first one on. */
const MOST_BYTES = 256 * 1024;
/** How long a connection may take to open; that of the request counts from its beginning (ms). */
const CONNECT_MS = 10_000;

/** Signed JSON over connections that are kept alive. `now` is the clock, in ms. */
export function createSignedExchange(now: () => number): SignedExchange {
  const connect = buildConnector({ timeout: CONNECT_MS, allowH2: false });
  const connections = createConnections(wires(connect, { timeoutMs: CONNECT_MS, mostBytes: MOST_BYTES }));
  const never = new AbortController().signal;
  return {
    async post(request) {
      const { url, timeoutMs: limitMs } = request;
      const compose = () => composed(request, now());
      const bounds = { limitMs, mostBytes: MOST_BYTES, keptBytes: MOST_BYTES };
      const exchanged = await postOnce(connections, { url, compose, stopping: never }, bounds);
      return responseOf(exchanged);
    },
    close: () => connections.close(),
  };
}

/** Whether a callback's signature is right and its time within 300 s of `now` (ms). Compares in constant time. */
export function isSignedBy(secret: Secret, message: { header: string; body: Buffer }, now: number): boolean {
  return signatureFault({ secret: secret.reveal(), ...message }, now) === null;
}

function composed({ secret, reference, body }: SignedRequest, now: number): Message {
  const payload = JSON.stringify(body);
  const seconds = Math.floor(now / 1000);
  const headers = {
    "content-type": "application/json",
    accept: "application/json",
    "user-agent": "esimctl",
    [REFERENCE_HEADER]: reference,
    [SIGNATURE_HEADER]: signatureHeader(seconds, signature(secret.reveal(), seconds, payload)),
  };
  return { headers, body: Buffer.from(payload) };
}

/** A response counts when it is whole; of one that is too long the status is kept. */
function responseOf(exchanged: Exchanged | null): SignedResponse {
  const latencyMs = Math.round(exchanged?.ms ?? 0);
  const without = (fault: SignedResponse["fault"], statusCode: number | null = null) => {
    return { statusCode, body: undefined, fault, latencyMs };
  };
  if (exchanged === null) return without("no_answer");
  const { statusCode, ended, body: bytes } = exchanged;
  if (ended === "cut") return without("too_long", statusCode);
  if (ended !== null || statusCode === null) return without(ended === "late" ? "timeout" : "no_answer");
  const body = parse(bytes.toString("utf8"));
  return body === undefined ? without("not_json", statusCode) : { statusCode, body, fault: null, latencyMs };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
