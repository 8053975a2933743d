import Stripe from "stripe";
import { expect, test } from "vitest";
import { disableWebhook } from "../src/core/webhooks/disable.ts";
import { replayStep } from "../src/core/webhooks/redeliver.ts";
import { retryDelays } from "../src/core/webhooks/retries.ts";
import { rotateWebhookSecret } from "../src/core/webhooks/rotate-secret.ts";
import { signatureFault } from "../src/core/webhooks/signature.ts";
import { enableWebhook } from "../src/core/webhooks/update.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import type { Caller } from "./support/platform.ts";
import { type Received, startReceiver } from "./support/receiver.ts";
import { startWebhookPlatform, type WebhookPlatform } from "./support/webhooks.ts";

const detail = async (caller: Caller, id: string) => (await caller.get(`/api/v1/webhooks/${id}`)).body;

/** Advances the clock past every delay, so that a delivery makes all attempts. */
async function exhaust(platform: WebhookPlatform): Promise<void> {
  await platform.deliver();
  for (const delay of retryDelays) {
    platform.clock.advance(delay);
    await platform.deliver();
  }
}

test("an order's events are delivered, each with its own fields", async () => {
  const platform = await startWebhookPlatform();
  const products = await addProducts(platform.store, [{ sku: "EU5", price_cents: 1250 }]);
  const iccids = await addStock(platform.store, "EU5", 2);
  const caller = await platform.caller({ live: false });
  const live = await platform.caller({ live: true });
  await platform.fund(live.partnerId, 10_000);
  const receiver = await startReceiver();
  const kinds = ["order.created", "payment.completed", "order.fulfilled", "esims.ready"] as const;
  await expect(platform.endpoint(live, receiver.url, [...kinds])).rejects.toThrow(/https in production/);
  await platform.endpoint(caller, receiver.url, [...kinds]);

  const line_items = [{ product_id: products.EU5, quantity: 2 }];
  const { body: order } = await caller.send("POST", "/api/v1/orders", { line_items }, { "idempotency-key": "one" });
  await platform.deliver();
  expect(receiver.received.map((each) => each.json.event)).toEqual(["order.created"]);
  await platform.fulfill();
  await platform.deliver();

  // The last two are sent at the same time.
  const of = (kind: string) => receiver.received.find((each) => each.json.event === kind);
  const [created, fulfilled, ready] = [of("order.created"), of("order.fulfilled"), of("esims.ready")];
  expect(receiver.received).toHaveLength(3);
  const { body: delivered } = await caller.get(`/api/v1/orders/${order.id}/esims`);
  const esims = delivered.esims.map(({ iccid, activation_code, qr_code_url }: Record<string, string>) => ({
    iccid,
    activation_code,
    qr_code_url,
  }));
  expect(esims).toHaveLength(2);
  expect(iccids).not.toContain(esims[0].iccid);
  expect(created?.json).toEqual({
    event: "order.created",
    event_id: expect.any(String),
    timestamp: order.created_at,
    data: {
      id: order.id,
      order_number: order.order_number,
      external_order_id: null,
      partner_id: caller.partnerId,
      status: "pending_payment",
      total_price_cents: 2500,
      currency: "AUD",
      line_items: [{ product_id: products.EU5, product_sku: "EU5", quantity: 2, unit_price_cents: 1250 }],
      created_at: order.created_at,
    },
  });
  expect(fulfilled?.json.data).toEqual({
    id: order.id,
    order_number: order.order_number,
    external_order_id: null,
    status: "fulfilled",
    fulfilled_at: expect.any(String),
    esims,
  });
  const { id: order_id, order_number } = order;
  expect(ready?.json.data).toEqual({ order_id, order_number, external_order_id: null, count: 2, esims });
});

