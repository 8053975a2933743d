import { describe, expect, onTestFinished, test } from "vitest";
import type { OrderId } from "../src/core/kernel/brand.ts";
import { actOnOrder, type OrderAct } from "../src/core/orders/act.ts";
import { failItem } from "../src/core/supplier-requests/operator.ts";
import { orderInside } from "../src/core/supplier-requests/order-inside.ts";
import { setSupplier } from "../src/core/suppliers/set.ts";
import { checkWallets } from "../src/core/wallet/check.ts";
import { createMailer } from "../src/daemon/gateways/mailer.ts";
import { createSignedExchange } from "../src/daemon/gateways/signed-exchange.ts";
import { createSupplierGateway } from "../src/daemon/gateways/suppliers.ts";
import { addProducts, addStock, suppliedProducts } from "./support/catalog.ts";
import { httpSupplier } from "./support/http-supplier.ts";
import { startPlatform } from "./support/platform.ts";
import { rewind } from "./support/store.ts";
import { supplyDue } from "./support/supplies.ts";

const SUPPLIERS = ["northwind", "kestrel"];

/** A platform whose orders pass both workers, as in the daemon, with a supplier whose response is `outcome`. */
async function setUp(outcome: () => object = () => ({ outcome: "accepted" })) {
  const platform = await startPlatform();
  const { store, clock } = platform;
  const products = await addProducts(store, [
    ...suppliedProducts,
    { sku: "EU5", price_cents: 100 },
    { sku: "SIM", price_cents: 700, product_type: "physical_sim", delivery_method: "shipping" },
  ]);
  const supplier = await httpSupplier(() => ({ body: outcome() }));
  for (const name of SUPPLIERS) {
    const settings = { adapter: "http" as const, url: supplier.url, secret: "a secret of at least sixteen" };
    await store.write(setSupplier, { name, settings, actor: "operator" });
  }
  const caller = await platform.caller({ live: true, slug: "acme" });
  await platform.fund(caller.partnerId, 10_000);
  const exchange = createSignedExchange(clock.now);
  onTestFinished(() => exchange.close());
  const gateway = createSupplierGateway({ exchange, mailer: createMailer(undefined), publicUrl: "http://esim.test" });
  const log = { error: (...words: unknown[]) => console.error(...words), warn() {}, info() {} };
  const work = async () => {
    await platform.fulfill();
    await supplyDue({ store, gateway, log });
    await platform.fulfill();
  };
  const place = async (...lines: [sku: string, quantity: number][]): Promise<OrderId> => {
    const line_items = lines.map(([sku, quantity]) => ({ product_id: products[sku], quantity }));
    const scheduled = lines.filter(([sku]) => sku === "MAIL" || sku === "PUSH");
    const activation_requests = scheduled.flatMap(([sku, quantity]) =>
      Array.from({ length: quantity }, () => ({
        product_id: products[sku],
        customer_email: "mia@example.com",
        customer_name: "Mia Chen",
        activation_date: "2026-03-02",
        eid_number: "89049032000000000000000000000017",
      })),
    );
    const headers = { "idempotency-key": crypto.randomUUID() };
    const { status, body } = await caller.send("POST", "/api/v1/orders", { line_items, activation_requests }, headers);
    expect(status).toBe(201);
    return body.id;
  };
  const act = (id: OrderId, what: OrderAct) => store.write(actOnOrder, { id, act: what, actor: "operator" });
  return {
    platform,
    caller,
    place,
    work,
    act,
    order: async (id: OrderId) => (await caller.get(`/api/v1/orders/${id}`)).body,
    items: async (id: OrderId) => (await store.read(orderInside, id)).items,
    balance: async () => (await caller.get("/api/v1/balance")).body.balances[0].balance_cents,
    events: async (id: OrderId, kind: string) =>
      (await store.read(async (q) => q.db.select().from(q.t.events), null)).filter(
        (event) => event.subject_id === id && event.kind === kind,
      ),
    async ledgerAgrees() {
      expect(await store.read(checkWallets, { minimum: () => null })).toMatchObject({ ok: true, unbalanced: [] });
    },
  };
}

const REFUSED = { outcome: "refused", error_type: "gone", error_message: "Gone" };

