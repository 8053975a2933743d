import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { httpLoad } from "./bench/http-load.ts";
import { NEW_ID } from "./bench/load.ts";

async function serving(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await expect.poll(() => server.address()).not.toBeNull();
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("a load sends as many requests as asked, each with an ID of its own, and reads responses in pieces", async () => {
  const asked: string[] = [];
  const url = await serving(async (request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers["idempotency-key"]} ${await text(request)}`);
    response.writeHead(201, { "content-length": 6 }).flushHeaders();
    response.write("abc");
    setImmediate(() => response.end("def"));
  });
  const headers = { "idempotency-key": `bench-${NEW_ID}` };
  const load = {
    url: `${url}/orders?limit=2`,
    method: "POST",
    connections: 3,
    headers,
    body: `{"id":"${NEW_ID}"}`,
  } as const;
  expect((await httpLoad({ ...load, amount: 50 })).perSecond).toBeGreaterThan(0);
  expect(asked).toHaveLength(50);
  expect(new Set(asked).size).toBe(50);
  for (const one of asked) expect(one).toMatch(/^POST \/orders\?limit=2 bench-(\S+) \{"id":"\1"\}$/);
});

test("a load fails where a response is no 2xx, and where a connection is closed", async () => {
  let answered = 0;
  const url = await serving((_request, response) => {
    response.writeHead(++answered === 7 ? 503 : 200, { "content-length": 2 }).end("ok");
  });
  await expect(httpLoad({ url, connections: 2, amount: 20 })).rejects.toThrow("of 20 requests 19 were 2xx, 1 failed");
  const closing = await serving((request) => void request.socket.destroy());
  await expect(httpLoad({ url: closing, connections: 2, amount: 20 })).rejects.toThrow("closed a connection");
});