test("each delivery is a signed POST with its event in the headers", async () => {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller();
  const receiver = await startReceiver();
  const { secret } = await platform.endpoint(caller, receiver.url, ["order.created", "esims.ready"]);
  await platform.trigger(caller);
  await platform.trigger(caller, "esims.ready");
  await platform.deliver();
  expect(receiver.received).toHaveLength(2);
  for (const each of receiver.received) {
    expect(each.method).toBe("POST");
    expect(each.headers).toMatchObject({
      "content-type": "application/json",
      "x-webhook-id": each.json.event_id,
      "x-webhook-event": each.json.event,
      "user-agent": expect.stringMatching(/^esimctl/),
    });
    expect(each.headers).not.toHaveProperty("x-webhook-signature-next");
    const header = each.headers["x-webhook-signature"] ?? "";
    expect(signatureFault({ secret, header, body: each.body }, platform.clock.now())).toBeNull();
  }
});

test("Stripe's library verifies deliveries, and refuses tampered and late ones", async () => {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller();
  const receiver = await startReceiver();
  const { secret } = await platform.endpoint(caller, receiver.url);
  // That library reads the machine's clock.
  platform.clock.set(new Date().toISOString());
  await platform.trigger(caller);
  await platform.deliver();
  const [{ body, headers }] = receiver.received as [Received];
  const header = headers["x-webhook-signature"] ?? "";
  const { webhooks } = new Stripe("sk_test_unused");

  expect(webhooks.constructEvent(body, header, secret)).toMatchObject({ event: "order.created" });
  expect(() => webhooks.constructEvent(body.replace("paid", "free"), header, secret)).toThrow(/signature/i);
  expect(() => webhooks.constructEvent(body, header, `${secret}x`)).toThrow(/signature/i);
  const late = platform.clock.now() + 302_000;
  expect(() => webhooks.constructEvent(body, header, secret, 300, undefined, late)).toThrow(/tolerance/i);
});

test("a failed delivery is retried after 1, 2, 4, 8 and 16 seconds, and then no more", async () => {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller();
  const receiver = await startReceiver(500);
  const { id, secret } = await platform.endpoint(caller, receiver.url);
  const eventId = await platform.trigger(caller);

  await platform.deliver();
  expect(receiver.received).toHaveLength(1);
  for (const [index, delay] of [1_000, 2_000, 4_000, 8_000, 16_000].entries()) {
    platform.clock.advance(delay - 1);
    await platform.deliver();
    expect(receiver.received, `before ${delay} ms`).toHaveLength(index + 1);
    platform.clock.advance(1);
    await platform.deliver();
    expect(receiver.received, `after ${delay} ms`).toHaveLength(index + 2);
  }
  platform.clock.advance(1_800_000);
  await platform.deliver();
  expect(receiver.received).toHaveLength(6);

  // The same event each time, under a fresh signature.
  expect(new Set(receiver.received.map((each) => each.json.event_id))).toEqual(new Set([eventId]));
  expect(new Set(receiver.received.map((each) => each.body)).size).toBe(1);
  expect(new Set(receiver.received.map((each) => each.headers["x-webhook-signature"])).size).toBe(6);
  const last = receiver.received[5];
  const header = last?.headers["x-webhook-signature"] ?? "";
  const sentAt = Number(/^t=(\d+)/.exec(header)?.[1]) * 1000;
  expect(signatureFault({ secret, header, body: last?.body ?? "" }, sentAt)).toBeNull();
  expect(await detail(caller, id)).toMatchObject({
    consecutive_failures: 1,
    last_delivery: { event: "order.created", event_id: eventId, status_code: 500 },
  });
  const [delivery] = await platform.deliveries({ failed: true });
  expect(delivery).toMatchObject({ status: "exhausted", event_id: eventId, next_attempt_at: null });
  expect(delivery?.attempts).toHaveLength(6);
  expect(delivery?.attempts[0]).toMatchObject({ status_code: 500, response_body: "no", error: null });
});

