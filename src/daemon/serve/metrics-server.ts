import type { Exposed } from "../metrics/metrics.ts";
import { startListening } from "./listen.ts";

/** Serves GET /metrics on loopback only. Throws `ListenError` when the port cannot be had. */
export async function startMetricsServer(exposed: Exposed, port: number): Promise<{ url: string; close(): void }> {
  // Only here: as a module it loads Node's fetch, which is a tenth of a start.
  const { createServer } = await import("node:http");
  const server = createServer((request, response) => {
    if (request.method !== "GET" || request.url !== "/metrics") return void response.writeHead(404).end();
    exposed.metrics().then(
      (text) => response.writeHead(200, { "content-type": exposed.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  const host = "127.0.0.1";
  await startListening(
    () =>
      new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen(port, host, resolve);
      }),
    { host, port, flag: "--metrics-port" },
  );
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  return {
    url: `http://${host}:${bound}/metrics`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
