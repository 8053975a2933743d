import { asc, inArray } from "drizzle-orm";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { OrderId, PartnerId, ProductId } from "../src/core/kernel/brand.ts";
import { approveOrder } from "../src/core/orders/approve.ts";
import { cancelOrder } from "../src/core/orders/cancel.ts";
import { createOrder } from "../src/core/orders/create.ts";
import { MAX_INSTANT_UNITS } from "../src/core/orders/reserve.ts";
import type { Read } from "../src/core/store/store.ts";
import { checkWallets } from "../src/core/wallet/check.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { type Caller, type Platform, startPlatform } from "./support/platform.ts";

function place(caller: Caller, lines: [id: string | undefined, quantity: number][], key: string = crypto.randomUUID()) {
  const line_items = lines.map(([product_id, quantity]) => ({ product_id, quantity }));
  return caller.send("POST", "/api/v1/orders", { line_items }, { "idempotency-key": key });
}

async function shop(stock: Record<string, number>) {
  const platform = await startPlatform();
  const skus = Object.keys(stock);
  const products = await addProducts(platform.store, [
    ...skus.map((sku) => ({ sku, price_cents: 100 })),
    { sku: "CARD", price_cents: 100, product_type: "physical_sim" as const, delivery_method: "shipping" as const },
  ]);
  for (const sku of skus) await addStock(platform.store, sku, stock[sku] ?? 0);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 1_000_000);
  return { platform, products, caller };
}

async function statusOf(caller: Caller, id: string): Promise<string> {
  return (await caller.get(`/api/v1/orders/${id}`)).body.status;
}

const HISTORY = ["order.created", "payment.completed", "order.fulfilled", "esims.ready"];

test("an order of few units from stock is fulfilled by the request that places it, and answered as paid", async () => {
  const { products, caller } = await shop({ EU: 3, US: 1 });
  const lines: [string | undefined, number][] = [
    [products.EU, 2],
    [products.US, 1],
  ];
  const placed = await place(caller, lines, "few");
  expect(placed).toMatchObject({ status: 201, body: { status: "paid", wallet_balance_after_cents: 999_700 } });
  const { id } = placed.body;

  // No worker has run.
  expect(await statusOf(caller, id)).toBe("fulfilled");
  const { body: esims } = await caller.get(`/api/v1/orders/${id}/esims`);
  expect(esims.count).toBe(3);
  const { body: feed } = await caller.get("/api/v1/events");
  expect(feed.data.map(({ event }: { event: string }) => event)).toEqual(HISTORY);
  expect(feed.data[0].data).toMatchObject({ id, status: "paid" });
  expect(feed.data[2].data).toMatchObject({ id, status: "fulfilled", esims: expect.any(Array) });
  expect(feed.data[3].data).toMatchObject({ order_id: id, count: 3 });

  // A replay answers the order as it is now, with the balance of its creation.
  const replay = await place(caller, lines, "few");
  expect(replay).toMatchObject({ status: 200, body: { id, status: "fulfilled", wallet_balance_after_cents: 999_700 } });
  expect((await caller.get("/api/v1/events")).body.data).toHaveLength(4);
});

test("orders of a bulk request are fulfilled with it, as far as the stock goes", async () => {
  const { platform, products, caller } = await shop({ EU: 5 });
  const orders = [2, 2, 2].map((quantity, index) => ({
    external_order_id: `B-${index}`,
    line_items: [{ product_id: products.EU, quantity }],
    customer: { email: "ada@example.net", name: "Ada Byron" },
  }));
  const { body } = await caller.send("POST", "/api/v1/orders/bulk", { orders });
  expect(body.summary).toEqual({ total: 3, successful: 3, failed: 0 });
  const ids = body.results.map((result: { service_order_id: string }) => result.service_order_id);
  const statuses = () => Promise.all(ids.map((id: string) => statusOf(caller, id)));
  expect((await statuses()).sort()).toEqual(["fulfilled", "fulfilled", "paid"]);
  await platform.fulfill();
  expect((await statuses()).sort()).toEqual(["fulfilled", "fulfilled", "waiting_review"]);
});

