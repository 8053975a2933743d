import type { ServerResponse } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import type { Read, Store } from "../src/core/store/store.ts";
import { disableWebhook } from "../src/core/webhooks/disable.ts";
import { claimDeliveries, DELIVERY_LEASE_MS } from "../src/core/webhooks/due.ts";
import { applyOutcomes } from "../src/core/webhooks/outcome.ts";
import { signatureFault } from "../src/core/webhooks/signature.ts";
import { enableWebhook } from "../src/core/webhooks/update.ts";
import { createWebhookSender, type SenderOptions } from "../src/daemon/gateways/webhook-sender.ts";
import { createDeliveries } from "../src/daemon/workers/deliveries.ts";
import { addProducts } from "./support/catalog.ts";
import { freePort } from "./support/free-port.ts";
import { HANG_MS } from "./support/hangs.ts";
import type { Caller } from "./support/platform.ts";
import { settled } from "./support/pool.ts";
import { type Received, startReceiver } from "./support/receiver.ts";
import { startWebhookPlatform, type WebhookPlatform } from "./support/webhooks.ts";

async function ordered(platform: WebhookPlatform, caller: Caller, quantity: number): Promise<string> {
  const products = await addProducts(platform.store, [{ sku: "EU5", price_cents: 1 }]);
  const line_items = [{ product_id: products.EU5, quantity }];
  const { body } = await caller.send("POST", "/api/v1/orders", { line_items }, { "idempotency-key": "big" });
  await platform.fulfill();
  return body.id;
}

test("an event carries the first 1,000 eSIMs of its order and the address of all; the signature is right", async () => {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller();
  const receiver = await startReceiver();
  const { secret } = await platform.endpoint(caller, receiver.url, ["order.fulfilled", "esims.ready"]);
  const id = await ordered(platform, caller, 1_203);
  await platform.deliver();

  const { body: delivered } = await caller.get(`/api/v1/orders/${id}/esims`);
  const first = delivered.esims
    .slice(0, 1_000)
    .map(({ iccid, activation_code, qr_code_url }: Record<string, string>) => ({
      iccid,
      activation_code,
      qr_code_url,
    }));
  const esims_url = `http://esim.test/api/v1/orders/${id}/esims`;
  expect(receiver.received).toHaveLength(2);
  for (const { body, headers, json } of receiver.received) {
    expect(json.data).toMatchObject({ esims_url });
    expect(json.data.esims).toEqual(first);
    expect(headers["content-length"]).toBe(String(Buffer.byteLength(body)));
    const header = headers["x-webhook-signature"] ?? "";
    expect(signatureFault({ secret, header, body }, platform.clock.now())).toBeNull();
  }
  expect(receiver.received.find(({ json }) => json.event === "esims.ready")?.json.data.count).toBe(1_203);
});

test("an event of exactly 1,000 eSIMs has no esims_url", async () => {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller();
  const receiver = await startReceiver();
  await platform.endpoint(caller, receiver.url, ["order.fulfilled"]);
  await ordered(platform, caller, 1_000);
  await platform.deliver();
  const [{ json }] = receiver.received as [Received];
  expect(json.data.esims).toHaveLength(1_000);
  expect(json.data).not.toHaveProperty("esims_url");
});

/** A delivery worker on a store whose reads are counted by name, and what stops it. */
function watchedWorker({ store, clock }: WebhookPlatform, options: Partial<SenderOptions> = {}) {
  const read: string[] = [];
  const counting: Store = {
    ...store,
    read: (query, input) => {
      read.push(query.name);
      return store.read(query, input);
    },
  };
  const sender = createWebhookSender({ allowPrivate: true, ...options });
  onTestFinished(() => sender.close());
  const log = { error: (...words: unknown[]) => console.error(...words) };
  const pool = createDeliveries({ store: counting, clock, sender, publicUrl: "http://esim.test", log });
  return { pool, bodies: () => read.filter((name) => name === "esimCodes").length };
}

test("an endpoint gets 32 requests at a time; what is claimed beyond waits, and a stop gives it up", async () => {
  const platform = await startWebhookPlatform();
  const held: ServerResponse[] = [];
  const receiver = await startReceiver((_, response) => void held.push(response));
  const caller = await platform.caller();
  await platform.endpoint(caller, receiver.url);
  for (let count = 0; count < 100; count++) await platform.trigger(caller);
  const { pool } = watchedWorker(platform);
  expect(await pool.step(new AbortController().signal)).toBe(96);
  await receiver.got(32);
  held.shift()?.writeHead(200).end();
  await receiver.got(33);
  const stopped = pool.stop(HANG_MS);
  for (const response of held) response.writeHead(200).end();
  await stopped;
  expect(receiver.received).toHaveLength(33);
  expect(await platform.store.read(leftOver, null)).toEqual({ delivered: 33, pending: 67, leased: 0 });
});

