import { createServer } from "node:http";
import { onTestFinished } from "vitest";
import type { ProviderRequest, SimulatedProvider } from "../../../src/daemon/simulators/provider.ts";
import type { SimulatedCall } from "../../../src/daemon/simulators/steering.ts";

/** A provider on loopback, at a clock; the next call of a kind can be steered. It goes with the test. */
export async function startPlainNode(provider: SimulatedProvider, now: () => number) {
  let next: { on: SimulatedCall; steered: ProviderRequest["steered"] } | null = null;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { pathname, searchParams: query } = new URL(request.url ?? "", "http://loopback");
    const path = pathname.slice(provider.basePath.length);
    const asked = { method: request.method ?? "", path, query, body: Buffer.concat(chunks) };
    const steered = next !== null && provider.callOf(asked) === next.on ? next.steered : null;
    if (steered !== null) next = null;
    const { status, headers, body } = provider.answer({ ...asked, headers: request.headers, steered, now: now() });
    const type = { "content-type": "application/json", ...headers };
    response.writeHead(status, type).end(typeof body === "string" ? body : JSON.stringify(body));
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
    /** How the next call of a kind ends. */
    steer(on: SimulatedCall, outcome: "refuse" | "busy" | "wait", delay_ms = 0) {
      next = { on, steered: { outcome, delay_ms } };
    },
  };
}
