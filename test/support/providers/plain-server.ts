import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import type { ProviderRequest, SimulatedProvider } from "../../../src/daemon/simulators/provider.ts";
import type { SimulatedCall } from "../../../src/daemon/simulators/steering.ts";

/** A simulated provider behind a real server on loopback, which goes with the test. */
export interface ServedProvider {
  /** Its base path. */
  url: string;
  /** How the next call of a kind ends. */
  steer(call: SimulatedCall, steered: NonNullable<ProviderRequest["steered"]>): void;
}

/** Serves `provider` by the clock `now`. */
export async function servePlainly(provider: SimulatedProvider, now: () => number): Promise<ServedProvider> {
  const steering = new Map<SimulatedCall, NonNullable<ProviderRequest["steered"]>>();
  const server = createServer(async (incoming, response) => {
    const { pathname, searchParams: query } = new URL(incoming.url ?? "/", "http://localhost");
    const asked = { method: incoming.method ?? "", path: pathname.slice(provider.basePath.length) };
    const call = provider.callOf(asked);
    const steered = call === null ? null : (steering.get(call) ?? null);
    if (call !== null) steering.delete(call);
    const { headers } = incoming;
    const answer = provider.answer({ ...asked, query, headers, body: await buffer(incoming), steered, now: now() });
    response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers });
    response.end(answer.body === undefined ? undefined : JSON.stringify(answer.body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return {
    url: `http://127.0.0.1:${address.port}${provider.basePath}`,
    steer: (call, steered) => void steering.set(call, steered),
  };
}
