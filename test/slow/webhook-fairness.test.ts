import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { PartnerId } from "../../src/core/kernel/brand.ts";
import { systemClock } from "../../src/core/kernel/clock.ts";
import { createPartner } from "../../src/core/partners/create.ts";
import { updateRow } from "../../src/core/store/rows.ts";
import { writeSettings } from "../../src/core/store/settings.ts";
import type { Store } from "../../src/core/store/store.ts";
import { createWebhook } from "../../src/core/webhooks/create.ts";
import { triggerSample } from "../../src/core/webhooks/trigger.ts";
import { createWebhookSender } from "../../src/daemon/gateways/webhook-sender.ts";
import { startDeliveries } from "../../src/daemon/workers/deliveries.ts";
import { createFulfilment } from "../../src/daemon/workers/fulfilment.ts";
import { startPool } from "../../src/daemon/workers/pool.ts";
import { addProducts, addStock } from "../support/catalog.ts";
import { freePort } from "../support/free-port.ts";
import type { Caller } from "../support/platform.ts";
import { type Answering, type Receiver, startReceiver } from "../support/receiver.ts";
import { openTestStore } from "../support/store.ts";
import { placeOrder } from "../support/supplies.ts";
import { startWebhookPlatform, type WebhookPlatform } from "../support/webhooks.ts";

const WAITING = 10_000;
const MEASURED = 150;

async function partnerWith(store: Store, slug: string, url: string): Promise<PartnerId> {
  const { id } = await store.write(createPartner, { slug, name: slug, actor: "test" });
  const owner = { partnerId: id, environment: "sandbox" } as const;
  await store.write(createWebhook, { owner, url, events: ["order.created"], actor: "test" });
  return id;
}

function send(store: Store, partnerId: PartnerId) {
  return store.write(triggerSample, { kind: "order.created", partnerId, environment: "sandbox", actor: "test" });
}

const bad: Record<string, Answering | "refuses"> = {
  "never answers": () => undefined,
  "answers 500": 500,
  "answers after a second": (_, response) => void setTimeout(() => response.end(), 1_000),
  "refuses connections": "refuses",
};

test.each(Object.entries(bad))(
  "10,000 waiting for a receiver that %s delay another by less than 100 ms",
  async (_, how) => {
    const { store } = await openTestStore(systemClock);
    await store.write(writeSettings, { allow_private_webhooks: "yes" });
    const slow = await startReceiver(how === "refuses" ? 200 : how);
    // Nothing listens on a free port.
    const slowPartner = await partnerWith(
      store,
      "slow",
      how === "refuses" ? `http://127.0.0.1:${await freePort()}/` : slow.url,
    );
    const quick = await startReceiver();
    const quickPartner = await partnerWith(store, "quick", quick.url);
    await Promise.all(Array.from({ length: WAITING }, () => send(store, slowPartner)));

    const log = { error: (...words: unknown[]) => console.error(...words) };
    const sender = createWebhookSender({ allowPrivate: true });
    const worker = startDeliveries({ store, clock: systemClock, sender, publicUrl: "http://esim.test", log });
    const stopListening = store.onSignal("deliveries", worker.wake);
    onTestFinished(async () => {
      stopListening();
      await worker.stop();
    });
    const sentAt = new Map<string, number>();
    for (let count = 0; count < MEASURED; count++) {
      const at = Date.now();
      sentAt.set((await send(store, quickPartner)).event_id, at);
      await pause(20);
    }
    await quick.got(MEASURED);
    const delays = quick.received.map(({ json, arrivedAt }) => arrivedAt - (sentAt.get(json.event_id) ?? 0));
    const [median = Number.NaN, most] = [delays.sort((a, b) => a - b)[MEASURED / 2], delays.at(-1)];
    console.log(`median ${median} ms, most ${most} ms; the slow one got ${slow.received.length}`);
    expect(median).toBeLessThan(100);
  },
);