test("a receiver that recovers gets the event, and its count of failures is reset", async () => {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller();
  const receiver = await startReceiver(503);
  const { id } = await platform.endpoint(caller, receiver.url);
  await platform.trigger(caller);
  await exhaust(platform);
  expect((await detail(caller, id)).consecutive_failures).toBe(1);
  await platform.trigger(caller);
  await platform.deliver();
  receiver.answers(204);
  platform.clock.advance(1_000);
  await platform.deliver();
  expect(await detail(caller, id)).toMatchObject({ consecutive_failures: 0, last_delivery: { status_code: 204 } });
  expect((await platform.deliveries()).map((each) => each.status)).toEqual(["delivered", "exhausted"]);
});

test("a redirect is a failed attempt and is not followed", async () => {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller();
  const elsewhere = await startReceiver();
  const receiver = await startReceiver((_, response) => response.writeHead(302, { location: elsewhere.url }).end());
  await platform.endpoint(caller, receiver.url);
  await platform.trigger(caller);
  await platform.deliver();
  expect(elsewhere.received).toHaveLength(0);
  const [delivery] = await platform.deliveries();
  expect(delivery).toMatchObject({ status: "pending", attempts: [{ status_code: 302 }] });
});

test("a receiver that hangs is aborted at the time limit", async () => {
  const platform = await startWebhookPlatform({ limitMs: 120 });
  const caller = await platform.caller();
  const receiver = await startReceiver(() => undefined);
  const { id } = await platform.endpoint(caller, receiver.url);
  await platform.trigger(caller);
  await platform.deliver();
  const [delivery] = await platform.deliveries();
  expect(delivery?.attempts).toEqual([
    expect.objectContaining({ status_code: null, response_body: null, error: "no answer within 0.12 s" }),
  ]);
  expect(delivery?.attempts[0]?.latency_ms).toBeGreaterThanOrEqual(100);
  expect((await detail(caller, id)).last_delivery.status_code).toBeNull();
});

test("a 200 with an endless body counts, and only the beginning of the body is stored", async () => {
  const platform = await startWebhookPlatform({ limitMs: 2_000 });
  const caller = await platform.caller();
  const receiver = await startReceiver((_, response) => {
    response.writeHead(200);
    const more = () => {
      while (!response.destroyed && response.write("x".repeat(16_384)));
    };
    response.on("drain", more);
    more();
  });
  await platform.endpoint(caller, receiver.url);
  await platform.trigger(caller);
  await platform.deliver();
  const [delivery] = await platform.deliveries();
  expect(delivery?.status).toBe("delivered");
  expect(delivery?.attempts[0]?.response_body).toBe("x".repeat(2_048));
});

test("connections are kept alive from one delivery to the next", async () => {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller();
  const sockets = new Set<unknown>();
  const receiver = await startReceiver((_, response) => {
    sockets.add(response.socket);
    response.end("ok");
  });
  await platform.endpoint(caller, receiver.url);
  for (let round = 0; round < 5; round++) {
    await platform.trigger(caller);
    await platform.deliver();
  }
  expect(receiver.received).toHaveLength(5);
  expect(sockets.size).toBe(1);
});

test("410 Gone disables the endpoint; waiting deliveries are held, and sent by a replay", async () => {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller();
  const receiver = await startReceiver(410);
  const { id } = await platform.endpoint(caller, receiver.url);
  const first = await platform.trigger(caller);
  await platform.deliver();
  expect(await detail(caller, id)).toMatchObject({ status: "disabled", last_delivery: { status_code: 410 } });
  const second = await platform.trigger(caller);
  await exhaust(platform);
  expect(receiver.received).toHaveLength(1);
  expect((await platform.deliveries({ failed: true })).map((each) => [each.event_id, each.status])).toEqual([
    [second, "held"],
    [first, "held"],
  ]);

  const replay = { endpointId: id, since: platform.clock.now() - 3_600_000, after: null, actor: "test" };
  await expect(platform.store.write(replayStep, replay)).rejects.toThrow(/disabled/);
  receiver.answers(200);
  await platform.store.write(enableWebhook, { id, actor: "test" });
  await platform.deliver();
  expect(receiver.received).toHaveLength(1); // enabling sends nothing
  expect(await platform.store.write(replayStep, replay)).toEqual({ count: 2, next: null });
  await platform.deliver();
  const replayed = receiver.received.slice(1).map((each) => each.json.event_id);
  expect(replayed.sort()).toEqual([first, second]);
  expect(await platform.deliveries({ failed: true })).toEqual([]);
});

