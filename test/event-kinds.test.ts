import { describe, expect, test } from "vitest";
import { hasChanges } from "../src/core/catalog/announce.ts";
import { importProducts, updateProduct } from "../src/core/catalog/import.ts";
import type { Read } from "../src/core/store/store.ts";
import { failItem } from "../src/core/supplier-requests/operator.ts";
import { announceProducts } from "../src/daemon/workers/notices.ts";
import { addProducts, product, suppliedProducts } from "./support/catalog.ts";
import { type Caller, call } from "./support/platform.ts";
import { startReceiver } from "./support/receiver.ts";
import { dataAt, kindsAt, liveReceiver, startWebhookPlatform, written } from "./support/webhooks.ts";

const actor = "operator";
const { signal } = new AbortController();

/** The kinds of the contract: what a client written from it alone may ask for. */
const contractKinds = [
  ...["order.created", "order.fulfilled", "order.cancelled", "esims.ready", "esim.activated", "esim.expired"],
  ...["payment.completed", "payment.failed"],
  ...["activation.submitted", "activation.confirmed", "activation.activated", "activation.failed"],
] as const;

test("an order that its supplier refuses sends order.failed to those who asked for it, or for all", async () => {
  const platform = await startWebhookPlatform();
  const { store, clock } = platform;
  const products = await addProducts(store, suppliedProducts);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 1_000);
  const named = await liveReceiver(platform, caller, ["order.failed"]);
  const all = await liveReceiver(platform, caller, ["*"]);
  const older = await liveReceiver(platform, caller, contractKinds);

  const traveler = { customer_email: "mia@example.com", customer_name: "Mia Chen", activation_date: "2026-03-02" };
  const body = {
    line_items: [{ product_id: products.MAIL, quantity: 1 }],
    activation_requests: [{ product_id: products.MAIL, ...traveler }],
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

describe("product.updated", () => {
  test("arrives for price, status and allowance, where an endpoint asks for it, and has no row elsewhere", async () => {
    const platform = await startWebhookPlatform();
    const { store } = platform;
    const { EU5: id } = await addProducts(store, [{ sku: "EU5" }, { sku: "EU9" }]);
    const asks = await platform.caller({ slug: "asks" });
    const live = await platform.credential("asks", { live: true });
    const silent = await platform.caller({ slug: "silent" });
    const receiver = await startReceiver();
    await platform.endpoint(asks, receiver.url, ["product.updated"]);
    const everything = await liveReceiver(platform, live, ["*"]);
    await platform.endpoint(silent, receiver.url, [...contractKinds]);

    await store.write(updateProduct, { sku: "EU5", price_cents: 990, actor });
    await store.write(updateProduct, { sku: "EU5", status: "out_of_stock", actor });
    await store.write(updateProduct, { sku: "EU5", status: "out_of_stock", actor });
    const changed = product({ sku: "EU5", data_amount_mb: 10_240, validity_days: 60, price_cents: 990 });
    const products = [{ ...changed, description: "More data" }, product({ sku: "EU9", name: "Another name" })];
    await store.write(importProducts, { products, actor });
    await announceProducts({ store }, signal);
    await platform.deliver();
    const data = { id, sku: "EU5", price_cents: 990, currency: "AUD" };
    const expected = [
      { ...data, changed: ["price_cents"], status: "active" },
      { ...data, changed: ["status"], status: "out_of_stock" },
      { ...data, changed: ["status", "data_amount_mb", "validity_days"], status: "active" },
    ];
    // Deliveries to one endpoint may overtake each other.
    const got = dataAt(receiver, "product.updated");
    expect(got).toEqual(expect.arrayContaining(expected));
    expect(got).toHaveLength(3);
    expect(dataAt(everything, "product.updated")).toHaveLength(3);
    const rows = await written(platform, "product.updated");
    const ofAsks = rows.filter((row) => row.partner_id === asks.partnerId && row.environment === "sandbox");
    expect(ofAsks.map((row) => row.data)).toEqual(expected);
    expect(rows).toHaveLength(6);
  });

  test("is in the feed of every partner and environment that reads it, from the first read on", async () => {
    const platform = await startWebhookPlatform();
    const { store } = platform;
    const skus = Array.from({ length: 60 }, (_, at) => `P-${at}`);
    const reprice = async (price_cents: number) => {
      await store.write(importProducts, { products: skus.map((sku) => product({ sku, price_cents })), actor });
      await announceProducts({ store }, signal);
    };
    await reprice(100);
    const both = await platform.caller({ slug: "both" });
    const reader = await platform.caller({ slug: "reader" });
    await platform.caller({ slug: "silent" });
    const feed = async (caller: Caller, after: string) => {
      const found = { prices: [] as string[], next: after };
      for (let more = true; more; ) {
        const query = new URLSearchParams({ limit: "100", after: found.next });
        const { body } = await caller.get(`/api/v1/events?${query}`);
        for (const { data } of body.data) found.prices.push(`${data.sku} ${data.price_cents}`);
        found.next = body.pagination.next_cursor;
        more = body.pagination.has_more;
      }
      return found;
    };
    await platform.endpoint(both, "http://hooks.example.com/esim", ["product.updated"]);
    await reprice(110);
    const start = (await feed(reader, "now")).next;
    await reprice(120);
    await reprice(130);
    const all = [120, 130].flatMap((price) => skus.map((sku) => `${sku} ${price}`));
    expect((await feed(reader, start)).prices.sort()).toEqual(all.sort());
    const { body } = await reader.get("/api/v1/events?limit=100");
    const ofOne = body.data.filter(({ data }: { data: { sku: string } }) => data.sku === "P-7");
    expect(ofOne.map(({ data }: { data: { price_cents: number } }) => data.price_cents)).toEqual([120, 130]);
    // An endpoint is enough; with neither there is no row.
    const rows = await written(platform, "product.updated");
    const count = (caller: Caller) => rows.filter(({ partner_id }) => partner_id === caller.partnerId).length;
    expect([count(both), count(reader), rows.length]).toEqual([180, 120, 300]);
    const deliveries = await store.read((q: Read) => q.db.select().from(q.t.deliveries), null);
    expect(deliveries.map(({ status }) => status)).toEqual(Array(180).fill("pending"));
  });

  test("an import of many products is announced in steps, by two nodes at once, each event once", async () => {
    const platform = await startWebhookPlatform();
    const { store } = platform;
    const skus = Array.from({ length: 60 }, (_, at) => `P-${at}`);
    const priced = (price_cents: number) => skus.map((sku) => product({ sku, price_cents }));
    await store.write(importProducts, { products: priced(100), actor });
    for (const slug of ["a", "b", "c"]) {
      const partner = await platform.caller({ slug });
      await platform.endpoint(partner, "http://hooks.example.com/esim", slug === "c" ? ["order.created"] : ["*"]);
    }
    await store.write(importProducts, { products: priced(110), actor });
    await store.write(importProducts, { products: priced(120), actor });
    expect(await written(platform, "product.updated")).toEqual([]);
    await Promise.all([announceProducts({ store }, signal), announceProducts({ store }, signal)]);
    const rows = await written(platform, "product.updated");
    const said = rows.map(({ partner_id, data }) => `${partner_id} ${data.sku} ${data.price_cents}`);
    expect(new Set(said).size).toBe(said.length);
    expect(said).toHaveLength(2 * 2 * 60);
    const first = rows.filter(({ data }) => data.sku === "P-7");
    expect(first.map(({ data }) => data.price_cents).sort()).toEqual([110, 110, 120, 120]);
    expect(await store.read(hasChanges, null)).toBe(false);
  });
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
