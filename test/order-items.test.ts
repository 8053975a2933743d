import { expect, test } from "vitest";
import { stockLevels } from "../src/core/esims/stock.ts";
import type { OrderItemId } from "../src/core/kernel/brand.ts";
import { luhnDigit } from "../src/core/kernel/check-digits.ts";
import { rejectOrder, retryOrder } from "../src/core/orders/act.ts";
import { cancelOrder } from "../src/core/orders/cancel.ts";
import { fulfillStep } from "../src/core/orders/fulfill.ts";
import { writeSettings } from "../src/core/platform/settings.ts";
import { applySupplyOutcome } from "../src/core/supplier-requests/apply-outcome.ts";
import { claimItems, reviewOverdueItems } from "../src/core/supplier-requests/due.ts";
import { completeItem, confirmItem, failItem, retryItem } from "../src/core/supplier-requests/operator.ts";
import { checkWallets } from "../src/core/wallet/check.ts";
import { addProducts, addStock, suppliedProducts } from "./support/catalog.ts";
import { openedEvents } from "./support/events.ts";
import { type Caller, type Platform, startPlatform } from "./support/platform.ts";

const EID = "89049032000000000000000000000017";

async function setUp() {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [
    ...suppliedProducts,
    { sku: "SIM", price_cents: 700, product_type: "physical_sim", delivery_method: "shipping" },
    { sku: "EU5", price_cents: 100 },
  ]);
  const caller = await platform.caller({ live: true, slug: "acme" });
  await platform.fund(caller.partnerId, 10_000);
  return { platform, products, caller };
}

function traveler(product_id: string | undefined, more: object = {}) {
  const who = { customer_email: "mia@example.com", customer_name: "Mia Chen" };
  return { product_id, ...who, activation_date: "2026-03-05", timezone: "Australia/Sydney", ...more };
}

function place(caller: Caller, lines: [string | undefined, number][], activation_requests: object[] = []) {
  const line_items = lines.map(([product_id, quantity]) => ({ product_id, quantity }));
  const headers = { "idempotency-key": crypto.randomUUID() };
  return caller.send("POST", "/api/v1/orders", { line_items, activation_requests }, headers);
}

async function items(caller: Caller, orderId: string) {
  return (await caller.get(`/api/v1/orders/${orderId}/activation-status`)).body;
}

async function itemIds(platform: Platform, orderId: string): Promise<OrderItemId[]> {
  const rows = await platform.store.read(
    async (q) => q.db.select().from(q.t.orderItems).orderBy(q.t.orderItems.position),
    null,
  );
  return rows.filter((row) => row.order_id === orderId).map((row) => row.id);
}

async function balance(caller: Caller): Promise<number> {
  return (await caller.get("/api/v1/balance")).body.balances[0].balance_cents;
}

async function ledgerAgrees(platform: Platform): Promise<void> {
  expect(await platform.store.read(checkWallets, { minimum: () => null })).toMatchObject({ ok: true, unbalanced: [] });
}

type Lines = [string | undefined, number][];

