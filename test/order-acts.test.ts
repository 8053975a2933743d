import { expect, test } from "vitest";
import type { OrderId } from "../src/core/kernel/brand.ts";
import { type ActedOn, actAndFollow, actOnOrder, type OrderAct } from "../src/core/orders/act.ts";
import type { Read } from "../src/core/store/store.ts";
import { applySupplyOutcome } from "../src/core/supplier-requests/apply-outcome.ts";
import { claimItems } from "../src/core/supplier-requests/due.ts";
import { disableWebhook } from "../src/core/webhooks/disable.ts";
import { addProducts, addStock, suppliedProducts } from "./support/catalog.ts";
import { type Platform, startPlatform } from "./support/platform.ts";

/** The present state of everything that orders touch. */
async function snapshot(platform: Platform) {
  return platform.store.read(async (q: Read) => {
    const { orders, orderLines, orderItems, esims, stockPools, wallets, ledgerPostings, events, deliveries } = q.t;
    const tables = [orders, orderLines, orderItems, esims, stockPools, wallets, ledgerPostings, events, deliveries];
    const rows: unknown[] = [];
    for (const table of [...tables, q.t.auditEntries]) rows.push(await q.db.select().from(table));
    return JSON.stringify(rows);
  }, null);
}

/** A funded partner with one endpoint for all order events, and what an operator can do to its orders. */
async function setUp() {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [
    ...suppliedProducts,
    { sku: "EU5", price_cents: 100 },
    { sku: "SIM", price_cents: 700, product_type: "physical_sim", delivery_method: "shipping" },
  ]);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 100_000);
  const hook = { url: "https://hooks.example.com/esim", events: ["order.fulfilled", "order.cancelled"] };
  const { body: made } = await caller.send("POST", "/api/v1/webhooks", hook);
  const place = async (...lines: [string, number][]): Promise<OrderId> => {
    const line_items = lines.map(([sku, quantity]) => ({ product_id: products[sku], quantity }));
    const headers = { "idempotency-key": crypto.randomUUID() };
    const { body } = await caller.send("POST", "/api/v1/orders", { line_items }, headers);
    await platform.fulfill();
    return body.id;
  };
  /** What is foreseen of an act, which changes nothing. */
  const foresee = async (id: OrderId, act: OrderAct): Promise<ActedOn> => {
    const before = await snapshot(platform);
    const foreseen = await platform.store.rehearse(actAndFollow, { id, act, actor: "operator" });
    expect(await snapshot(platform)).toBe(before);
    return foreseen;
  };
  const act = (id: OrderId, what: OrderAct) => platform.store.write(actOnOrder, { id, act: what, actor: "operator" });
  return { platform, caller, place, foresee, act, endpointId: made.webhook.id };
}

const nothing = { refund_cents: 0, from_stock: [], to_stock: [], shipped: [], sent_again: [], events: [] };

test("an approval is previewed with the eSIMs that leave the stock and the events of its delivery", async () => {
  const { platform, caller, place, foresee, act } = await setUp();
  const id = await place(["EU5", 2]);
  await expect(foresee(id, { verb: "approve" })).rejects.toMatchObject({ slug: "conflict" });
  const iccids = await addStock(platform.store, "EU5", 3);
  const taken = { sku: "EU5", count: 2, iccids: iccids.slice(0, 2) };
  const events = [
    { kind: "order.fulfilled", endpoints: 1, held: 0 },
    { kind: "esims.ready", endpoints: 0, held: 0 },
  ];
  const foreseen = await foresee(id, { verb: "approve" });
  expect(foreseen).toMatchObject({ before: "waiting_review", order: { status: "fulfilled" } });
  expect(foreseen.done).toEqual({ ...nothing, from_stock: [taken], events });
  // The act itself only reserves: which eSIMs they are is settled when they are handed out.
  expect((await act(id, { verb: "approve" })).done).toEqual({ ...nothing, from_stock: [{ ...taken, iccids: [] }] });
  await platform.fulfill();
  const { body } = await caller.get(`/api/v1/orders/${id}/esims`);
  expect(body.esims.map((esim: { iccid: string }) => esim.iccid)).toEqual(taken.iccids);
});

test("reject, cancel and ship match their preview: money, stock, SIM cards, events", async () => {
  const { platform, place, foresee, act, endpointId } = await setUp();
  const short = await place(["EU5", 3]);
  const iccids = await addStock(platform.store, "EU5", 2);
  const partly = await place(["EU5", 2], ["SIM", 1]);
  const sims = await place(["SIM", 2]);
  const cases: [OrderId, OrderAct, string, object][] = [
    [
      short,
      { verb: "reject", reason: "gone" },
      "cancelled",
      { refund_cents: 300, events: [{ kind: "order.cancelled", endpoints: 1 }] },
    ],
    [
      partly,
      { verb: "cancel", reason: "no card" },
      "fulfilled",
      { refund_cents: 700, events: [{ kind: "order.fulfilled", endpoints: 1 }, { kind: "esims.ready" }] },
    ],
    [
      sims,
      { verb: "ship", carrier: "Post", tracking: "T1", trackingUrl: null },
      "fulfilled",
      { shipped: [{ sku: "SIM", quantity: 2 }], events: [{ kind: "order.fulfilled", endpoints: 1 }] },
    ],
  ];
  for (const [id, what, status, done] of cases) {
    const foreseen = await foresee(id, what);
    expect(foreseen).toMatchObject({ order: { status }, done: { ...nothing, ...done } });
    const acted = await act(id, what);
    expect(acted.done).toEqual(foreseen.done);
    await expect(foresee(id, what)).rejects.toMatchObject({ slug: "conflict" });
  }
  // Reserved or assigned, but not visible: it returns to stock. Receivers are counted as they are now.
  await platform.store.write(disableWebhook, { id: endpointId, actor: "operator" });
  const [first = ""] = await addStock(platform.store, "EU5", 1);
  const held = await place(["EU5", 2]);
  await addStock(platform.store, "EU5", 1);
  await act(held, { verb: "approve" });
  const cancelled = await act(held, { verb: "cancel", reason: "too late" });
  expect(cancelled.done).toEqual({
    ...nothing,
    refund_cents: 200,
    to_stock: [{ sku: "EU5", count: 2, iccids: [] }],
    events: [{ kind: "order.cancelled", endpoints: 0, held: 1 }],
  });
  expect([first, ...iccids]).toHaveLength(3);
});

test("a retry names the requests that are sent again; none where none is stuck", async () => {
  const { platform, place, foresee, act } = await setUp();
  const id = await place(["API", 2]);
  expect((await foresee(id, { verb: "retry" })).done).toEqual(nothing);
  const [claimed] = await platform.store.write(claimItems, { supplier: "northwind", room: 1 });
  const item_id = claimed?.item.id ?? ("" as never);
  for (let tries = 0; tries < 6; tries++) {
    const outcome = { kind: "temporary", reason: "no answer" } as const;
    await platform.store.write(applySupplyOutcome, { id: item_id, outcome, attempt: { source: "request" } });
  }
  const foreseen = await foresee(id, { verb: "retry" });
  expect(foreseen).toMatchObject({ before: "waiting_review", order: { status: "waiting_review" } });
  expect(foreseen.done).toEqual({ ...nothing, sent_again: [{ item_id, supplier: "northwind" }] });
  expect((await act(id, { verb: "retry" })).done).toEqual(foreseen.done);
});
