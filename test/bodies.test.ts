import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { iccid, request } from "./support/activations.ts";
import { addProducts } from "./support/catalog.ts";
import { unknownPath } from "./support/generic-scenarios.ts";
import { type Caller, call, type Platform, startPlatform } from "./support/platform.ts";

const FORM = "application/x-www-form-urlencoded";
const TYPES = [FORM, "text/plain", "application/octet-stream", "multipart/form-data; boundary=x", "json"];

/** An empty body: with its length, 0, or in chunks of which there are none. */
const empty = {
  counted: () => ({ body: "" }),
  chunked: () => ({ body: new ReadableStream({ start: (controller) => controller.close() }), duplex: "half" as const }),
};

interface Operation {
  method: string;
  path: string;
}

/** Every operation that is not read by GET, from the served document. */
async function writingOperations(platform: Platform): Promise<Operation[]> {
  const { body } = await call(`${platform.url}/openapi.json`);
  return Object.entries<object>(body.paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => method !== "get")
      .map((method) => ({ method: method.toUpperCase(), path })),
  );
}

function authorized(caller: Caller, type?: string): Record<string, string> {
  return { authorization: `Bearer ${caller.token}`, ...(type === undefined ? {} : { "content-type": type }) };
}

test("an empty body is no body, whatever its type, on every route", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller({ agent: true });
  const operations = await writingOperations(platform);
  expect(operations.length).toBeGreaterThan(15);
  for (const { method, path } of operations) {
    const url = platform.url + unknownPath(path);
    const plain = await call(url, { method, headers: authorized(caller) });
    for (const type of TYPES) {
      for (const body of Object.values(empty)) {
        const reply = await call(url, { method, headers: authorized(caller, type), ...body() });
        const name = `${method} ${path} as ${type}`;
        expect([reply.status, reply.body.errors, reply.body.error], name).toEqual([
          plain.status,
          plain.body.errors,
          plain.body.error,
        ]);
      }
    }
  }
});

test("a body of another media type is refused by what its endpoint reads", async () => {
  const { url, caller } = await startPlatform();
  const { send } = await caller();
  const multipart = { "content-type": "multipart/form-data; boundary=x" };
  const order = await send("POST", "/api/v1/orders", "--x--", multipart);
  const read = "The body is multipart/form-data; this endpoint reads application/json";
  expect([order.status, order.body.detail]).toEqual([415, `${read}.`]);
  const token = await call(`${url}/api/v1/oauth/token`, { method: "POST", headers: multipart, body: "--x--" });
  expect([token.status, token.body.error]).toEqual([415, "invalid_request"]);
  expect(token.body.error_description).toBe(`${read} or application/x-www-form-urlencoded.`);
});

test("a request is cancelled by id and by ICCID, and a webhook deleted, with an empty body of any type", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller();
  const cancelled = async (path: (id: string, sim: string) => string, type: string) => {
    const sim = iccid();
    const { body } = await caller.send("POST", "/api/v1/activations", request({ iccid: sim }));
    return caller.send("POST", path(body.id, sim), "", { "content-type": type });
  };
  for (const type of TYPES) {
    const byId = await cancelled((id) => `/api/v1/activations/${id}/cancel`, type);
    const byIccid = await cancelled((_, sim) => `/api/v1/activations/by-iccid/${sim}/cancel`, type);
    expect([byId.status, byId.body.status, byIccid.status, byIccid.body.status], type).toEqual([
      200,
      "cancelled",
      200,
      "cancelled",
    ]);
    const hook = { url: "https://hooks.example.com/x", events: ["order.created"] };
    const { body } = await caller.send("POST", "/api/v1/webhooks", hook);
    const deleted = await caller.send("DELETE", `/api/v1/webhooks/${body.webhook.id}`, "", { "content-type": type });
    expect(deleted.status, type).toBe(204);
  }
});

test("a body that is not empty requires a supported content type", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller();
  const url = `${platform.url}/api/v1/activations/${crypto.randomUUID()}/cancel`;
  const chunked = { body: new Blob(["reason=x"]).stream(), duplex: "half" as const };
  for (const body of [{ body: "reason=x" }, chunked]) {
    const reply = await call(url, { method: "POST", headers: authorized(caller, FORM), ...body });
    expect([reply.status, reply.body.type]).toEqual([415, "http://esim.test/docs/errors/unsupported_media_type"]);
  }
});

