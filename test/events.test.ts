import { Compile } from "typebox/compile";
import { expect, onTestFinished, test } from "vitest";
import { moveActivation } from "../src/core/activations/operator.ts";
import { updateProduct } from "../src/core/catalog/import.ts";
import { expireDueEsims } from "../src/core/esims/expire.ts";
import { activateEsim } from "../src/core/esims/life.ts";
import { recordUsage } from "../src/core/esims/usage.ts";
import { eventCatalog, eventKinds } from "../src/core/events/catalog.ts";
import type { OrderId, OrderItemId, ProductId } from "../src/core/kernel/brand.ts";
import { luhnDigit } from "../src/core/kernel/check-digits.ts";
import { cancelOrder } from "../src/core/orders/cancel.ts";
import { refundOrder } from "../src/core/orders/refund.ts";
import { updatePartner } from "../src/core/partners/update.ts";
import { completeItem, confirmItem, failItem } from "../src/core/supplier-requests/operator.ts";
import { envelope } from "../src/core/webhooks/envelope.ts";
import { createCarrierGateway } from "../src/daemon/gateways/carriers.ts";
import { createExchanges, prepareExchanges } from "../src/daemon/workers/activations.ts";
import { shareBodies } from "../src/daemon/workers/deliveries.ts";
import { announceEsims, announcePassports, announceProducts } from "../src/daemon/workers/notices.ts";
import { ACTIVATIONS, request, useAdapter } from "./support/activations.ts";
import { addProducts, addStock, suppliedProducts } from "./support/catalog.ts";
import { allEvents } from "./support/events.ts";
import { importRecords, passport } from "./support/passports.ts";
import { type Caller, call } from "./support/platform.ts";
import { settled } from "./support/pool.ts";
import { startReceiver } from "./support/receiver.ts";
import { makeSupplied, plan, setUpProvider, startTopupProvider, work } from "./support/topup-provider.ts";
import { startWebhookPlatform, type WebhookPlatform } from "./support/webhooks.ts";

const actor = "operator";
const DAY_MS = 86_400_000;

/** A schema that also refuses every field it does not name. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  return "properties" in schema ? { ...inner, additionalProperties: false } : inner;
}

/** The check of an envelope against the schema that the served document has for its kind: what is wrong with it. */
async function publishedSchemas({ url }: WebhookPlatform) {
  const { body: document } = await call(`${url}/openapi.json`);
  expect(Object.keys(document.webhooks)).toEqual(eventKinds);
  const validators = new Map(
    eventKinds.map((kind) => {
      const { $ref } = document.webhooks[kind].post.requestBody.content["application/json"].schema;
      const schema = document.components.schemas[$ref.split("/").at(-1)];
      return [kind, Compile(Object(closed(schema)))] as const;
    }),
  );
  return (envelope: { event: (typeof eventKinds)[number] }) => {
    const errors = validators.get(envelope.event)?.Errors(envelope) ?? ["no such kind"];
    return errors.length === 0 ? [] : [envelope, ...errors];
  };
}

async function place(caller: Caller, product_id: ProductId | undefined, requests: object[] = []): Promise<OrderId> {
  const body = { line_items: [{ product_id, quantity: 1 }], activation_requests: requests };
  const headers = { "idempotency-key": crypto.randomUUID() };
  const { status, body: order } = await caller.send("POST", "/api/v1/orders", body, headers);
  if (status !== 201) throw new Error(JSON.stringify(order));
  return order.id;
}

/** Requests of a carrier that staff work by hand: one that is activated, one that fails. */
async function activations({ store, clock, url }: WebhookPlatform, caller: Caller): Promise<void> {
  await useAdapter(store, "manual");
  const gateway = createCarrierGateway({ now: clock.now, publicUrl: url });
  onTestFinished(() => gateway.close());
  const submit = async () =>
    (await caller.send("POST", ACTIVATIONS, request({ activation_date: "2026-03-02" }))).body.id;
  const [done, lost] = [await submit(), await submit()];
  clock.advance(5_000);
  await prepareExchanges(store, new AbortController().signal);
  const log = { error: (...words: unknown[]) => console.error(...words), warn() {}, info() {} };
  await settled(createExchanges({ store, gateway, log }));
  const confirm = { verb: "confirm", confirmationNumber: "P-1" } as const;
  await store.write(moveActivation, { id: done, move: confirm, actor });
  await store.write(moveActivation, { id: done, move: { verb: "complete", mobileNumber: "+61491570157" }, actor });
  const fail = { verb: "fail", errorType: "sim_blocked", errorMessage: "The SIM is blocked." } as const;
  await store.write(moveActivation, { id: lost, move: fail, actor });
}

