import { readFileSync } from "node:fs";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { platformStatus } from "../src/core/insight/status.ts";
import { Secret } from "../src/core/kernel/secret.ts";
import { createSignedExchange } from "../src/daemon/gateways/signed-exchange.ts";
import { createWebhookSender } from "../src/daemon/gateways/webhook-sender.ts";
import { addProducts } from "./support/catalog.ts";
import { orHang } from "./support/hangs.ts";
import { type Flood, floods, startHostileServer } from "./support/hostile-server.ts";
import { startPlatform } from "./support/platform.ts";
import { settled } from "./support/pool.ts";
import { makeCertificate } from "./support/proxies.ts";
import { temporaryDirectory } from "./support/store.ts";
import { placeOrder, supplyWorker, useHttpSupplier } from "./support/supplies.ts";
import { startWebhookPlatform, type WebhookPlatform } from "./support/webhooks.ts";

/** Only a bound of bytes ends an attempt in these tests. */
const limitMs = 600_000;
const cutOff = "the response was cut off after 64 KiB";
const fine: Flood = { head: "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", endless: null };

afterEach(() => vi.unstubAllEnvs());

const kinds = Object.entries(floods).map(([kind, { status, ...flood }]) => ({ kind, flood, status }));

/** A partner with an endpoint at a server that answers so. */
async function flooded(flood: Flood) {
  const platform = await startWebhookPlatform({ limitMs });
  const caller = await platform.caller();
  const server = await startHostileServer(flood);
  const { id } = await platform.endpoint(caller, `http://127.0.0.1:${server.port}/hooks`);
  const deliver = () => orHang(platform.deliver(), () => "an attempt was not cut off");
  const detail = async () => (await caller.get(`/api/v1/webhooks/${id}`)).body;
  return { platform, caller, server, id, deliver, detail };
}

const attemptsOf = async (platform: WebhookPlatform) =>
  (await platform.deliveries()).flatMap(({ attempts }) => attempts);

describe.each(kinds)("endless $kind", ({ flood, status }) => {
  test("from an endpoint: the attempt is cut off, a status that came before counts", async () => {
    const { platform, caller, id, deliver } = await flooded(flood);
    await platform.trigger(caller);
    await deliver();
    const arrived = status === 200;
    expect(await attemptsOf(platform)).toMatchObject([{ status_code: status, error: cutOff }]);
    expect(await platform.deliveries()).toMatchObject([{ status: arrived ? "delivered" : "pending" }]);
    // The log that the partner reads.
    const { body } = await caller.get(`/api/v1/webhooks/${id}/deliveries`);
    expect(body.data).toMatchObject([{ last_status_code: status, last_error: cutOff }]);
  });

  test("from a supplier or carrier: the response does not count", async () => {
    const { port } = await startHostileServer(flood);
    const exchange = createSignedExchange(Date.now);
    onTestFinished(() => exchange.close());
    const asking = exchange.post({
      url: `http://127.0.0.1:${port}/`,
      secret: new Secret("a secret of at least sixteen"),
      reference: "one",
      body: {},
      timeoutMs: limitMs,
    });
    const response = await orHang(asking, () => "an exchange was not cut off");
    expect(response).toMatchObject({ statusCode: status, body: undefined, fault: "too_long" });
  });
});

test("the bytes of TLS count too", async () => {
  const { certificate, key } = await makeCertificate(temporaryDirectory());
  const tls = { cert: readFileSync(certificate), key: readFileSync(key) };
  // The certificate is no authority's.
  vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
  const sender = createWebhookSender({ allowPrivate: true, limitMs });
  onTestFinished(() => sender.close());
  const compose = () => ({ headers: {}, body: Buffer.from("{}") });
  const post = (port: number) =>
    sender.post({ url: `https://127.0.0.1:${port}/`, compose, stopping: new AbortController().signal });
  for (const { flood, status } of kinds) {
    const { port } = await startHostileServer(flood, tls);
    const response = await orHang(post(port), () => "an attempt was not cut off");
    expect(response).toMatchObject({ statusCode: status, error: cutOff, cut: true });
  }
  const long = await startHostileServer({ head: `HTTP/1.1 200 OK\r\n\r\n${"x".repeat(300_000)}`, endless: null }, tls);
  expect(await post(long.port)).toMatchObject({ statusCode: 200, error: cutOff, cut: true });
  const { port, requests } = await startHostileServer(fine, tls);
  for (const _ of [1, 2]) expect(await post(port)).toMatchObject({ statusCode: 200, body: "ok", cut: false });
  expect(requests()).toBe(2);
});