const POISON = '"__proto__":{"admin":true,"quantity":7},"constructor":{"prototype":{"admin":true}}';

test("__proto__ and constructor are ordinary unknown fields, and change no prototype", async () => {
  const platform = await startPlatform();
  const { EU5 } = await addProducts(platform.store, [{ sku: "EU5", price_cents: 100 }]);
  const caller = await platform.caller();
  const key = { "idempotency-key": "k" };
  const text = `{${POISON},"line_items":[{${POISON},"product_id":"${EU5}","quantity":1}]}`;
  const created = await caller.send("POST", "/api/v1/orders", text, key);
  expect([created.status, created.body.quantity, created.body.metadata]).toEqual([201, 1, { test: true }]);
  expect(Object.hasOwn(created.body, "admin")).toBe(false);
  const inherited = `{"__proto__":{"line_items":[{"product_id":"${EU5}","quantity":1}]}}`;
  const missing = await caller.send("POST", "/api/v1/orders", inherited, { "idempotency-key": "l" });
  expect([missing.status, missing.body.errors]).toEqual([400, { line_items: ["is required"] }]);
  const token = `{${POISON},"grant_type":"client_credentials","client_id":"${caller.clientId}","client_secret":"x"}`;
  const refused = await call(`${platform.url}/api/v1/oauth/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: token,
  });
  expect([refused.status, refused.body.error]).toEqual([400, "invalid_request"]);
  expect(Reflect.get({}, "admin")).toBeUndefined();
});

test("in metadata they are plain data, in the order, the database and the payload comparison", async () => {
  const platform = await startPlatform();
  const { EU5 } = await addProducts(platform.store, [{ sku: "EU5", price_cents: 100 }]);
  const caller = await platform.caller();
  const metadata = `{${POISON},"deep":[{"__proto__":"x"}]}`;
  const order = (words: string) => `{"line_items":[{"product_id":"${EU5}","quantity":1}],"metadata":${words}}`;
  const send = (words: string) => caller.send("POST", "/api/v1/orders", order(words), { "idempotency-key": "k" });
  const created = await send(metadata);
  const kept = JSON.stringify({ ...JSON.parse(metadata), test: true });
  expect([created.status, JSON.stringify(created.body.metadata)]).toEqual([201, kept]);
  await platform.fulfill();
  const read = await caller.get(`/api/v1/orders/${created.body.id}`);
  expect([read.body.status, JSON.stringify(read.body.metadata)]).toEqual(["fulfilled", kept]);
  const { body } = await caller.get("/api/v1/orders");
  expect(JSON.stringify(body.data[0].metadata)).toBe(kept);
  expect((await send(metadata)).status).toBe(200);
  expect((await send(metadata.replace("true", "false"))).status, "another payload").toBe(409);
  const broken = await send(`{"__proto__":"\\u0000"}`);
  expect([broken.status, Object.keys(broken.body.errors)]).toEqual([400, ["metadata.__proto__"]]);
  const top = await caller.send("POST", "/api/v1/orders", `{"__proto__":"\\u0000"}`, { "idempotency-key": "m" });
  expect([top.status, Object.keys(top.body.errors)]).toEqual([400, ["__proto__"]]);
});

test.each([
  ["gzip", gzipSync],
  ["deflate", deflateSync],
  ["br", brotliCompressSync],
])("a body in the content coding %s is a 415 that says what is read", async (coding, compress) => {
  const platform = await startPlatform();
  const caller = await platform.caller();
  const headers = { ...authorized(caller, "application/json"), "idempotency-key": "k" };
  const send = (encoding: string, body: string | Uint8Array<ArrayBuffer>) =>
    call(`${platform.url}/api/v1/orders`, {
      method: "POST",
      headers: { ...headers, "content-encoding": encoding },
      body,
    });
  const reply = await send(coding, new Uint8Array(compress('{"line_items":[]}')));
  expect([reply.status, reply.body.type]).toEqual([415, "http://esim.test/docs/errors/unsupported_media_type"]);
  expect(reply.headers.get("accept-encoding")).toBe("identity");
  expect(reply.body.requestId).toBe(reply.headers.get("x-request-id"));
  expect((await send("identity", '{"line_items":[]}')).body.errors).toHaveProperty("line_items");
  expect((await send(coding, "")).body.errors, "an empty body has no coding").toHaveProperty("body");
});