/** Orders with invalid activation requests, and the message for each field. */
function unfitting(
  products: Record<string, string>,
): [name: string, lines: Lines, requests: object[], field: string, words: RegExp][] {
  return [
    ["none", [[products.MAIL, 2]], [], "activation_requests", /MAIL: 2 missing/],
    ["one too few", [[products.MAIL, 2]], [traveler(products.MAIL)], "activation_requests", /1 missing/],
    ["one too many", [[products.EU5, 1]], [traveler(products.EU5)], "activation_requests.0.product_id", /surplus/],
    [
      "other product",
      [[products.EU5, 1]],
      [traveler(crypto.randomUUID())],
      "activation_requests.0.product_id",
      /surplus/,
    ],
    ["no EID", [[products.PUSH, 1]], [traveler(products.PUSH)], "activation_requests.0.eid_number", /required/],
    [
      "short EID",
      [[products.PUSH, 1]],
      [traveler(products.PUSH, { eid_number: "1" })],
      "activation_requests.0.eid_number",
      /32 digits/,
    ],
    [
      "no zone",
      [[products.MAIL, 1]],
      [traveler(products.MAIL, { timezone: "Mars/One" })],
      "activation_requests.0.timezone",
      /time zone/,
    ],
    [
      "no date",
      [[products.MAIL, 1]],
      [traveler(products.MAIL, { activation_date: "tomorrow" })],
      "activation_requests.0.activation_date",
      /YYYY-MM-DD/,
    ],
    [
      "no e-mail",
      [[products.MAIL, 1]],
      [traveler(products.MAIL, { customer_email: "x" })],
      "activation_requests.0.customer_email",
      /e-mail/,
    ],
    [
      "long name",
      [[products.MAIL, 1]],
      [traveler(products.MAIL, { customer_name: "x".repeat(101) })],
      "activation_requests.0.customer_name",
      /100/,
    ],
  ];
}

test("there is exactly one activation request per unit; what is missing, surplus or wrong is named", async () => {
  const { products, caller } = await setUp();
  for (const [name, lines, requests, field, words] of unfitting(products)) {
    const { status, body } = await place(caller, lines, requests);
    expect([status, body.type], name).toEqual([400, "http://esim.test/docs/errors/validation"]);
    expect(body.errors[field]?.join(), name).toMatch(words);
  }
  // It is 12:00 on 2 March in Sydney, and still 1 March in Honolulu.
  const past = await place(caller, [[products.MAIL, 1]], [traveler(products.MAIL, { activation_date: "2026-03-01" })]);
  expect([past.status, past.body.type]).toEqual([400, "http://esim.test/docs/errors/invalid_activation_date"]);
  const honolulu = { activation_date: "2026-03-01", timezone: "Pacific/Honolulu" };
  expect((await place(caller, [[products.MAIL, 1]], [traveler(products.MAIL, honolulu)])).status).toBe(201);
});

test("a date that does not exist is invalid_activation_date, in single and bulk orders", async () => {
  const { products, caller } = await setUp();
  const customer = { email: "mia@example.com", name: "Mia Chen" };
  const line_items = [{ product_id: products.MAIL, quantity: 1 }];
  for (const activation_date of ["2027-02-30", "2027-13-01", "2026-02-29", "2027-00-10"]) {
    const requests = [traveler(products.MAIL, { activation_date })];
    const single = await place(caller, [[products.MAIL, 1]], requests);
    expect([single.status, single.body.type], activation_date).toEqual([
      400,
      "http://esim.test/docs/errors/invalid_activation_date",
    ]);
    expect(single.body.errors).toEqual({
      "activation_requests.0.activation_date": ["is not a day that the calendar has"],
    });
    const orders = [{ external_order_id: activation_date, customer, line_items, activation_requests: requests }];
    const { body } = await caller.send("POST", "/api/v1/orders/bulk", { orders });
    expect(body.results[0]).toMatchObject({ status: "failed", error: { code: "invalid_activation_date" } });
  }
});

test("an EID with a wrong check digit is accepted unless EIDs are strict", async () => {
  const { platform, products, caller } = await setUp();
  const push = (eid_number: string) => place(caller, [[products.PUSH, 1]], [traveler(products.PUSH, { eid_number })]);
  const wrong = EID;
  const right = "89049032000000000000000000000066";
  expect((await push(wrong)).status).toBe(201);
  await platform.store.write(writeSettings, { strict_eid: "yes" });
  const refused = await push(wrong);
  expect([refused.status, refused.body.errors]).toEqual([
    400,
    { "activation_requests.0.eid_number": ["has a wrong check digit"] },
  ]);
  expect((await push(right)).status).toBe(201);
  const customer = { email: "mia@example.com", name: "Mia Chen" };
  const line_items = [{ product_id: products.PUSH, quantity: 1 }];
  const orders = [wrong, right].map((eid_number, at) => {
    const activation_requests = [traveler(products.PUSH, { eid_number })];
    return { external_order_id: `x-${at}`, customer, line_items, activation_requests };
  });
  const bulk = await caller.send("POST", "/api/v1/orders/bulk", { orders });
  expect(bulk.body.results).toMatchObject([{ status: "failed", error: { code: "validation" } }, { status: "success" }]);
});