/** Names of fields that say who a customer is, or how one is reached. */
const ofPeople = /customer|traveler|e?mail|phone|mobile_number|^(first|last|full)_name$|passport_no|birth|address|^eid/;

/** The names of all fields of a schema, of inner objects too. */
function fieldsOf(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const own = "properties" in schema ? Object.keys(Object(schema.properties)) : [];
  return [...own, ...Object.values(schema).flatMap(fieldsOf)];
}

test("every kind whose payload has a field about a customer is marked, so that it is stored sealed", () => {
  const naming = eventKinds.filter((kind) => fieldsOf(eventCatalog[kind].data).some((field) => ofPeople.test(field)));
  expect(eventKinds.filter((kind) => eventCatalog[kind].namesPeople)).toEqual(naming);
  expect(naming).toContain("activation.submitted");
});

test("delivered bodies are valid against the published schemas", async () => {
  const platform = await startWebhookPlatform();
  const products = await addProducts(platform.store, [{ sku: "EU5", price_cents: 100 }]);
  const caller = await platform.caller();
  const receiver = await startReceiver();
  await platform.endpoint(caller, receiver.url, [...eventKinds]);

  await place(caller, products.EU5);
  const { store } = platform;
  const cancelled = await place(caller, products.EU5);
  await store.write(cancelOrder, { id: cancelled, reason: "not wanted", actor });
  await platform.fulfill();
  await activations(platform, caller);
  await platform.deliver();

  const faults = await publishedSchemas(platform);
  const bodies = receiver.received.map(({ json }) => json);
  expect(bodies.flatMap(faults)).toEqual([]);
  expect(new Set(bodies.map(({ event }) => event))).toEqual(
    new Set([
      ...["order.created", "order.fulfilled", "order.cancelled", "esims.ready"],
      ...["activation.submitted", "activation.confirmed", "activation.activated", "activation.failed"],
    ]),
  );
});

/** Two top-ups of an eSIM, one of which its supplier refuses. */
async function topUps(platform: WebhookPlatform, caller: Caller, iccid: string): Promise<void> {
  const provider = await startTopupProvider();
  provider.plans = [plan({ plan: "TOP3", currency: "AUD" })];
  provider.next = ["apply", "refuse"];
  await setUpProvider(platform, provider);
  await makeSupplied(platform, iccid);
  const { body: fitting } = await caller.get(`/api/v1/esims/${iccid}/topup-products`);
  for (let times = 0; times < 2; times++) {
    const asked = { product_id: fitting.data[0].id };
    await caller.send("POST", `/api/v1/esims/${iccid}/topups`, asked, { "idempotency-key": `topup-${times}` });
    await work(platform);
  }
}

/** Orders of production with everything that happens to them and their eSIMs. */
async function production(platform: WebhookPlatform): Promise<void> {
  const { store, clock } = platform;
  const products = await addProducts(store, [{ sku: "EU5", price_cents: 100 }, ...suppliedProducts]);
  const [iccid = ""] = await addStock(store, "EU5", 1);
  const caller = await platform.caller({ live: true, agent: true, slug: "acme" });
  await platform.fund(caller.partnerId, 100_000);
  const thresholds = { lowWallet: { currency: "AUD", cents: 100_000 } };
  await store.write(updatePartner, { slug: "acme", thresholds, actor });
  await platform.endpoint(caller, "https://hooks.example.com/esim", ["product.updated"]);
  await importRecords(caller, [passport({ passport_expiry: "2026-04-01" })]);
  await place(caller, products.EU5);
  const bulk = {
    external_order_id: "shop-1",
    line_items: [{ product_id: products.API, quantity: 1 }],
    customer: { email: "mia@example.com", name: "Mia Chen" },
  };
  await caller.send("POST", "/api/v1/orders/bulk", { orders: [bulk] });
  const orders = (await caller.get("/api/v1/orders")).body.data;
  await store.write(cancelOrder, { id: orders[0].id, reason: "not wanted", actor });
  const part = { line: null, units: null, amount: "0.50" };
  await store.write(refundOrder, { id: orders[1].id, ...part, reason: "goodwill", actor });
  const who = { customer_email: "mia@example.com", customer_name: "Mia Chen", activation_date: "2026-03-02" };
  const traveler = { product_id: products.MAIL, ...who };
  const [served, refused] = [
    await place(caller, products.MAIL, [traveler]),
    await place(caller, products.MAIL, [traveler]),
  ];
  await platform.fulfill();
  const itemOf = async (order: OrderId): Promise<OrderItemId> =>
    (await caller.get(`/api/v1/orders/${order}/activation-status`)).body.activations[0].item_id;
  const digits = "894410999999999001";
  const esim = { iccid: digits + luhnDigit(digits), activationCode: "LPA:1$smdp.example.net$AB-12" };
  await store.write(confirmItem, { id: await itemOf(served), number: "C-1", actor });
  await store.write(completeItem, { id: await itemOf(served), ...esim, actor });
  await store.write(failItem, { id: await itemOf(refused), errorType: "gone", errorMessage: "Sold out.", actor });
  await store.write(activateEsim, { iccid, actor });
  const used = { iccid, used_mb: 4_200, total_mb: null, country: null, network: null, at: null };
  await store.write(recordUsage, { reports: [used], actor });
  await store.write(updateProduct, { sku: "EU5", price_cents: 120, actor });
  await topUps(platform, caller, iccid);
  const { signal } = new AbortController();
  await announceProducts({ store }, signal);
  await announcePassports({ store }, signal);
  await announceEsims({ store }, signal);
  clock.advance(28 * DAY_MS);
  await announceEsims({ store }, signal);
  clock.advance(3 * DAY_MS);
  await store.write(expireDueEsims, null);
}

