import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { PassThrough } from "node:stream";
import { brotliDecompressSync, createGunzip, gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { RoutePlugin } from "../src/daemon/context/fastify.ts";
import { addProducts } from "./support/catalog.ts";
import { startServer } from "./support/http.ts";
import { type Platform, startPlatform } from "./support/platform.ts";

interface Bytes {
  message: IncomingMessage;
  bytes: Buffer;
}

/** One request whose body is left as it was sent: fetch would decompress it. */
async function send(url: string, headers: Record<string, string>, method = "GET", body?: string): Promise<Bytes> {
  const sent = request(url, { method, headers }).end(body);
  const [message]: IncomingMessage[] = await once(sent, "response");
  if (message === undefined) throw new Error("no response");
  return { message, bytes: Buffer.concat(await message.toArray()) };
}

async function withProducts(): Promise<{
  platform: Platform;
  token: string;
  get: (encoding?: string) => Promise<Bytes>;
}> {
  const platform = await startPlatform();
  await addProducts(
    platform.store,
    Array.from({ length: 20 }, (_, at) => ({ sku: `EU${at}`, price_cents: 100 })),
  );
  const { token } = await platform.caller();
  const get = (encoding?: string) =>
    send(`${platform.url}/api/v1/products`, {
      authorization: `Bearer ${token}`,
      ...(encoding === undefined ? {} : { "accept-encoding": encoding }),
    });
  return { platform, token, get };
}

test("responses of 1 KiB or more are compressed on request, with the same content", async () => {
  const { get } = await withProducts();
  const plain = await get();
  expect(plain.message.headers["content-encoding"]).toBeUndefined();
  expect(plain.message.headers.vary).toBe("accept-encoding");
  for (const [asked, encoding, decompress] of [
    ["br", "br", brotliDecompressSync],
    ["gzip", "gzip", gunzipSync],
    ["gzip, deflate, br", "br", brotliDecompressSync],
    ["br;q=0, gzip", "gzip", gunzipSync],
  ] as const) {
    const { message, bytes } = await get(asked);
    expect([message.headers["content-encoding"], message.headers.vary], asked).toEqual([encoding, "accept-encoding"]);
    expect(bytes.length, asked).toBeLessThan(plain.bytes.length / 2);
    expect(decompress(bytes).equals(plain.bytes), asked).toBe(true);
  }
  for (const asked of ["identity", "deflate", "unknown"]) {
    expect((await get(asked)).bytes.equals(plain.bytes), asked).toBe(true);
  }
});

test("a kept response is compressed as each client accepts, and is another one once it has changed", async () => {
  const { platform, get } = await withProducts();
  const plain = (await get()).bytes;
  for (const accepted of ["br", "gzip", "gzip, br", "identity", "br", "gzip", "gzip;q=1.0, br;q=0.5", "*", "br"]) {
    const { message, bytes } = await get(accepted);
    expect(message.headers["content-length"], accepted).toBe(String(bytes.length));
    expect(decoded(message, bytes).equals(plain), accepted).toBe(true);
  }
  await addProducts(platform.store, [{ sku: "NEW", price_cents: 100 }]);
  for (const accepted of ["br", "gzip"]) {
    const { message, bytes } = await get(accepted);
    expect(String(decoded(message, bytes)), accepted).toContain('"NEW"');
  }
});

test("bytes that are sent again are compressed once", async () => {
  const bytes = Buffer.from("first ".repeat(400));
  const sending: RoutePlugin = (app) => {
    app.get("/bytes", { config: { public: true } }, async (_request, reply) => reply.type("text/plain").send(bytes));
  };
  const { url } = await startServer({ routes: [sending] });
  const get = async (headers: Record<string, string>) => {
    const { message, bytes } = await send(`${url}/bytes`, headers);
    return String(decoded(message, bytes)).slice(0, 5);
  };
  expect(await get({ "accept-encoding": "gzip" })).toBe("first");
  // What is kept never changes; here it shows whether it was looked at.
  bytes.fill("other ");
  expect(await get({ "accept-encoding": "gzip" })).toBe("first");
  expect(await get({ "accept-encoding": "br" })).toBe("other");
  expect(await get({ "accept-encoding": "gzip", "x-no-compression": "1" })).toBe("other");
  // However many ways to ask there are, few are kept.
  for (let at = 0; at < 10; at++) expect(await get({ "accept-encoding": `gzip, x${at}` })).toBe("other");
  bytes.fill("third ");
  // One copy of each coding is kept, whatever it is asked by.
  expect(await get({ "accept-encoding": "gzip, x1" })).toBe("first");
  expect(await get({ "accept-encoding": "gzip, x9" })).toBe("third");
});

/** A body without its content coding. */
function decoded({ headers }: IncomingMessage, bytes: Buffer): Buffer {
  const coding = headers["content-encoding"];
  if (coding === "br") return brotliDecompressSync(bytes);
  return coding === "gzip" ? gunzipSync(bytes) : bytes;
}

test("a small response is sent uncompressed", async () => {
  const { platform } = await withProducts();
  const { message } = await send(`${platform.url}/healthz`, { "accept-encoding": "gzip" });
  expect([message.statusCode, message.headers["content-encoding"]]).toEqual([200, undefined]);
});

test("tokens and webhook secrets are never in a compressed response", async () => {
  const { platform, token } = await withProducts();
  const caller = await platform.caller();
  const headers = { "content-type": "application/json", "accept-encoding": "br, gzip" };
  const scope = "read:products".padEnd(2_000);
  const grant = { grant_type: "client_credentials", client_id: caller.clientId, client_secret: caller.clientSecret };
  const issued = await send(`${platform.url}/api/v1/oauth/token`, headers, "POST", JSON.stringify({ ...grant, scope }));
  expect([issued.message.statusCode, issued.message.headers["content-encoding"]]).toEqual([200, undefined]);
  const hook = { url: `https://hooks.example.com/${"x".repeat(1_500)}`, events: ["order.created"] };
  const authorized = { ...headers, authorization: `Bearer ${token}` };
  const created = await send(`${platform.url}/api/v1/webhooks`, authorized, "POST", JSON.stringify(hook));
  expect([created.message.statusCode, created.message.headers["content-encoding"]]).toEqual([201, undefined]);
  expect(created.bytes.length).toBeGreaterThan(1_024);
});

test("a streamed body is compressed chunk by chunk, each readable once it is sent", async () => {
  const body = new PassThrough();
  const streaming: RoutePlugin = (app) => {
    app.get("/stream", { config: { public: true } }, async (_request, reply) =>
      reply.type("application/json").send(body),
    );
  };
  const { url } = await startServer({ routes: [streaming] });
  const sent = request(`${url}/stream`, { headers: { "accept-encoding": "gzip" } }).end();
  body.write('{"first":1,');
  const [message]: IncomingMessage[] = await once(sent, "response");
  if (message === undefined) throw new Error("no response");
  expect(message.headers["content-encoding"]).toBe("gzip");
  const text = message.pipe(createGunzip());
  const [first] = await once(text, "data");
  expect(String(first), "before the stream has ended").toBe('{"first":1,');
  body.end('"last":2}');
  expect(String(Buffer.concat(await text.toArray()))).toBe('"last":2}');
});