test("an item is due when its day begins in the traveler's timezone, and its eSIM is delivered", async () => {
  const { platform, products, caller } = await setUp();
  const { body } = await place(caller, [[products.MAIL, 1]], [traveler(products.MAIL)]);
  await platform.fulfill();
  expect(await items(caller, body.id)).toMatchObject({
    order_number: body.order_number,
    has_scheduled_activations: true,
    total_activations: 1,
    pending_count: 1,
    activations: [{ status: "pending", customer_name: "Mia Chen", timezone: "Australia/Sydney", eid_number: null }],
  });
  const claim = () => platform.store.write(claimItems, { supplier: "kestrel", room: 10 });
  platform.clock.set("2026-03-04T12:59:59.999Z");
  expect(await claim()).toEqual([]);
  platform.clock.set("2026-03-04T13:00:00.000Z");
  const [due] = await claim();
  expect(due).toMatchObject({
    order_number: body.order_number,
    product_sku: "MAIL",
    delivery_method: "supplier_email",
  });
  expect(await claim()).toEqual([]);
  const id = due?.item.id ?? "";
  // Days went by: the token of the order has expired.
  const later = await platform.credential("acme", { live: true });
  await platform.store.write(applySupplyOutcome, {
    id: id as OrderItemId,
    outcome: { kind: "accepted" },
    attempt: { source: "request" },
  });
  expect(await items(later, body.id)).toMatchObject({
    submitted_count: 1,
    activations: [{ submitted_at: "2026-03-04T13:00:00.000Z" }],
  });
  await platform.store.write(confirmItem, { id, number: "C-1", actor: "operator" });
  const digits = "894410999999999001";
  const iccid = digits + luhnDigit(digits);
  const activationCode = "LPA:1$smdp.example.net$AB-12";
  await platform.store.write(completeItem, { id, iccid, activationCode, actor: "operator" });
  expect(await items(later, body.id)).toMatchObject({ activated_count: 1, activations: [{ status: "activated" }] });
  const { body: esims } = await later.get(`/api/v1/orders/${body.id}/esims`);
  expect(esims).toMatchObject({ count: 1, esims: [{ iccid, activation_code: activationCode }] });
  await expect(platform.store.write(retryItem, { id, actor: "operator" })).rejects.toMatchObject({ slug: "conflict" });
  const kinds = await platform.store.read(openedEvents, null);
  const about = kinds.filter((event) => event.subject_id === id);
  for (const { data } of about) {
    const { order_id, order_number, external_order_id } = data;
    expect([order_id, order_number, external_order_id]).toEqual([body.id, body.order_number, null]);
  }
  expect(about).toMatchObject([
    { kind: "activation.submitted", data: { id, carrier: null, customer_name: "Mia Chen", status: "processing" } },
    { kind: "activation.confirmed", data: { confirmation_number: "C-1", processing_status: "confirmed" } },
    { kind: "activation.activated", data: { status: "completed", iccid, activated_at: "2026-03-04T13:00:00.000Z" } },
  ]);
});

