import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";

/** One request that a receiver got. */
export interface Received {
  method: string;
  path: string;
  headers: Record<string, string>;
  /** The raw body. */
  body: string;
  /** The body's envelope. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects and fails where it is not there
  json: any;
  /** The machine's own time (ms) of its arrival. */
  arrivedAt: number;
}

/** How a receiver answers: a status code, or something by hand. */
export type Answering = number | ((request: Received, response: ServerResponse, count: number) => void);

export interface Receiver {
  url: string;
  port: number;
  received: Received[];
  /** How it answers from now on; 200 at first. */
  answers(answering: Answering): void;
  /** Resolves once it has got `count` requests in all. */
  got(count: number): Promise<void>;
}

/** A real HTTP server on loopback that a partner might run; it goes with the test. */
export async function startReceiver(answering: Answering = 200): Promise<Receiver> {
  let how = answering;
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  const server = createServer(async (request, response) => {
    const got = await readRequest(request);
    received.push(got);
    for (const look of waiting) look();
    if (typeof how === "number") response.writeHead(how).end(how === 200 ? "ok" : "no");
    else how(got, response, received.length);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return {
    url: `http://127.0.0.1:${address.port}/hooks`,
    port: address.port,
    received,
    answers(next) {
      how = next;
    },
    async got(count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const look = () => received.length >= count && resolve();
      waiting.add(look);
      look();
      await promise;
      waiting.delete(look);
    },
  };
}

async function readRequest(request: IncomingMessage): Promise<Received> {
  const arrivedAt = Date.now();
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString("utf8");
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  const json = body === "" ? null : JSON.parse(body);
  return { method: request.method ?? "", path: request.url ?? "", headers, body, json, arrivedAt };
}
