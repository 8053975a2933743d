import { expect, test } from "vitest";
import type { Subscription } from "../src/core/events/catalog.ts";
import { updateRow } from "../src/core/store/rows.ts";
import type { Tx } from "../src/core/store/store.ts";
import { failItem } from "../src/core/supplies/operator.ts";
import { addProducts, suppliedProducts } from "./support/catalog.ts";
import { type Caller, call } from "./support/platform.ts";
import { type Receiver, startReceiver } from "./support/receiver.ts";
import { startWebhookPlatform, type WebhookPlatform } from "./support/webhooks.ts";

const actor = "operator";

/** The kinds of the contract: what a client written from it alone may ask for. */
const contractKinds = [
  ...["order.created", "order.fulfilled", "order.cancelled", "esims.ready", "esim.activated", "esim.expired"],
  ...["payment.completed", "payment.failed"],
  ...["activation.submitted", "activation.confirmed", "activation.activated", "activation.failed"],
] as const;

/** A receiver with an endpoint of production, which is registered with https and moved to the receiver. */
async function liveReceiver({ store }: WebhookPlatform, caller: Caller, events: readonly Subscription[]) {
  const receiver = await startReceiver();
  const body = { url: "https://hooks.example.com/esim", events };
  const { body: created } = await caller.send("POST", "/api/v1/webhooks", body);
  const { id } = created.webhook;
  await store.write((tx: Tx) => updateRow(tx, "webhookEndpoints", { id }, { url: receiver.url }), null);
  return receiver;
}

const kindsAt = ({ received }: Receiver) => received.map(({ json }) => json.event);
const dataAt = ({ received }: Receiver, kind: string) =>
  received.filter(({ json }) => json.event === kind).map(({ json }) => json.data);

test("an order that its supplier refuses sends order.failed to those who asked for it, or for all", async () => {
  const platform = await startWebhookPlatform();
  const { store, clock } = platform;
  const products = await addProducts(store, suppliedProducts);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 1_000);
  const named = await liveReceiver(platform, caller, ["order.failed"]);
  const all = await liveReceiver(platform, caller, ["*"]);
  const older = await liveReceiver(platform, caller, contractKinds);

  const traveller = { customer_email: "mia@example.com", customer_name: "Mia Chen", activation_date: "2026-03-02" };
  const body = {
    line_items: [{ product_id: products.MAIL, quantity: 1 }],
    activation_requests: [{ product_id: products.MAIL, ...traveller }],
  };
  const { body: order } = await caller.send("POST", "/api/v1/orders", body, { "idempotency-key": "one" });
  const status = await caller.get(`/api/v1/orders/${order.id}/activation-status`);
  const id = status.body.activations[0].item_id;
  clock.advance(1_000);
  await store.write(failItem, { id, errorType: "gone", errorMessage: "Sold out.", actor });
  await platform.deliver();

  expect(dataAt(named, "order.failed")).toEqual([
    {
      id: order.id,
      order_number: order.order_number,
      external_order_id: null,
      status: "failed",
      failure_reason: "the supplier refused: Sold out.",
      failed_at: "2026-03-02T01:00:01.000Z",
    },
  ]);
  expect(kindsAt(named)).toEqual(["order.failed"]);
  const before = ["activation.failed", "order.created", "payment.completed"];
  expect(kindsAt(all).sort()).toEqual([...before, "order.failed"].sort());
  expect(kindsAt(older).sort()).toEqual(before);
  expect((await caller.get(`/api/v1/orders/${order.id}`)).body.status).toBe("failed");
});

test("endpoints ask by name or for all; what is no kind is refused, and none is assumed", async () => {
  const { caller, url } = await startWebhookPlatform();
  const partner = await caller();
  const create = (events: unknown) => partner.send("POST", "/api/v1/webhooks", { url: "http://x.example.com", events });
  const all = await create(["*", "order.failed", "*"]);
  expect(all.body.webhook.events).toEqual(["*", "order.failed"]);
  expect((await partner.get(`/api/v1/webhooks/${all.body.webhook.id}`)).body.events).toEqual(["*", "order.failed"]);
  for (const events of [undefined, [], ["order.*"], ["**"], "*"]) expect((await create(events)).status).toBe(400);
  const { body: document } = await call(`${url}/openapi.json`);
  expect(document.components.schemas.NewWebhook.properties.events.items.enum).toContain("*");
});