test("supplier faults are retried after 1, 2, 4, 8 and 16 minutes, then the order waits for review", async () => {
  const { platform, products, caller } = await setUp();
  const { body } = await place(caller, [[products.API, 3]]);
  await platform.fulfill();
  for (const minutes of [0, 1, 2, 4, 8, 16]) {
    platform.clock.advance(minutes * 60_000 - 1);
    if (minutes > 0) expect(await platform.store.write(claimItems, { supplier: "northwind", room: 9 })).toEqual([]);
    platform.clock.advance(1);
    const [due] = await platform.store.write(claimItems, { supplier: "northwind", room: 9 });
    expect(due?.item.quantity, String(minutes)).toBe(3);
    await platform.store.write(applySupplyOutcome, {
      id: due?.item.id ?? ("" as OrderItemId),
      outcome: { kind: "temporary", reason: "connection refused" },
      attempt: { source: "request" },
    });
  }
  expect((await caller.get(`/api/v1/orders/${body.id}`)).body.status).toBe("waiting_review");
  platform.clock.advance(86_400_000);
  expect(await platform.store.write(claimItems, { supplier: "northwind", room: 9 })).toEqual([]);
  await platform.store.write(retryOrder, { id: body.id, actor: "operator" });
  const [again] = await platform.store.write(claimItems, { supplier: "northwind", room: 9 });
  expect(again?.item.attempts).toBe(0);
});

test("no final answer within 48 hours puts the order into review", async () => {
  const { platform, products, caller } = await setUp();
  const { body } = await place(caller, [[products.API, 1]]);
  const [id] = await itemIds(platform, body.id);
  await platform.store.write(applySupplyOutcome, {
    id: id as OrderItemId,
    outcome: { kind: "accepted" },
    attempt: { source: "request" },
  });
  platform.clock.advance(48 * 3_600_000 - 1);
  expect(await platform.store.write(reviewOverdueItems, { limit: 9 })).toBe(0);
  platform.clock.advance(1);
  expect(await platform.store.write(reviewOverdueItems, { limit: 9 })).toBe(1);
  expect(await platform.store.write(reviewOverdueItems, { limit: 9 })).toBe(0);
  const fresh = await platform.credential("acme", { live: true });
  expect((await fresh.get(`/api/v1/orders/${body.id}`)).body.status).toBe("waiting_review");
});

test("a definite refusal fails and refunds the order, or holds it once something was delivered", async () => {
  const { platform, products, caller } = await setUp();
  const requests = [traveler(products.MAIL), traveler(products.MAIL, { customer_name: "Noa Bar" })];
  const failing = await place(caller, [[products.MAIL, 2]], requests);
  const [first, second] = await itemIds(platform, failing.body.id);
  const refusal = { errorType: "declined", errorMessage: "Plan withdrawn", actor: "operator" };
  await platform.store.write(failItem, { id: first ?? "", ...refusal });
  expect((await caller.get(`/api/v1/orders/${failing.body.id}`)).body.status).toBe("failed");
  expect((await items(caller, failing.body.id)).activations.map((each: { status: string }) => each.status)).toEqual([
    "failed",
    "cancelled",
  ]);
  expect(await balance(caller)).toBe(10_000);
  await expect(platform.store.write(failItem, { id: second ?? "", ...refusal })).rejects.toMatchObject({
    slug: "conflict",
  });

  const partly = await place(caller, [[products.MAIL, 2]], requests);
  const [kept, lost] = await itemIds(platform, partly.body.id);
  await platform.store.write(completeItem, { id: kept ?? "", iccid: null, activationCode: null, actor: "operator" });
  await platform.store.write(failItem, { id: lost ?? "", ...refusal });
  expect((await caller.get(`/api/v1/orders/${partly.body.id}`)).body.status).toBe("waiting_review");
  expect(await balance(caller)).toBe(9_400);
  const rejecting = { id: partly.body.id, reason: "no", actor: "operator" };
  await expect(platform.store.write(rejectOrder, rejecting)).rejects.toMatchObject({ slug: "conflict" });
  await platform.store.write(cancelOrder, rejecting);
  expect((await caller.get(`/api/v1/orders/${partly.body.id}`)).body.status).toBe("fulfilled");
  expect(await balance(caller)).toBe(9_700);
  await ledgerAgrees(platform);
});