test.each(["MAIL", "PUSH", "API"])("an order without stock (%s) that is refused fails and is refunded", async (sku) => {
  const { place, work, order, items, balance, platform, ledgerAgrees } = await setUp();
  const id = await place([sku, 2]);
  await work();
  expect(await balance()).toBeLessThan(10_000);
  const [item] = await items(id);
  const refusal = { errorType: "gone", errorMessage: "Gone", actor: "operator" };
  await platform.store.write(failItem, { id: item?.item_id ?? "", ...refusal });
  expect(await order(id)).toMatchObject({ status: "failed", line_items: [{ fulfillment: { status: "failed" } }] });
  expect(await balance()).toBe(10_000);
  await ledgerAgrees();
});

test.each(["PUSH", "API"])("an order that the supplier itself refuses fails and is refunded (%s)", async (sku) => {
  const { place, work, order, balance } = await setUp(() => REFUSED);
  const id = await place([sku, 1]);
  await work();
  expect(await order(id)).toMatchObject({ status: "failed" });
  expect(await balance()).toBe(10_000);
});

test("after a partial delivery a refusal holds the order; cancel refunds the rest", async () => {
  const { platform, place, work, act, order, balance } = await setUp(() => REFUSED);
  await addStock(platform.store, "EU5", 1);
  const id = await place(["EU5", 1], ["API", 1]);
  const charged = 10_000 - (await balance());
  await work();
  expect(await order(id)).toMatchObject({ status: "waiting_review" });
  await expect(act(id, { verb: "reject", reason: "no" })).rejects.toMatchObject({ slug: "conflict" });
  await act(id, { verb: "cancel", reason: "no" });
  expect(await order(id)).toMatchObject({
    status: "fulfilled",
    line_items: [{ fulfillment: { status: "fulfilled" } }, { fulfillment: { status: "cancelled" } }],
  });
  expect(await balance()).toBe(10_000 - 100);
  expect(charged).toBeGreaterThan(100);
});

test("a refusal while the stock of the order is reserved but not visible fails it and returns the stock", async () => {
  const { platform, place, act, work, order, balance, items } = await setUp();
  const id = await place(["EU5", 2], ["API", 1]);
  await work();
  expect(await order(id)).toMatchObject({ status: "waiting_review" });
  await addStock(platform.store, "EU5", 2);
  await act(id, { verb: "approve" });
  const [item] = await items(id);
  const refusal = { errorType: "gone", errorMessage: "Gone", actor: "operator" };
  await platform.store.write(failItem, { id: item?.item_id ?? "", ...refusal });
  expect(await order(id)).toMatchObject({ status: "failed" });
  expect(await balance()).toBe(10_000);
  const next = await place(["EU5", 2]);
  await work();
  expect(await order(next)).toMatchObject({ status: "fulfilled" });
});

test("an order without a response for 48 hours can be rejected: cancelled, refunded, with an event", async () => {
  const { platform, place, work, act, events } = await setUp();
  const id = await place(["PUSH", 1]);
  await work();
  platform.clock.advance(48 * 3_600_000);
  await work();
  const fresh = await platform.credential("acme", { live: true });
  expect((await fresh.get(`/api/v1/orders/${id}`)).body).toMatchObject({ status: "waiting_review" });
  const { done } = await act(id, { verb: "reject", reason: "the supplier is silent" });
  expect(done.refund_cents).toBeGreaterThan(0);
  expect((await fresh.get(`/api/v1/orders/${id}`)).body).toMatchObject({ status: "cancelled" });
  expect((await fresh.get("/api/v1/balance")).body.balances[0].balance_cents).toBe(10_000);
  expect(await events(id, "order.cancelled")).toMatchObject([
    { data: { status: "cancelled", cancellation_reason: "the supplier is silent" } },
  ]);
});

test("retry delivers an order whose stock was refilled, and is refused while it is still short", async () => {
  const { platform, place, work, act, order } = await setUp();
  const id = await place(["EU5", 2]);
  await work();
  expect(await order(id)).toMatchObject({ status: "waiting_review" });
  await expect(act(id, { verb: "retry" })).rejects.toMatchObject({ slug: "conflict", message: /needs 2, has 0/ });
  await addStock(platform.store, "EU5", 2);
  const { done, order: retried } = await act(id, { verb: "retry" });
  expect(retried).toMatchObject({ status: "waiting_review", reason: null });
  expect(done.from_stock).toMatchObject([{ sku: "EU5", count: 2 }]);
  await work();
  expect(await order(id)).toMatchObject({ status: "fulfilled" });
});

