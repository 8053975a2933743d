import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import { setCarrier } from "../../src/core/carriers/set.ts";
import type { Store } from "../../src/core/store/store.ts";
import { startActivationPlatform } from "./activations.ts";
import type { Reply } from "./platform.ts";
import { postSigned } from "./signed.ts";

export const CARRIER_SECRET = "a secret that carrier A shares with us";

/** One request as a carrier got it. */
export interface CarrierRequest {
  reference: string;
  signature: string;
  headers: IncomingMessage["headers"];
  raw: string;
  body: Record<string, unknown>;
}

type Respond = (response: ServerResponse, asked: CarrierRequest) => void;

/** A carrier's server on loopback. */
export interface CarrierServer {
  url: string;
  asked: CarrierRequest[];
  /** What it does from now on: a status and JSON, or anything else. */
  answers(respond: Respond | { status?: number; body: unknown }): void;
}

/** A carrier that accepts everything until `answers` sets other responses. */
export async function startCarrier(): Promise<CarrierServer> {
  const asked: CarrierRequest[] = [];
  let respond: Respond = json(200, { outcome: "accepted" });
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const raw = Buffer.concat(chunks).toString("utf8");
    const { headers } = request;
    const one = {
      reference: String(headers["idempotency-key"]),
      signature: String(headers["x-signature"]),
      headers,
      raw,
      body: JSON.parse(raw),
    };
    asked.push(one);
    respond(response, one);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port was bound");
  return {
    url: `http://127.0.0.1:${address.port}/activate?tenant=7`,
    asked,
    answers(next) {
      respond = typeof next === "function" ? next : json(next.status ?? 200, next.body);
    },
  };
}

function json(status: number, body: unknown): Respond {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
}

/** Makes carrier A reachable over HTTP at `url`. */
export async function useHttpCarrier(store: Store, url: string, settings: { timeout_ms?: number } = {}): Promise<void> {
  await store.write(setCarrier, {
    prefix: "896103",
    settings: { adapter: "http", url, secret: CARRIER_SECRET, timeout_ms: 30_000, ...settings },
    actor: "test",
  });
}

interface Callback {
  body: unknown;
  /** The time of the signature, in ms. */
  now: number;
  secret?: string;
  prefix?: string;
}

/** Calls the platform back as a carrier would. */
export function callBack(
  url: string,
  { body, now, secret = CARRIER_SECRET, prefix = "896103" }: Callback,
): Promise<Reply> {
  return postSigned({ url, clock: { now: () => now } }, `/api/v1/callbacks/carriers/${prefix}`, body, secret);
}

export const MINUTE = 60_000;

/** A partner, carrier A over HTTP, and a request that is due now. */
export async function withHttpCarrier() {
  const platform = await startActivationPlatform();
  const carrier = await startCarrier();
  await useHttpCarrier(platform.store, carrier.url);
  const partner = await platform.caller();
  const due = async (fields: Record<string, unknown> = {}) => {
    const id = await platform.submit(partner, { activation_date: "2026-03-02", ...fields });
    platform.clock.advance(5_000);
    return id;
  };
  return { ...platform, carrier, partner, due };
}
