import { probe } from "../context/addresses.ts";
import type { App } from "../context/fastify.ts";
import { NOT_LOGGED } from "../log/lines.ts";
import type { Exposed } from "../metrics/metrics.ts";

/** An address that cannot be listened on; message and hint are for the operator. */
export class ListenError extends Error {
  readonly hint: string;

  constructor(message: string, hint: string, cause: unknown) {
    super(message, { cause });
    this.name = "ListenError";
    this.hint = hint;
  }
}

interface Wanted {
  host: string;
  port: number;
  /** The option that chooses another port. */
  flag: string;
}

/** Runs `start`; throws `ListenError` when the address is taken, forbidden or not one of this machine. */
export async function startListening<T>(start: () => Promise<T>, { host, port, flag }: Wanted): Promise<T> {
  try {
    return await start();
  } catch (error) {
    const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
    if (code === "EADDRINUSE") {
      throw new ListenError(
        `Port ${port} on ${host} is taken by another process.`,
        `Stop it, or choose another port with ${flag}.`,
        error,
      );
    }
    if (code === "EACCES") {
      throw new ListenError(
        `Port ${port} on ${host} is not allowed to this user.`,
        `Choose a port above 1023 with ${flag}, or put a proxy in front.`,
        error,
      );
    }
    if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EAI_AGAIN" || code === "EINVAL") {
      throw new ListenError(
        `${host} is no address of this machine.`,
        "Give one that is with --host, for example 127.0.0.1.",
        error,
      );
    }
    throw error;
  }
}

/**
 * Throws `ListenError` unless the addresses of HTTP and metrics can be listened on. Asked before a start writes
 * anything: one that cannot serve leaves no trace.
 */
export async function requireListenable({ host, port, metricsPort }: Bound): Promise<void> {
  const wanted: Wanted[] = [{ host, port, flag: "--port" }];
  if (metricsPort !== undefined) wanted.push({ host: METRICS_HOST, port: metricsPort, flag: "--metrics-port" });
  for (const address of wanted) await startListening(() => probe(address), address);
}

/** What a daemon listens on; port 0: any free one. */
interface Bound {
  host: string;
  port: number;
  metricsPort?: number | undefined;
}

/** Metrics are for this machine only. */
const METRICS_HOST = "127.0.0.1";

/** Listens and returns the bound address, e.g. http://127.0.0.1:8080. Throws `ListenError`. */
export async function listen(app: App, { host, port }: { host: string; port: number }): Promise<string> {
  await app.ready();
  // The command prints the address itself, once everything runs.
  const quiet = { listenTextResolver: () => NOT_LOGGED };
  return startListening(() => app.listen({ host, port, ...quiet }), { host, port, flag: "--port" });
}

/**
 * Stops gracefully: /readyz answers 503, no connection is accepted, unused ones and long bodies are cut off, other
 * requests in flight have `ms` to finish, then their connections are closed. Resolves once the app is closed.
 */
export async function drain(app: App, ms: number): Promise<void> {
  app.lifecycle.draining = true;
  app.lifecycle.stopping.abort();
  const cut = setTimeout(() => app.server.closeAllConnections(), ms);
  try {
    await app.close();
  } finally {
    clearTimeout(cut);
  }
}

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
  const host = METRICS_HOST;
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