test("a replay starts at a given time: older deliveries stay held", async () => {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller();
  const receiver = await startReceiver();
  const { id } = await platform.endpoint(caller, receiver.url);
  await platform.store.write(disableWebhook, { id, actor: "test" });
  const early = await platform.trigger(caller);
  platform.clock.advance(60_000);
  const since = platform.clock.now();
  const late = await platform.trigger(caller);
  await platform.store.write(enableWebhook, { id, actor: "test" });
  await platform.store.write(replayStep, { endpointId: id, since, after: null, actor: "test" });
  await platform.deliver();
  expect(receiver.received.map((each) => each.json.event_id)).toEqual([late]);
  expect((await platform.deliveries({ failed: true })).map((each) => each.event_id)).toEqual([early]);
});

test("20 deliveries exhausted in a row fail the endpoint; the operator's enable resets the count", async () => {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller();
  const receiver = await startReceiver(500);
  const { id } = await platform.endpoint(caller, receiver.url);
  for (let count = 0; count < 19; count++) await platform.trigger(caller);
  await exhaust(platform);
  expect(await detail(caller, id)).toMatchObject({ status: "active", consecutive_failures: 19 });
  await platform.trigger(caller);
  await exhaust(platform);
  expect(await detail(caller, id)).toMatchObject({ status: "failed", consecutive_failures: 20 });
  expect(receiver.received).toHaveLength(120);
  await platform.trigger(caller);
  await platform.deliver();
  expect(receiver.received).toHaveLength(120);
  await platform.store.write(enableWebhook, { id, actor: "test" });
  expect(await detail(caller, id)).toMatchObject({ status: "active", consecutive_failures: 0 });
});

test("during a rotation both secrets sign, each in its own header; then the new one alone", async () => {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller();
  const receiver = await startReceiver();
  const { id, secret: before } = await platform.endpoint(caller, receiver.url);
  const rotated = await platform.store.write(rotateWebhookSecret, { id, overlapMs: 86_400_000, actor: "test" });
  await platform.trigger(caller);
  await platform.deliver();
  const [during] = receiver.received as [Received];
  const holds = ({ headers, body }: Received, name: string, secret: string) =>
    signatureFault({ secret, header: headers[name] ?? "", body }, platform.clock.now()) === null;
  expect(holds(during, "x-webhook-signature", before)).toBe(true);
  expect(holds(during, "x-webhook-signature-next", rotated.secret)).toBe(true);
  expect(holds(during, "x-webhook-signature", rotated.secret)).toBe(false);
  await expect(platform.store.write(rotateWebhookSecret, { id, overlapMs: 1_000, actor: "test" })).rejects.toThrow(
    /overlap/,
  );

  platform.clock.advance(86_400_000);
  await platform.trigger(caller);
  await platform.deliver();
  const [, after] = receiver.received as [Received, Received];
  expect(holds(after, "x-webhook-signature", rotated.secret)).toBe(true);
  expect(after.headers).not.toHaveProperty("x-webhook-signature-next");

  // A second rotation starts from the secret that took over; one without overlap replaces at once.
  const third = await platform.store.write(rotateWebhookSecret, { id, overlapMs: 1_000, actor: "test" });
  await platform.trigger(caller);
  await platform.deliver();
  expect(holds(receiver.received[2] as Received, "x-webhook-signature", rotated.secret)).toBe(true);
  expect(holds(receiver.received[2] as Received, "x-webhook-signature-next", third.secret)).toBe(true);
  const fourth = await platform.store.write(rotateWebhookSecret, { id, overlapMs: 0, actor: "test" });
  await platform.trigger(caller);
  await platform.deliver();
  expect(holds(receiver.received[3] as Received, "x-webhook-signature", fourth.secret)).toBe(true);
});
