import { expect, test } from "vitest";
import { cancelOrder } from "../src/core/orders/cancel.ts";
import type { Read } from "../src/core/store/store.ts";
import { confirmItem } from "../src/core/supplier-requests/operator.ts";
import { checkWallets } from "../src/core/wallet/check.ts";
import { addProducts, addStock, suppliedProducts } from "./support/catalog.ts";
import { allEvents } from "./support/events.ts";
import { type Caller, startPlatform } from "./support/platform.ts";

const customer = { email: "mia@example.com", name: "Mia Chen" };

function bulk(caller: Caller, orders: unknown[]) {
  return caller.send("POST", "/api/v1/orders/bulk", { orders });
}

function item(external_order_id: string, product_id: string | undefined, quantity = 1, more: object = {}) {
  return { external_order_id, line_items: [{ product_id, quantity }], customer, ...more };
}

test("each order of a bulk request is validated on its own", async () => {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [
    { sku: "EU5", price_cents: 100 },
    { sku: "OFF", status: "inactive" },
  ]);
  await addStock(platform.store, "EU5", 10);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 350);
  const { status, body } = await bulk(caller, [
    item("a", products.EU5, 2),
    item("b", products.OFF),
    item("c", products.EU5, 2),
    item("d", products.EU5, 1, { metadata: { gift: true } }),
    item("a", products.EU5, 2),
    item("a", products.EU5, 3),
  ]);
  expect(status).toBe(200);
  expect(body.summary).toEqual({ total: 6, successful: 3, failed: 3 });
  const [a, b, c, d, again, other] = body.results;
  expect(a).toEqual({
    external_order_id: "a",
    service_order_id: expect.any(String),
    status: "success",
    order_number: expect.stringMatching(/^ORD-20260302-[0-9A-Z]{5}$/),
    total_price_cents: 200,
    currency: "AUD",
    replayed: false,
  });
  expect(b).toEqual({
    external_order_id: "b",
    service_order_id: null,
    status: "failed",
    order_number: null,
    total_price_cents: null,
    currency: null,
    replayed: false,
    error: { code: "validation", message: expect.any(String) },
  });
  expect(c).toMatchObject({ status: "failed", error: { code: "insufficient_balance" } });
  expect(d.status).toBe("success");
  expect(again).toEqual({ ...a, replayed: true });
  expect(other).toMatchObject({ status: "failed", error: { code: "idempotency_conflict" } });
  await platform.fulfill();
  expect((await caller.get(`/api/v1/orders/${a.service_order_id}`)).body.status).toBe("fulfilled");
  expect((await caller.get("/api/v1/balance")).body.balances).toMatchObject([{ balance_cents: 50 }]);

  const repeated = await bulk(caller, [item("a", products.EU5, 2), item("c", products.EU5, 2)]);
  expect(repeated.body.results[0]).toEqual(again);
  expect(repeated.body.results[1].error.code).toBe("insufficient_balance");
  // The same text as an Idempotency-Key is another key.
  const single = { line_items: [{ product_id: products.EU5, quantity: 9 }] };
  expect((await caller.send("POST", "/api/v1/orders", single, { "idempotency-key": "a" })).status).toBe(402);
  expect(await platform.store.read(checkWallets, { minimum: () => null })).toMatchObject({ ok: true });
});

test("an order of a bulk request answers its external_order_id and its customer wherever it is read", async () => {
  const platform = await startPlatform();
  const { EU5 } = await addProducts(platform.store, [{ sku: "EU5" }]);
  const caller = await platform.caller();
  const phoned = { customer: { ...customer, phone: "+61 400 000 001" } };
  const { body } = await bulk(caller, [item("shop-1", EU5, 1, phoned), item("shop-2", EU5)]);
  const [first, second] = body.results.map((result: { service_order_id: string }) => result.service_order_id);
  const listed = (await caller.get("/api/v1/orders")).body.data;
  for (const [id, facts] of [
    [first, { external_order_id: "shop-1", ...phoned, refunded_cents: 0 }],
    [second, { external_order_id: "shop-2", customer: { ...customer, phone: null }, refunded_cents: 0 }],
  ]) {
    expect((await caller.get(`/api/v1/orders/${id}`)).body).toMatchObject(facts);
    expect(listed.find((order: { id: string }) => order.id === id)).toMatchObject(facts);
  }
});

