import { expect, test } from "vitest";
import { disableWebhook } from "../src/core/webhooks/disable.ts";
import { claimDeliveries, DELIVERY_LEASE_MS } from "../src/core/webhooks/due.ts";
import { enableWebhook } from "../src/core/webhooks/enable.ts";
import { applyOutcomes } from "../src/core/webhooks/outcome.ts";
import { signatureFault } from "../src/core/webhooks/signature.ts";
import { addProducts } from "./support/catalog.ts";
import { type Received, startReceiver } from "./support/receiver.ts";
import { startWebhookPlatform } from "./support/webhooks.ts";

test("an order with more eSIMs than are held in memory arrives whole, with its length and signature", async () => {
  const platform = await startWebhookPlatform();
  const products = await addProducts(platform.store, [{ sku: "EU5", price_cents: 1 }]);
  const caller = await platform.caller();
  const receiver = await startReceiver();
  const { secret } = await platform.endpoint(caller, receiver.url, ["order.fulfilled"]);
  const line_items = [{ product_id: products.EU5, quantity: 1_203 }];
  const { body: order } = await caller.send("POST", "/api/v1/orders", { line_items }, { "idempotency-key": "big" });
  await platform.fulfil();
  await platform.deliver();

  const [{ body, headers, json }] = receiver.received as [Received];
  const { body: delivered } = await caller.get(`/api/v1/orders/${order.id}/esims`);
  expect(json.data.esims).toEqual(
    delivered.esims.map(({ iccid, activation_code, qr_code_url }: Record<string, string>) => ({
      iccid,
      activation_code,
      qr_code_url,
    })),
  );
  expect(json.data.esims).toHaveLength(1_203);
  expect(headers["content-length"]).toBe(String(Buffer.byteLength(body)));
  const header = headers["x-webhook-signature"] ?? "";
  expect(signatureFault({ secret, header, body }, platform.clock.now())).toBeNull();
});

test("what a dead daemon had leased is delivered once the lease runs out", async () => {
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

  // Was it not dead but slow, its outcome comes too late to change anything.
  if (lost === undefined) throw new Error("nothing was claimed");
  const { event, lease, attempts } = lost;
  const failed = { statusCode: null, error: "late", body: null, latencyMs: 1, at: platform.clock.now() };
  const about = { id: lease.id, endpointId: id, event: event.kind, eventId: event.id, leaseNo: lease.no, attempts };
  await platform.store.write(applyOutcomes, [{ ...about, ...failed }]);
  const [delivery] = await platform.deliveries();
  expect(delivery).toMatchObject({ status: "delivered", attempts: [{ status_code: 200 }, { error: "late" }] });
});

test("a 2xx that comes after the endpoint was disabled counts; any other answer leaves the event held", async () => {
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