async function leftOver(q: Read, _input: null) {
  const rows = await q.db.select().from(q.t.deliveries);
  const of = (status: string) => rows.filter((row) => row.status === status).length;
  const leased = rows.filter((row) => row.leased_until !== null).length;
  return { delivered: of("delivered"), pending: of("pending"), leased };
}

test("the body of an event is read once for all endpoints that get it at a time", async () => {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller();
  const receiver = await startReceiver();
  for (let at = 0; at < 20; at++) await platform.endpoint(caller, `${receiver.url}/${at}`, ["order.fulfilled"]);
  await ordered(platform, caller, 2);
  const { pool, bodies } = watchedWorker(platform);
  await settled(pool);
  expect(receiver.received).toHaveLength(20);
  expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  expect(new Set(receiver.received.map(({ headers }) => headers["x-webhook-signature"])).size).toBe(20);
  expect(bodies()).toBe(1);
});

test("an endpoint that cannot be connected to has no body prepared", async () => {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller();
  // Nothing listens there.
  await platform.endpoint(caller, `http://127.0.0.1:${await freePort()}/hooks`, ["order.fulfilled"]);
  await ordered(platform, caller, 2);
  const { pool, bodies } = watchedWorker(platform);
  await settled(pool);
  const [delivery] = await platform.deliveries();
  expect(delivery).toMatchObject({ status: "pending", attempts: [{ error: "the connection was refused" }] });
  expect(bodies()).toBe(0);
});

test("a stop aborts attempts without a connection at once, and another worker can make them", async () => {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller();
  const receiver = await startReceiver();
  await platform.endpoint(caller, `http://hooks.example:${receiver.port}/`);
  await platform.trigger(caller);
  const { promise: asked, resolve: look } = Promise.withResolvers<void>();
  // A name server that never answers.
  const resolve = () => {
    look();
    return new Promise<never>(() => undefined);
  };
  const { pool } = watchedWorker(platform, { resolve, limitMs: HANG_MS });
  await pool.step(new AbortController().signal);
  await asked;
  await pool.stop(HANG_MS);
  expect(await platform.deliveries()).toMatchObject([{ status: "pending", attempts: [] }]);
  const next = watchedWorker(platform, { resolve: async () => [{ address: "127.0.0.1", family: 4 }] });
  await settled(next.pool);
  expect(receiver.received).toHaveLength(1);
});

test("deliveries that a killed daemon had leased are delivered once the lease expires", async () => {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller();
  const receiver = await startReceiver();
  const { id } = await platform.endpoint(caller, receiver.url);
  await platform.trigger(caller);
  // A daemon claims it and is killed before it sends.
  const claim = { rooms: [{ endpointId: id, room: 16 }] };
  const [lost] = await platform.store.write(claimDeliveries, claim);
  expect(await platform.store.write(claimDeliveries, claim)).toEqual([]);
  platform.clock.advance(DELIVERY_LEASE_MS - 1);
  await platform.deliver();
  expect(receiver.received).toHaveLength(0);
  platform.clock.advance(1);
  await platform.deliver();
  expect(receiver.received).toHaveLength(1);

  // If it was not dead but slow, its outcome is too late to change anything.
  if (lost === undefined) throw new Error("nothing was claimed");
  const { event, lease, attempts } = lost;
  const failed = { statusCode: null, error: "late", body: null, cut: false, latencyMs: 1, at: platform.clock.now() };
  const about = { id: lease.id, endpointId: id, event: event.kind, eventId: event.id, leaseNo: lease.no, attempts };
  await platform.store.write(applyOutcomes, [{ ...about, ...failed }]);
  const [delivery] = await platform.deliveries();
  expect(delivery).toMatchObject({ status: "delivered", attempts: [{ status_code: 200 }, { error: "late" }] });
});

test("a 2xx after the endpoint was disabled counts; any other response leaves the event held", async () => {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller();
  const receiver = await startReceiver(async (_, response, count) => {
    // Both are under way when the first arrives.
    if (count === 1) await platform.store.write(disableWebhook, { id, actor: "test" });
    response.writeHead(count === 1 ? 200 : 500).end();
  });
  const { id } = await platform.endpoint(caller, receiver.url);
  await platform.trigger(caller);
  await platform.trigger(caller);
  await platform.deliver();
  await receiver.got(2);
  expect((await platform.deliveries()).map((each) => each.status).sort()).toEqual(["delivered", "held"]);
  await platform.store.write(enableWebhook, { id, actor: "test" });
  platform.clock.advance(60_000);
  await platform.deliver();
  expect(receiver.received).toHaveLength(2);
});
