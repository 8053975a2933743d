import { Agent, type Dispatcher } from "undici";
import type { Secret } from "../../core/kernel/secret.ts";
import { signature, signatureFault, signatureHeader } from "../../core/webhooks/signature.ts";

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

/** The longest response that is read. */
const ANSWER_CAP = 256 * 1024;

/** Signed JSON over connections that are kept alive. `now` is the clock, in ms. */
export function createSignedExchange(now: () => number): SignedExchange {
  const agent = new Agent({ keepAliveTimeout: 15_000, connections: 64 });
  return {
    post: (request) => timed(request.timeoutMs, (signal) => exchange(agent, request, { now: now(), signal })),
    close: () => agent.destroy(),
  };
}

/** Whether a callback's signature is right and its time within 300 s of `now` (ms). Compares in constant time. */
export function isSignedBy(secret: Secret, message: { header: string; body: Buffer }, now: number): boolean {
  return signatureFault({ secret: secret.reveal(), ...message }, now) === null;
}

type Exchanged = Omit<SignedResponse, "latencyMs">;

async function timed(timeoutMs: number, run: (signal: AbortSignal) => Promise<Exchanged>): Promise<SignedResponse> {
  const began = performance.now();
  const cut = AbortSignal.timeout(timeoutMs);
  const answered = await run(cut).catch(
    (): Exchanged => ({ statusCode: null, body: undefined, fault: cut.aborted ? "timeout" : "no_answer" }),
  );
  return { ...answered, latencyMs: Math.round(performance.now() - began) };
}

async function exchange(
  agent: Agent,
  { url, secret, reference, body }: SignedRequest,
  { now, signal }: { now: number; signal: AbortSignal },
): Promise<Exchanged> {
  const { origin, pathname, search } = new URL(url);
  const payload = JSON.stringify(body);
  const seconds = Math.floor(now / 1000);
  const response = await agent.request({
    origin,
    path: pathname + search,
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json",
      "user-agent": "esimctl",
      [REFERENCE_HEADER]: reference,
      [SIGNATURE_HEADER]: signatureHeader(seconds, signature(secret.reveal(), seconds, payload)),
    },
    body: payload,
    signal,
  });
  const { statusCode } = response;
  const text = await whole(response.body);
  if (text === null) return { statusCode, body: undefined, fault: "too_long" };
  const parsed = parse(text);
  return parsed === undefined
    ? { statusCode, body: undefined, fault: "not_json" }
    : { statusCode, body: parsed, fault: null };
}

/** The body's text, or null when it is longer than the cap; leaving the loop closes its connection. */
async function whole(body: Dispatcher.ResponseData["body"]): Promise<string | null> {
  const chunks: Buffer[] = [];
  let read = 0;
  for await (const chunk of body) {
    // Without an encoding set, undici's bodies yield buffers.
    const bytes = chunk as Buffer;
    read += bytes.length;
    if (read > ANSWER_CAP) return null;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