test("a supplier that floods is failing, and its order is tried again", async () => {
  const platform = await startPlatform();
  const { store, clock } = platform;
  const { API } = await addProducts(store, [
    { sku: "API", product_type: "esim_qr_api", delivery_method: "supplier_api", supplier: "makers", price_cents: 1 },
  ]);
  const partner = await platform.caller({ live: true });
  await platform.fund(partner.partnerId, 100);
  const { port } = await startHostileServer(floods["Early Hints"] ?? fine);
  await useHttpSupplier(store, "makers", `http://127.0.0.1:${port}/`);
  await placeOrder(partner, API);
  await orHang(settled(supplyWorker(store, clock.now)), () => "an exchange was not cut off");
  expect((await store.read(platformStatus, null)).outages).toMatchObject([
    { kind: "supplier", name: "makers", last_error: "its response was cut off: too long", waiting: 1 },
  ]);
});

test("a long response counts for its own exchange only, and a few informational ones do no harm", async () => {
  const hints = "HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\n".repeat(3);
  const page = "x".repeat(60 * 1024);
  const { platform, caller, server, deliver, detail } = await flooded({
    head: `${hints}HTTP/1.1 200 OK\r\ncontent-length: ${page.length}\r\n\r\n${page}`,
    endless: null,
  });
  for (let at = 0; at < 5; at++) {
    await platform.trigger(caller);
    await deliver();
  }
  expect(server.requests()).toBe(5);
  expect((await attemptsOf(platform)).map(({ error }) => error)).toEqual([null, null, null, null, null]);
  expect(await detail()).toMatchObject({ failed_attempts: 0, failing_since: null });
});

test("after three cut off in a row nothing is sent until the wait is over, which grows", async () => {
  const { platform, caller, server, deliver } = await flooded(floods["tiny chunks"] ?? fine);
  const send = async (count: number) => {
    for (let at = 0; at < count; at++) await platform.trigger(caller);
    await deliver();
    return server.requests();
  };
  for (const sent of [1, 2, 3]) expect(await send(1)).toBe(sent);
  expect(await send(4)).toBe(3);
  platform.clock.advance(999);
  await deliver();
  expect(server.requests()).toBe(3);
  platform.clock.advance(1);
  await deliver();
  // As many at a time as a failing endpoint gets.
  expect(server.requests()).toBe(5);
  platform.clock.advance(3_999);
  await deliver();
  expect(server.requests()).toBe(5);

  server.answers(fine);
  platform.clock.advance(1);
  await deliver();
  expect(server.requests()).toBe(7);
  // It is well again: nothing waits any more.
  expect(await send(3)).toBe(10);
});

test("what is already claimed of an endpoint that floods is not sent", async () => {
  const { platform, caller, server, deliver } = await flooded(floods["Early Hints"] ?? fine);
  for (let at = 0; at < 90; at++) await platform.trigger(caller);
  await deliver();
  // As many as may be under way at a time, and two that began before the third was cut off.
  expect(server.requests()).toBeLessThanOrEqual(34);
  server.answers(fine);
  await orHang(
    (async () => {
      while ((await platform.deliveries()).some(({ status }) => status === "pending")) {
        platform.clock.advance(16_000);
        await platform.deliver();
      }
    })(),
    () => "not all was delivered",
  );
  expect((await platform.deliveries()).every(({ status }) => status === "delivered")).toBe(true);
});

test("a new URL does not wait for what the old one did", async () => {
  const { platform, caller, id, deliver } = await flooded(floods["a body"] ?? fine);
  for (let at = 0; at < 3; at++) await platform.trigger(caller);
  await deliver();
  await platform.trigger(caller);
  await deliver();
  const other = await startHostileServer(fine);
  const url = `http://127.0.0.1:${other.port}/hooks`;
  expect((await caller.send("PATCH", `/api/v1/webhooks/${id}`, { url })).status).toBe(200);
  // What was released while the old one flooded waits for a second.
  await deliver();
  platform.clock.advance(1_000);
  await deliver();
  expect(other.requests()).toBe(4);
});
