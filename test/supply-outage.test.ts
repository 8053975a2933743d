import { expect, test } from "vitest";
import { listAudit } from "../src/core/audit/list.ts";
import { platformStatus } from "../src/core/insight/status.ts";
import type { ProductId } from "../src/core/kernel/brand.ts";
import { providerAdapters } from "../src/core/store/schema/values.ts";
import { addSource } from "../src/core/supply/sources.ts";
import { checkWallets } from "../src/core/wallet/check.ts";
import { addProducts } from "./support/catalog.ts";
import { placeOrder } from "./support/supplies.ts";
import { plans, type SupplyShop, supplyShop } from "./support/supply.ts";

const MINUTE_MS = 60_000;
const PRICE = 1_000;

/** Who is down in which minute: `refused`: no connection; `busy`: it answers that it cannot say what it did. */
const outages = (["refused", "busy"] as const).flatMap((how) =>
  providerAdapters.map((supplier) => ({ supplier, how })),
);
type Outage = (typeof outages)[number];

/** What was posted, bought and asked. */
function books({ platform: { store } }: SupplyShop) {
  return store.read(
    async (q) => ({
      sold: await q.db.select().from(q.t.orders),
      costs: await q.db.select().from(q.t.costs),
      items: await q.db.select().from(q.t.orderItems),
      attempts: await q.db.select().from(q.t.itemAttempts),
    }),
    null,
  );
}

/** Three products, each with another provider in the first place and the others behind it. */
async function products({ platform: { store }, product }: SupplyShop): Promise<ProductId[]> {
  const [one, two, three] = providerAdapters;
  const sold: ProductId[] = [product];
  for (const [at, order] of [
    [two, three, one],
    [three, one, two],
  ].entries()) {
    const sku = `JP${at + 2}`;
    const supplied = { product_type: "esim_qr_api", delivery_method: "supplier_api", supplier: order[0] } as const;
    const ids = await addProducts(store, [{ sku, price_cents: PRICE, ...supplied }]);
    for (const [priority, supplier] of order.entries()) {
      const plan = { ...plans[supplier], days: null, currency: "USD" };
      await store.write(addSource, { sku, supplier, priority: priority + 1, ...plan, actor: "test" });
    }
    const id = ids[sku];
    if (id !== undefined) sold.push(id);
  }
  return sold;
}

interface Load {
  forMs: number;
  /** How often each product is ordered. */
  everyMs: number;
  tickMs: number;
}

/** Answers the orders that were placed. */
async function load(shop: SupplyShop, sold: readonly ProductId[], { forMs, everyMs, tickMs }: Load): Promise<string[]> {
  const { clock } = shop.platform;
  const orders: string[] = [];
  const end = clock.now() + forMs;
  for (let next = clock.now(); clock.now() < end; clock.advance(tickMs)) {
    if (clock.now() >= next) {
      for (const product of sold) orders.push(await placeOrder(shop.caller, product));
      next += everyMs;
    }
    await shop.work();
  }
  return orders;
}

const steady = { forMs: MINUTE_MS, everyMs: 4_000, tickMs: 1_000 };
/** Longer than what is bought without an answer is looked for. */
const calm = { forMs: 20 * MINUTE_MS, everyMs: 60_000, tickMs: 10_000 };

async function begin({ doubles }: SupplyShop, { supplier, how }: Outage) {
  const double = doubles[supplier];
  if (how === "refused") return double?.close();
  for (const on of ["order", "query"] as const) await double?.steer({ on, outcome: "busy", count: 1_000_000 });
}

async function end({ doubles }: SupplyShop, { supplier, how }: Outage) {
  await (how === "refused" ? doubles[supplier]?.reopen() : doubles[supplier]?.release());
}

interface Change {
  at: number;
  from: unknown;
  to: unknown;
}

/** How a supplier's circuit went by the audit trail, oldest first. */
async function historyOf({ platform: { store } }: SupplyShop, supplier: string): Promise<Change[]> {
  const lines = await store.read(listAudit, { target: supplier, limit: 1_000 });
  return lines
    .filter(({ action }) => action === "suppliers.circuit")
    .map(({ at, changes }) => ({ at: Date.parse(at), from: changes?.[0]?.from, to: changes?.[0]?.to }))
    .reverse();
}

type Down = Outage & { from: number; to: number };

/** Opened and probed in vain while it was down, then proved and closed: once for each outage, and at no other time. */
function expectHistory(history: readonly Change[], down: readonly Down[]) {
  const states = [...down.flatMap(() => ["closed", "open", "half_open", "open", "half_open"]), "closed"];
  expect(history.map(({ from, to }) => [from, to])).toEqual(
    states.slice(1).map((state, before) => [states[before], state]),
  );
  for (const [outage, { from, to }] of down.entries()) {
    const times = history.slice(5 * outage, 5 * outage + 5).map(({ at }) => at);
    expect(times.slice(0, 3).every((at) => at >= from && at < to)).toBe(true);
    expect(times.slice(3).every((at) => at >= to)).toBe(true);
  }
}

test("one of three suppliers down each minute: orders go on, and each circuit's history is right", {
  tags: ["slow"],
}, async () => {
  const shop = await supplyShop(providerAdapters);
  const { store, clock } = shop.platform;
  const sold = await products(shop);
  const before = await shop.balance();
  const orders = await load(shop, sold, steady);
  const down: Down[] = [];
  for (const outage of outages) {
    const from = clock.now();
    await begin(shop, outage);
    orders.push(...(await load(shop, sold, steady)));
    const { suppliers } = await store.read(platformStatus, null);
    expect(suppliers.find(({ name }) => name === outage.supplier)).toMatchObject({
      circuit: "open",
      reason: expect.stringContaining("its probe failed: "),
    });
    await end(shop, outage);
    down.push({ ...outage, from, to: clock.now() });
  }
  orders.push(...(await load(shop, sold, calm)));
  await shop.settle();

  const { suppliers } = await store.read(platformStatus, null);
  expect(suppliers.map(({ circuit, reason }) => [circuit, reason])).toEqual(suppliers.map(() => ["closed", null]));
  for (const supplier of providerAdapters) {
    const own = down.filter((one) => one.supplier === supplier);
    expectHistory(await historyOf(shop, supplier), own);
  }
  const { sold: kept, costs, items, attempts } = await books(shop);
  const inDoubt = new Set<string>(
    attempts.filter(({ outcome }) => outcome === "unknown").map(({ item_id }) => item_id),
  );
  const ofOrder = new Map(items.map((item) => [item.order_id, item]));
  expect(kept.map(({ id }) => id).sort()).toEqual(orders.toSorted());
  // People decide only where it is not known what the supplier did; all else is fulfilled.
  const open = kept.filter(({ status }) => status !== "fulfilled");
  expect(new Set(open.map(({ status }) => status))).toEqual(new Set(["waiting_review"]));
  expect(open.every(({ id }) => inDoubt.has(ofOrder.get(id)?.id ?? ""))).toBe(true);
  for (const supplier of providerAdapters) {
    // Each unit that was bought has its cost, and none was bought twice.
    const bought = costs.filter((cost) => cost.supplier === supplier);
    expect(await shop.doubles[supplier]?.state()).toMatchObject({ bought: bought.length });
  }
  expect(costs).toHaveLength(orders.length - open.length);
  expect(await shop.balance()).toBe(before - orders.length * PRICE);
  expect((await store.read(checkWallets, { minimum: () => null })).ok).toBe(true);
});