test("bodies in production are valid too, and their kinds are those that the catalog marks as emitted", async () => {
  const platform = await startWebhookPlatform();
  await production(platform);
  const { store } = platform;
  const events = await allEvents(store);
  const hold = shareBodies(store, "http://esim.test");
  const bodies = await Promise.all(events.map((event) => hold({ ...event, data: JSON.stringify(event.data) }).read()));
  const faults = await publishedSchemas(platform);
  expect(bodies.flatMap((body) => faults(JSON.parse(String(body))))).toEqual([]);
  // What joins nothing is sent as it was kept, without being parsed.
  const plain = events.flatMap((event, at) => (event.expands === null ? [[event, String(bodies[at])] as const] : []));
  for (const [event, body] of plain) expect(body).toBe(JSON.stringify(envelope(event)));
  const emitted = eventKinds.filter((kind) => eventCatalog[kind].emitted);
  expect(new Set(events.map(({ kind }) => kind))).toEqual(new Set(emitted));
  expect(eventKinds.filter((kind) => !emitted.includes(kind))).toEqual(["payment.failed"]);
});

test("a sample of every kind is delivered as published, marked as a test", async () => {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller();
  const receiver = await startReceiver();
  await platform.endpoint(caller, receiver.url, [...eventKinds]);
  for (const kind of eventKinds) await platform.trigger(caller, kind);
  await platform.deliver();
  const faults = await publishedSchemas(platform);
  const bodies = receiver.received.map(({ json }) => json);
  expect(bodies.flatMap(faults)).toEqual([]);
  expect(bodies.map(({ event }) => event).sort()).toEqual(eventKinds.toSorted());
  for (const { data } of bodies) expect(data.test).toBe(true);
});

test("the document describes a delivery's headers, its example and its responses", async () => {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller();
  const receiver = await startReceiver();
  await platform.endpoint(caller, receiver.url, ["order.created"]);
  await platform.trigger(caller, "order.created");
  await platform.deliver();
  const { body: document } = await call(`${platform.url}/openapi.json`);
  const faults = await publishedSchemas(platform);
  const sent = Object.keys(receiver.received[0]?.headers ?? {});
  for (const kind of eventKinds) {
    const { post } = document.webhooks[kind];
    const { example } = post.requestBody.content["application/json"];
    expect(faults(example)).toEqual([]);
    expect(faults({ ...example, data: {} })).not.toEqual([]);
    expect(faults({ ...example, data: { ...example.data, more: 1 } })).not.toEqual([]);
    expect(Object.keys(post.responses)).toEqual(["410", "2XX", "default"]);
    const headers = post.parameters.map(({ $ref }: { $ref: string }) => {
      const parameter = document.components.parameters[$ref.split("/").at(-1) ?? ""];
      return { name: parameter.name.toLowerCase(), required: parameter.required === true };
    });
    expect(headers).toHaveLength(5);
    for (const { name, required } of headers) expect(sent.includes(name), name).toBe(required);
  }
});