test("larger orders are left to the worker, and have their stock from their creation on", async () => {
  const { platform, products, caller } = await shop({ EU: MAX_INSTANT_UNITS + 3 });
  const large = await place(caller, [[products.EU, MAX_INSTANT_UNITS + 1]]);
  // A smaller order that comes later does not take what the larger one needs.
  const late = await place(caller, [[products.EU, 3]]);
  const small = await place(caller, [[products.EU, 2]]);
  const withCard = await place(caller, [[products.CARD, 1]]);
  const states = async () => {
    const all = [large, late, small, withCard].map(({ body }) => statusOf(caller, body.id));
    return Promise.all(all);
  };
  expect(await states()).toEqual(["paid", "paid", "fulfilled", "paid"]);
  await platform.fulfill();
  expect(await states()).toEqual(["fulfilled", "waiting_review", "fulfilled", "paid"]);
});

test("an order that is cancelled before the worker delivers it gives its stock back", async () => {
  const { platform, products, caller } = await shop({ EU: MAX_INSTANT_UNITS + 1 });
  const { body } = await place(caller, [[products.EU, MAX_INSTANT_UNITS + 1]]);
  await platform.store.write(cancelOrder, { id: body.id, reason: "a mistake", actor: "operator" });
  const next = await place(caller, [[products.EU, 2]]);
  expect(await statusOf(caller, next.body.id)).toBe("fulfilled");
  await platform.fulfill();
  expect(await statusOf(caller, body.id)).toBe("cancelled");
});

test("a sandbox order still begins as pending_payment and is fulfilled by the worker", async () => {
  const { platform, products } = await shop({ EU: 5 });
  const caller = await platform.caller();
  const { body } = await place(caller, [[products.EU, 1]]);
  expect([body.status, await statusOf(caller, body.id)]).toEqual(["pending_payment", "pending_payment"]);
  await platform.fulfill();
  expect(await statusOf(caller, body.id)).toBe("fulfilled");
});

type Act =
  | { kind: "order"; lines: { product: number; quantity: number }[] }
  | { kind: "stock"; product: number; count: number }
  | { kind: "cancel" | "approve"; which: number };

const product = fc.integer({ min: 0, max: 2 });
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("order" as const),
      lines: fc.array(fc.record({ product, quantity: fc.integer({ min: 1, max: 7 }) }), { minLength: 1, maxLength: 3 }),
    }),
  },
  fc.record({
    kind: fc.constant("stock" as const),
    product: fc.integer({ min: 0, max: 1 }),
    count: fc.integer({ min: 1, max: 12 }),
  }),
  fc.record({ kind: fc.constantFrom("cancel" as const, "approve" as const), which: fc.nat(9) }),
);

/** One way of fulfilling orders: its partner, its products, and what it placed. */
interface Way {
  unitsAtOnce: number;
  partnerId: PartnerId;
  products: ProductId[];
  skus: string[];
  orders: OrderId[];
}

let ways = 0;

async function openWay(platform: Platform, unitsAtOnce: number): Promise<Way> {
  const skus = ["EU", "US", "CARD"].map((sku) => `${sku}-${ways}`);
  const [eu = "", us = "", card = ""] = skus;
  const ids = await addProducts(platform.store, [
    { sku: eu, price_cents: 100 },
    { sku: us, price_cents: 35 },
    { sku: card, price_cents: 7, product_type: "physical_sim", delivery_method: "shipping" },
  ]);
  const { partnerId } = await platform.caller({ live: true, slug: `way-${ways++}` });
  await platform.fund(partnerId, 3_000);
  return { unitsAtOnce, partnerId, skus, products: skus.flatMap((sku) => ids[sku] ?? []), orders: [] };
}

