import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { Agent } from "undici";
import { onTestFinished } from "vitest";
import { Secret } from "../../../src/core/kernel/secret.ts";
import type { Ask } from "../../../src/core/supply/provider.ts";
import { createAiralo } from "../../../src/daemon/gateways/suppliers/airalo/adapter.ts";
import { createProviderCalls } from "../../../src/daemon/gateways/suppliers/calls.ts";
import { simulateAiralo } from "../../../src/daemon/simulators/airalo.ts";
import type { ProviderAnswer } from "../../../src/daemon/simulators/provider.ts";
import { testClock } from "../clock.ts";
import { openTestStore } from "../store.ts";
import { askFor } from "./run-purchase.ts";

export { REFERENCE, run } from "./run-purchase.ts";

/** How one request ends: answered otherwise, perhaps after the double did its part; `lost`: without an answer. */
export type Script = (ordinary: () => ProviderAnswer) => Ending | Promise<Ending>;
type Ending = ProviderAnswer | "lost";

const SUPPLIER = "skyline";
/** The description that an order with this reference has. */
export const TOKEN = "esimctl-0199a0b12222700080000000000000aa";

/** The adapter with a store and the double of Airalo, both by a clock that the test moves. */
export async function startAdapter() {
  const clock = testClock();
  const double = simulateAiralo();
  const { base, scripted, requests, close } = await serveScripted(double, clock.now);
  const { store } = await openTestStore(clock);
  const dispatcher = new Agent();
  onTestFinished(() => dispatcher.destroy());
  const node = (secret = double.secret, url = `${base}${double.basePath}`) => {
    const calls = createProviderCalls({ store, dispatcher, supplier: SUPPLIER, url });
    return createAiralo({ calls, secret: new Secret(secret), url, now: clock.now });
  };
  const airalo = node();
  const script = (method: string, path: string, ...ends: Script[]) => scripted.push({ method, path, ends });
  return { clock, double, airalo, node, script, requests, close };
}

/** An answer in the place of the double's. */
export function answering(status: number, body: unknown, headers = {}): () => ProviderAnswer {
  return () => ({ status, body, headers });
}

/** A purchase as the worker is asked for it. */
export function asked(given: Partial<Ask> = {}): Ask {
  return askFor({ plan: "hinode-7days-1gb", ...given });
}

interface Scripted {
  method: string;
  path: string;
  ends: Script[];
}

async function serveScripted(double: ReturnType<typeof simulateAiralo>, now: () => number) {
  const scripted: Scripted[] = [];
  const requests: { method: string; path: string; query: URLSearchParams; body: string }[] = [];
  const server = createServer(async (incoming, response) => {
    const { pathname, searchParams: query } = new URL(incoming.url ?? "/", "http://localhost");
    const { method = "", headers } = incoming;
    const path = pathname.slice(double.basePath.length);
    const body = await buffer(incoming);
    requests.push({ method, path, query, body: body.toString("utf8") });
    const ordinary = () => double.answer({ method, path, query, headers, body, steered: null, now: now() });
    const end = scripted.find((one) => one.method === method && one.path === path && one.ends.length > 0)?.ends.shift();
    const answer = end === undefined ? ordinary() : await end(ordinary);
    if (answer === "lost") return void incoming.socket.destroy();
    const date = new Date(now()).toUTCString();
    response.writeHead(answer.status, { "content-type": "application/json", date, ...answer.headers });
    const text = typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body);
    response.end(answer.body === undefined ? undefined : text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = async () => {
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(close);
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return { base: `http://127.0.0.1:${address.port}`, scripted, requests, close };
}