describe("a refund by the operator", () => {
  const refund = (asked: Partial<Extract<OrderAct, { verb: "refund" }>> = {}): OrderAct => ({
    ...{ verb: "refund", reason: "it did not install", line: null, units: null, amount: null },
    ...asked,
  });

  async function delivered() {
    const setting = await setUp();
    await addStock(setting.platform.store, "EU5", 3);
    const id = await setting.place(["EU5", 3], ["SIM", 1]);
    await setting.work();
    await setting.act(id, { verb: "ship", carrier: "C", tracking: "T1", trackingUrl: null });
    expect(await setting.order(id)).toMatchObject({ status: "fulfilled", refunded_cents: 0 });
    return { ...setting, id };
  }

  test("gives back units of a line, an amount, then all that is left, and never more than was charged", async () => {
    const { act, order, balance, id, events, ledgerAgrees } = await delivered();
    expect(await balance()).toBe(9_000);
    const { done } = await act(id, refund({ line: 1, units: 2 }));
    expect(done.refund_cents).toBe(200);
    expect(await balance()).toBe(9_200);
    await act(id, refund({ amount: "1.50" }));
    expect(await order(id)).toMatchObject({ status: "fulfilled", refunded_cents: 350 });
    await expect(act(id, refund({ line: 1 }))).rejects.toMatchObject({ slug: "conflict", message: /nothing left/ });
    await expect(act(id, refund({ amount: "6.51" }))).rejects.toMatchObject({ message: /at most 6\.50 AUD/ });
    await act(id, refund());
    expect(await order(id)).toMatchObject({ status: "fulfilled", refunded_cents: 1_000 });
    expect(await balance()).toBe(10_000);
    await expect(act(id, refund())).rejects.toMatchObject({ slug: "conflict" });
    const sent = await events(id, "order.refunded");
    expect(sent.map(({ data }) => Object(data).amount_cents)).toEqual([200, 150, 650]);
    expect(sent[0]?.data).toMatchObject({ id, currency: "AUD", reason: "it did not install" });
    await ledgerAgrees();
  });

  test("leaves the eSIMs and the wallet's other movements as they are, and is a wallet transaction", async () => {
    const { act, order, id, caller } = await delivered();
    const esims = Object(await order(id)).esims;
    await act(id, refund({ line: 2 }));
    expect(Object(await order(id)).esims).toEqual(esims);
    const { body } = await caller.get("/api/v1/wallet/transactions?limit=1");
    expect(body.data).toMatchObject([{ kind: "refund", amount_cents: 700, order_id: id, balance_after_cents: 9_700 }]);
  });

  test("names what it cannot do: an unknown line, units of several lines, an amount of 0", async () => {
    const { act, id } = await delivered();
    await expect(act(id, refund({ line: 3 }))).rejects.toMatchObject({ message: /line must be from 1 to 2/ });
    await expect(act(id, refund({ units: 1 }))).rejects.toMatchObject({ message: /the order has several/ });
    await expect(act(id, refund({ line: 1, units: 4 }))).rejects.toMatchObject({ message: /at most 3/ });
    await expect(act(id, refund({ amount: "0.00" }))).rejects.toMatchObject({ message: /above 0/ });
    await expect(act(id, refund({ amount: "1.005" }))).rejects.toMatchObject({ slug: "validation" });
  });

  test("before a cancellation counts towards what the cancellation gives back", async () => {
    const { place, act, order, balance, ledgerAgrees } = await setUp();
    const id = await place(["EU5", 2], ["SIM", 1]);
    await act(id, refund({ line: 1, units: 1 }));
    await act(id, { verb: "cancel", reason: "no longer wanted" });
    expect(await order(id)).toMatchObject({ status: "cancelled", refunded_cents: 900 });
    expect(await balance()).toBe(10_000);
    await ledgerAgrees();
  });
});

test("lines refunded by an earlier version are known after the next start", async () => {
  const { platform, place, act, order } = await setUp();
  await addStock(platform.store, "EU5", 1);
  const [cancelled, partly] = [await place(["SIM", 1]), await place(["EU5", 1], ["SIM", 1])];
  await platform.fulfill();
  await act(cancelled, { verb: "cancel", reason: "no" });
  await act(partly, { verb: "cancel", reason: "no" });
  await rewind(platform.location, "9013_line_refunds", ["UPDATE order_lines SET refunded_cents = 0"]);
  const store = await platform.again();
  const again = (id: OrderId, amount: string | null) =>
    store.write(actOnOrder, {
      ...{ id, actor: "operator" },
      act: { verb: "refund", reason: "goodwill", line: null, units: null, amount },
    });
  await expect(again(cancelled, null)).rejects.toMatchObject({ slug: "conflict" });
  expect((await again(partly, null)).done.refund_cents).toBe(100);
  expect(await order(partly)).toMatchObject({ refunded_cents: 800 });
});