/** Does one act, then all that the worker has to do; a refusal changes nothing. */
async function apply(platform: Platform, way: Way, one: Act): Promise<void> {
  const { store } = platform;
  try {
    if (one.kind === "stock") await addStock(store, way.skus[one.product] ?? "", one.count);
    else if (one.kind === "order") way.orders.push(await order(platform, way, one.lines));
    else {
      const id = way.orders[one.which % Math.max(way.orders.length, 1)];
      if (id === undefined) return;
      const by = { id, reason: "asked for", actor: "operator" };
      await (one.kind === "cancel" ? store.write(cancelOrder, by) : store.write(approveOrder, by));
    }
  } catch (error) {
    if (!(error instanceof Error && error.name === "Problem")) throw error;
  }
  await platform.fulfill();
}

async function order({ store }: Platform, way: Way, lines: { product: number; quantity: number }[]): Promise<OrderId> {
  const { order: placed } = await store.write(createOrder, {
    partnerId: way.partnerId,
    environment: "production",
    key: { space: "single", value: crypto.randomUUID() },
    payloadHash: "none",
    lines: lines.map(({ product: index, quantity }) => ({ product_id: way.products[index] ?? "", quantity })),
    metadata: {},
    activationRequests: [],
    customer: null,
    unitsAtOnce: way.unitsAtOnce,
  });
  expect(placed.status).toBe("paid");
  return placed.id;
}

/** Everything that came of a way, without the ids and codes that differ. */
async function outcomeOf(q: Read, { partnerId, orders, products }: Way) {
  const { t } = q;
  const mine = <R extends { partner_id: string | null }>(rows: R[]) =>
    rows.filter((row) => row.partner_id === partnerId);
  const place = (id: string | null) => orders.indexOf(id as OrderId);
  const pools = await q.db.select().from(t.stockPools).where(inArray(t.stockPools.product_id, products));
  const lines = mine(await q.db.select().from(t.orderLines).orderBy(asc(t.orderLines.id)));
  const events = mine(await q.db.select().from(t.events).orderBy(asc(t.events.feed_no)));
  const ledger = mine(await q.db.select().from(t.ledgerTransactions).orderBy(asc(t.ledgerTransactions.chain_no)));
  const stock = await q.db.select().from(t.esims).where(inArray(t.esims.product_id, products)).orderBy(asc(t.esims.id));
  const rows = mine(await q.db.select().from(t.orders).orderBy(asc(t.orders.id)));
  return {
    orders: rows.map((row) => [
      place(row.id),
      row.status,
      row.refunded_cents,
      row.due_at,
      row.reserved,
      row.reason === null,
    ]),
    times: rows.map((row) => [row.created_at, row.updated_at, row.fulfilled_at, row.cancelled_at]),
    lines: lines.map((line) => [place(line.order_id), line.position, line.status, line.assigned]),
    feed: events.map((event) => [event.feed_no, event.kind, place(event.subject_id), Object.keys(event.data)]),
    ledger: ledger.map((entry) => [entry.kind, entry.amount_cents, entry.balance_after_cents, place(entry.order_id)]),
    pools: products.map((id) => pools.find((pool) => pool.product_id === id)?.available),
    // Which of the eSIMs, in the order of their import, belongs to which order.
    esims: products.map((id) => stock.filter((esim) => esim.product_id === id).map((esim) => place(esim.order_id))),
  };
}

test("orders come to the same, fulfilled as they are created or by the worker", async () => {
  const platform = await startPlatform();
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 10 }), async (acts) => {
      const [atOnce, byWorker] = [await openWay(platform, MAX_INSTANT_UNITS), await openWay(platform, 0)];
      for (const one of acts) {
        await apply(platform, atOnce, one);
        await apply(platform, byWorker, one);
      }
      const { store } = platform;
      expect(await store.read(outcomeOf, atOnce)).toEqual(await store.read(outcomeOf, byWorker));
    }),
    { numRuns: 12 },
  );
  expect(await platform.store.read(checkWallets, { minimum: () => null })).toMatchObject({ ok: true, unbalanced: [] });
}, 120_000);