const ORDERS = 100;

/** Fulfilment and deliveries that run by themselves, as in a daemon. */
function startWorkers({ store, clock }: WebhookPlatform): void {
  const log = { error: (...words: unknown[]) => console.error(...words) };
  const sender = createWebhookSender({ allowPrivate: true });
  const running = [
    { topic: "fulfilment", worker: startPool(createFulfilment({ store, log }), { log }) },
    { topic: "deliveries", worker: startDeliveries({ store, clock, sender, publicUrl: "http://esim.test", log }) },
  ] as const;
  const silences = running.map(({ topic, worker }) => store.onSignal(topic, worker.wake));
  onTestFinished(async () => {
    for (const silence of silences) silence();
    await Promise.all(running.map(({ worker }) => worker.stop()));
  });
}

/** A partner with an endpoint in production. Such an endpoint is https; the receiver of this test is not. */
async function buyerWith(platform: WebhookPlatform, url: string): Promise<Caller> {
  const buyer = await platform.caller({ live: true });
  await platform.fund(buyer.partnerId, 1_000_000);
  const sandbox = await platform.credential("partner-2", {});
  const { id } = await platform.endpoint(sandbox, url, ["order.fulfilled"]);
  await platform.store.write((tx) => updateRow(tx, "webhookEndpoints", { id }, { environment: "production" }), null);
  return buyer;
}

/** How long each order took, in words: by nearest rank, the first by itself. */
function percentiles(sentAt: Map<string, number>, { received }: Receiver): string {
  const arrivals = new Map(received.map(({ json, arrivedAt }) => [json.data.id, arrivedAt]));
  const delays = [...sentAt].map(([id, at]) => (arrivals.get(id) ?? Number.NaN) - at);
  const sorted = delays.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1];
  return `median ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms, the first ${delays[0]} ms`;
}

test.each([
  ["100 endpoints that answer in 9.5 s and 30 sandbox orders", 0],
  ["the same, and 100 bulk requests of 100 sandbox orders of a third partner waiting", 100],
])("%s: another partner's production order is fulfilled and its event delivered", async (name, bulks) => {
  const platform = await startWebhookPlatform();
  const { EU5 } = await addProducts(platform.store, [{ sku: "EU5", price_cents: 1 }]);
  await addStock(platform.store, "EU5", ORDERS);
  const slow = await startReceiver((_, response) => void setTimeout(() => response.end(), 9_500));
  const quick = await startReceiver();
  const attacker = await platform.caller();
  for (let at = 0; at < 100; at++) {
    await platform.endpoint(attacker, `${slow.url}/${at}`, ["order.created", "order.fulfilled", "esims.ready"]);
  }
  const buyer = await buyerWith(platform, quick.url);
  const many = await platform.caller();
  startWorkers(platform);
  for (let at = 0; at < 30; at++) await placeOrder(attacker, EU5);
  await slow.got(64);
  const customer = { email: "mia@example.com", name: "Mia Chen" };
  const line_items = [{ product_id: EU5, quantity: 1 }];
  let placed = 0;
  const waiting = Array.from({ length: bulks }, async (_, at) => {
    const orders = Array.from({ length: 100 }, (__, each) => ({
      external_order_id: `${at}-${each}`,
      customer,
      line_items,
    }));
    await many.send("POST", "/api/v1/orders/bulk", { orders }).then(() => placed++);
  });
  const sentAt = new Map<string, number>();
  for (let count = 0; count < ORDERS; count++) {
    const at = Date.now();
    sentAt.set(await placeOrder(buyer, EU5), at);
    await pause(20);
  }
  const meanwhile = placed;
  await quick.got(ORDERS);
  console.log(`${name}: ${percentiles(sentAt, quick)}; ${meanwhile} bulk requests answered meanwhile`);
  slow.answers(200);
  await Promise.allSettled(waiting);
});