test("cancelling refunds exactly what was not delivered and returns unseen eSIMs to the stock", async () => {
  const { platform, products, caller } = await setUp();
  const iccids = await addStock(platform.store, "EU5", 2);
  const mixed = await place(caller, [
    [products.EU5, 2],
    [products.SIM, 1],
  ]);
  await platform.fulfill();
  expect(await balance(caller)).toBe(9_100);
  const cancelling = { id: mixed.body.id, reason: "customer changed her mind", actor: "operator" };
  await platform.store.write(cancelOrder, cancelling);
  const { body } = await caller.get(`/api/v1/orders/${mixed.body.id}`);
  expect(body).toMatchObject({
    status: "fulfilled",
    line_items: [{ fulfillment: { status: "fulfilled" } }, { fulfillment: { status: "cancelled" } }],
  });
  expect(await balance(caller)).toBe(9_800);
  expect((await caller.get(`/api/v1/orders/${mixed.body.id}/esims`)).body.count).toBe(iccids.length);
  await expect(platform.store.write(cancelOrder, cancelling)).rejects.toMatchObject({ slug: "conflict" });

  const whole = await place(caller, [[products.SIM, 2]]);
  await platform.store.write(cancelOrder, { ...cancelling, id: whole.body.id });
  expect((await caller.get(`/api/v1/orders/${whole.body.id}`)).body.status).toBe("cancelled");
  expect(await balance(caller)).toBe(9_800);
  const events = await platform.store.read(async (q) => q.db.select().from(q.t.events), null);
  const cancelled = events.filter((event) => event.subject_id === whole.body.id && event.kind === "order.cancelled");
  expect(cancelled).toMatchObject([
    { data: { status: "cancelled", cancellation_reason: "customer changed her mind" } },
  ]);
  await ledgerAgrees(platform);
});

test("an order cancelled during fulfillment returns all eSIMs, assigned or only reserved", async () => {
  const { platform, products, caller } = await setUp();
  await addStock(platform.store, "EU5", 600);
  await platform.fund(caller.partnerId, 60_000);
  const { body } = await place(caller, [[products.EU5, 600]]);
  expect(await platform.store.write(fulfillStep, body.id)).toBe("more");
  expect((await caller.get(`/api/v1/orders/${body.id}`)).body.line_items[0].fulfillment).toEqual({ status: "pending" });
  const levels = async () => (await platform.store.read(stockLevels, { below: null })).map((level) => level.available);
  expect(await levels()).toEqual([0]);
  await platform.store.write(cancelOrder, { id: body.id, reason: "too many", actor: "operator" });
  expect(await levels()).toEqual([600]);
  expect(await balance(caller)).toBe(70_000);
  const again = await place(caller, [[products.EU5, 600]]);
  await platform.fulfill();
  expect((await caller.get(`/api/v1/orders/${again.body.id}/esims`)).body.count).toBe(600);
  await ledgerAgrees(platform);
});

test("in the sandbox scheduled items are activated at once, with their EID and no event each", async () => {
  const { platform, products } = await setUp();
  const caller = await platform.credential("acme", {});
  const { body } = await place(
    caller,
    [
      [products.PUSH, 1],
      [products.MAIL, 1],
      [products.API, 2],
    ],
    [traveler(products.MAIL), traveler(products.PUSH, { eid_number: EID })],
  );
  await platform.fulfill();
  const read = await caller.get(`/api/v1/orders/${body.id}`);
  expect(read.body.status).toBe("fulfilled");
  expect(read.body.line_items[0].fulfillment).toMatchObject({ eid_number: EID, esims: [{ eid_number: EID }] });
  for (const { fulfillment } of read.body.line_items.slice(1)) expect(fulfillment).not.toHaveProperty("eid_number");
  expect(await items(caller, body.id)).toMatchObject({ total_activations: 2, activated_count: 2 });
  expect((await caller.get(`/api/v1/orders/${body.id}/esims`)).body.count).toBe(4);
  const events = await platform.store.read(async (q) => q.db.select().from(q.t.events), null);
  expect(events.map((event) => event.kind)).toEqual(["order.created", "order.fulfilled", "esims.ready"]);
});
