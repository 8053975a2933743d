import { describe, expect, test } from "vitest";
import { rejectOrder, retryOrder } from "../src/core/orders/act.ts";
import { approveOrder } from "../src/core/orders/approve.ts";
import { heldOrders } from "../src/core/orders/queue.ts";
import { isSupplyOverdue, waitingItems } from "../src/core/supplier-requests/due.ts";
import type { Caller } from "./support/platform.ts";
import { advance, at, DAY_MS, eventsOf, openShop, order, type Shop } from "./support/sandbox.ts";

describe("X-Sandbox-Scenario", () => {
  const asked = (scenario: string) => ({ "x-sandbox-scenario": scenario });
  const traveler = { customer_email: "mia@example.com", customer_name: "Mia Chen", activation_date: "2026-03-05" };
  const statusOf = async (caller: Caller, id: string) => {
    const { body } = await caller.get(`/api/v1/orders/${id}`);
    return [
      body.status,
      ...body.line_items.map(({ fulfillment }: { fulfillment: { status: string } }) => fulfillment.status),
    ];
  };
  const reasonOf = ({ store }: Shop, id: string) =>
    store.read(async (q) => (await q.db.select().from(q.t.orders)).find((row) => row.id === id)?.reason, null);
  const kindsOf = async (shop: Shop, orderId: string) => {
    const events = (await eventsOf(shop, "sandbox")).filter(
      ({ subject_id, data }) => subject_id === orderId || Reflect.get(data, "order_id") === orderId,
    );
    return events.map(({ kind }) => kind);
  };

  test("insufficient_balance is refused as an empty wallet is, and leaves the key free", async () => {
    const shop = await openShop();
    const { partner, products } = shop;
    const key = { "idempotency-key": "one" };
    const refused = await order(partner, products.EU5, {}, { ...key, ...asked("insufficient_balance") });
    expect(refused.body).toMatchObject({
      type: "http://esim.test/docs/errors/insufficient_balance",
      status: 402,
      currency: "AUD",
      balance_cents: 0,
      required_cents: 100,
      shortfall_cents: 100,
    });
    expect((await order(partner, products.EU5, {}, key)).status).toBe(201);
  });

  test("stock_short holds the order for review; a replay shows it as it is, whatever it asks for", async () => {
    const shop = await openShop();
    const { partner, products, store } = shop;
    const key = { "idempotency-key": "one" };
    const { status, body } = await order(partner, products.EU5, {}, { ...key, ...asked("stock_short") });
    expect([status, body.status, body.sandbox_scenario]).toEqual([201, "pending_payment", "stock_short"]);
    await shop.fulfill();
    expect(await statusOf(partner, body.id)).toEqual(["waiting_review", "pending"]);
    expect(await reasonOf(shop, body.id)).toBe("stock is short (EU5: 1 needed, 0 in stock)");
    expect(await kindsOf(shop, body.id)).toEqual(["order.created"]);
    const replay = await order(partner, products.EU5, {}, { ...key, ...asked("insufficient_balance") });
    expect([replay.status, replay.body.id, replay.body.sandbox_scenario]).toEqual([200, body.id, "stock_short"]);
    expect(replay.body.status).toBe("waiting_review");
    // It is no work of the operator's, and takes no real stock.
    expect((await store.read(heldOrders, { limit: 10 })).data).toEqual([]);
    const operator = { id: body.id, actor: "test" };
    for (const act of [approveOrder, retryOrder]) {
      await expect(store.write(act, operator)).rejects.toMatchObject({ slug: "conflict" });
    }
    await store.write(rejectOrder, { ...operator, reason: "a test" });
    expect(await statusOf(partner, body.id)).toEqual(["cancelled", "cancelled"]);
    expect(await kindsOf(shop, body.id)).toEqual(["order.created", "order.cancelled"]);
  });

  test("supplier_refused fails an order of which nothing was delivered, and holds another", async () => {
    const shop = await openShop();
    const { partner, products } = shop;
    const requests = [1, 2].map(() => ({ product_id: products.MAIL, ...traveler }));
    const line_items = [{ product_id: products.MAIL, quantity: 2 }];
    const lone = await order(
      partner,
      undefined,
      { line_items, activation_requests: requests },
      asked("supplier_refused"),
    );
    const mixed = await order(
      partner,
      undefined,
      { line_items: [...line_items, { product_id: products.EU5, quantity: 1 }], activation_requests: requests },
      asked("supplier_refused"),
    );
    expect([lone.status, mixed.status]).toEqual([201, 201]);
    await shop.fulfill();
    expect(await statusOf(partner, lone.body.id)).toEqual(["failed", "failed"]);
    expect(await kindsOf(shop, lone.body.id)).toEqual(["order.created", "activation.failed", "order.failed"]);
    expect(await statusOf(partner, mixed.body.id)).toEqual(["waiting_review", "pending", "fulfilled"]);
    const failed = ["activation.failed", "activation.failed"];
    expect(await kindsOf(shop, mixed.body.id)).toEqual(["order.created", ...failed]);
    expect(await reasonOf(shop, mixed.body.id)).toContain("refused an item: Refused, as the sandbox scenario asks.");
    const { body: items } = await partner.get(`/api/v1/orders/${mixed.body.id}/activation-status`);
    expect(JSON.stringify(items)).toContain('"failed_count":2');
  });

  test("supplier_timeout leaves the items submitted and the order held, and no supplier ever gets them", async () => {
    const shop = await openShop();
    const { partner, products, store } = shop;
    const activation_requests = [{ product_id: products.MAIL, ...traveler }];
    await advance(partner, "P1D");
    const { body } = await order(partner, products.MAIL, { activation_requests }, asked("supplier_timeout"));
    await shop.fulfill();
    expect(await statusOf(partner, body.id)).toEqual(["waiting_review", "pending"]);
    expect(await reasonOf(shop, body.id)).toMatch(/gave no final answer in time$/);
    expect(await kindsOf(shop, body.id)).toEqual(["order.created", "activation.submitted"]);
    const { body: items } = await partner.get(`/api/v1/orders/${body.id}/activation-status`);
    expect(JSON.stringify(items)).toContain(`"submitted_at":"${at(1)}"`);
    shop.clock.advance(30 * DAY_MS);
    expect((await store.read(waitingItems, null)).due).toEqual([]);
    expect(await store.read(isSupplyOverdue, null)).toBe(false);
  });

  test("is that of each order of a bulk request", async () => {
    const shop = await openShop();
    const { partner, products } = shop;
    const one = (external_order_id: string, product: string | undefined) => ({
      external_order_id,
      line_items: [{ product_id: product, quantity: 1 }],
      customer: { email: "mia@example.com", name: "Mia Chen" },
    });
    const orders = [one("a", products.EU5), one("b", products.API)];
    const { status, body } = await partner.send("POST", "/api/v1/orders/bulk", { orders }, asked("stock_short"));
    expect([status, body.summary]).toEqual([200, { total: 2, successful: 1, failed: 1 }]);
    expect(body.results[1].error).toMatchObject({ code: "validation" });
    await shop.fulfill();
    expect(await statusOf(partner, body.results[0].service_order_id)).toEqual(["waiting_review", "pending"]);
  });

  test("is checked: its name, its environment, and whether the order can meet it", async () => {
    const shop = await openShop();
    const { partner, live, products } = shop;
    const unknown = await order(partner, products.EU5, {}, asked("meteor"));
    expect([unknown.status, Object.keys(unknown.body.errors)]).toEqual([400, ["X-Sandbox-Scenario"]]);
    const unmet = await order(partner, products.EU5, {}, asked("supplier_refused"));
    expect([unmet.status, Object.keys(unmet.body.errors)]).toEqual([400, ["X-Sandbox-Scenario"]]);
    const orders = {
      orders: [
        {
          external_order_id: "a",
          line_items: [{ product_id: products.EU5, quantity: 1 }],
          customer: { email: "mia@example.com", name: "Mia" },
        },
      ],
    };
    for (const reply of [
      await order(live, products.EU5, {}, asked("stock_short")),
      await live.send("POST", "/api/v1/orders/bulk", orders, asked("stock_short")),
    ]) {
      expect([reply.status, reply.body.type]).toEqual([403, "http://esim.test/docs/errors/sandbox_only"]);
    }
    expect((await live.get("/api/v1/orders")).body.data).toEqual([]);
  });
});