test("every event of a bulk order, and of its items, names the partner's own id of the order", async () => {
  const platform = await startPlatform();
  const { MAIL, EU5 } = await addProducts(platform.store, [...suppliedProducts, { sku: "EU5" }]);
  await addStock(platform.store, "EU5", 1);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 10_000);
  const traveler = { customer_email: "mia@example.com", customer_name: "Mia Chen", activation_date: "2026-03-05" };
  const scheduled = { activation_requests: [{ product_id: MAIL, ...traveler }] };
  const { body } = await bulk(caller, [item("shop-1", EU5), item("shop-2", MAIL, 1, scheduled)]);
  await platform.fulfill();
  const [, { service_order_id: id, order_number }] = body.results;
  const [due] = (await caller.get(`/api/v1/orders/${id}/activation-status`)).body.activations;
  await platform.store.write(confirmItem, { id: due.item_id, number: "C-1", actor: "operator" });
  await platform.store.write(cancelOrder, { id, reason: "not wanted", actor: "operator" });

  const events = await allEvents(platform.store);
  const named = events.map(({ kind, data }) => `${kind} ${data.external_order_id}`);
  expect(named.sort()).toEqual([
    "activation.confirmed shop-2",
    "activation.submitted shop-2",
    "esims.ready shop-1",
    "order.cancelled shop-2",
    "order.created shop-1",
    "order.created shop-2",
    "order.fulfilled shop-1",
    "payment.completed shop-1",
    "payment.completed shop-2",
  ]);
  const steps = events.filter(({ kind }) => kind.startsWith("activation."));
  for (const { data } of steps) expect(data).toMatchObject({ id: due.item_id, order_id: id, order_number });
});

test("a bulk request of 100 orders is placed entirely, in few commits", async () => {
  const platform = await startPlatform();
  const { EU5 } = await addProducts(platform.store, [{ sku: "EU5", price_cents: 1 }]);
  await addStock(platform.store, "EU5", 100);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 100);
  // A store signals new events once a commit.
  let commits = 0;
  platform.store.onSignal("events", () => void commits++);
  const { body } = await bulk(
    caller,
    Array.from({ length: 100 }, (_, i) => item(`n${i}`, EU5)),
  );
  expect(body.summary).toEqual({ total: 100, successful: 100, failed: 0 });
  expect(commits).toBeGreaterThan(0);
  expect(commits).toBeLessThan(90);
  expect(body.results.map((result: { external_order_id: string }) => result.external_order_id)[57]).toBe("n57");
  await platform.fulfill();
  expect((await caller.get("/api/v1/orders?status=fulfilled&limit=100")).body.pagination.count).toBe(100);
});

test("an invalid body refuses the whole request, naming every field", async () => {
  const platform = await startPlatform();
  const { EU5 } = await addProducts(platform.store, [{ sku: "EU5" }]);
  const caller = await platform.caller();
  const refused: [name: string, orders: unknown[], field: string][] = [
    ["none", [], "orders"],
    ["101", Array.from({ length: 101 }, (_, i) => item(`n${i}`, EU5)), "orders"],
    ["no id", [item("", EU5)], "orders.0.external_order_id"],
    ["long id", [item("x".repeat(256), EU5)], "orders.0.external_order_id"],
    ["no e-mail", [item("a", EU5), { ...item("b", EU5), customer: { name: "Mia" } }], "orders.1.customer.email"],
    ["bad e-mail", [{ ...item("b", EU5), customer: { ...customer, email: "mia" } }], "orders.0.customer.email"],
    ["no lines", [{ ...item("b", EU5), line_items: [] }], "orders.0.line_items"],
  ];
  for (const [name, orders, field] of refused) {
    const { status, body } = await bulk(caller, orders);
    expect(status, name).toBe(400);
    expect(Object.keys(body.errors), name).toContain(field);
  }
  expect((await caller.get("/api/v1/orders")).body.data).toEqual([]);
});

test("bulk requests in the sandbox do not keep another partner's production order waiting", {
  tags: ["slow"],
}, async () => {
  const platform = await startPlatform();
  const { EU5 } = await addProducts(platform.store, [{ sku: "EU5", price_cents: 100 }]);
  await addStock(platform.store, "EU5", 1);
  const many = await platform.caller();
  const buyer = await platform.caller({ live: true });
  await platform.fund(buyer.partnerId, 100);
  const waiting = Array.from({ length: 10 }, (_, at) =>
    bulk(
      many,
      Array.from({ length: 100 }, (__, each) => item(`${at}-${each}`, EU5)),
    ),
  );
  const line_items = [{ product_id: EU5, quantity: 1 }];
  const { status } = await buyer.send("POST", "/api/v1/orders", { line_items }, { "idempotency-key": "k" });
  expect(status).toBe(201);
  const { open } = await platform.store.read(countSandboxOrders, null);
  // Written in the order of arrival, all of them would come first.
  expect(open).toBeLessThan(1_000);
  const answers = await Promise.all(waiting);
  expect(answers.map(({ body }) => body.summary.successful)).toEqual(Array(10).fill(100));
});

async function countSandboxOrders(q: Read, _input: null) {
  const rows = await q.db.select().from(q.t.orders);
  return { open: rows.filter(({ environment }) => environment === "sandbox").length };
}
