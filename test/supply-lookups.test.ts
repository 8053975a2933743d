import { describe, expect, test } from "vitest";
import { type ProviderAdapter, providerAdapters } from "../src/core/store/schema/values.ts";
import { takeTurn } from "../src/core/supply/limit.ts";
import { addSource } from "../src/core/supply/sources.ts";
import { plans, type SupplyShop, supplyShop } from "./support/supply.ts";

/** What was posted and asked. */
function books({ platform: { store } }: SupplyShop) {
  return store.read(
    async (q) => ({
      orders: await q.db.select().from(q.t.orders),
      costs: await q.db.select().from(q.t.costs),
      items: await q.db.select().from(q.t.orderItems),
      attempts: await q.db.select().from(q.t.itemAttempts),
    }),
    null,
  );
}

/** Bought once at this supplier and at no other, posted once; answers how each attempt ended, oldest first. */
async function expectBoughtAt(shop: SupplyShop, supplier: string, units: number): Promise<string[]> {
  for (const [name, double] of Object.entries(shop.doubles)) {
    expect([name, (await double.state()).bought]).toEqual([name, name === supplier ? units : 0]);
  }
  const { costs, items, attempts } = await books(shop);
  expect(costs.map((cost) => cost.supplier)).toEqual(new Array(units).fill(supplier));
  expect(new Set(costs.map(({ reference }) => reference)).size).toBe(units);
  expect(items.map(({ status }) => status)).toEqual(new Array(units).fill("activated"));
  return attempts.map(({ outcome }) => outcome);
}

const otherThan = (adapter: ProviderAdapter): ProviderAdapter => (adapter === "airalo" ? "esimaccess" : "airalo");

describe("an answer that is lost, and a list that shows late what was bought", () => {
  test.for(["airalo", "esimgo"] as const)("%s: it is found in the end, and bought once", async (adapter) => {
    const shop = await supplyShop([adapter, otherThan(adapter)]);
    const { doubles, platform } = shop;
    // The order goes through; every look sees what was a minute and a half before.
    await doubles[adapter]?.steer({ on: "order", outcome: "lost" });
    await doubles[adapter]?.steer({ on: "query", outcome: "wait", count: 1_000, delay_ms: 90_000 });
    const began = platform.clock.now();
    const id = await shop.order();
    await shop.settle();
    expect(await shop.show(id)).toMatchObject({ status: "fulfilled" });
    expect(platform.clock.now() - began).toBeGreaterThanOrEqual(90_000);
    const outcomes = await expectBoughtAt(shop, adapter, 1);
    expect(outcomes.filter((one) => one === "unknown").length).toBeGreaterThan(3);
    expect(outcomes.at(-1)).toBe("activated");
  });

  test("esimaccess: it is found in the end, and bought once", async () => {
    const shop = await supplyShop(["esimaccess", "airalo"]);
    await shop.doubles.esimaccess?.steer({ on: "order", outcome: "lost" });
    await shop.doubles.esimaccess?.steer({ on: "query", outcome: "wait", count: 6 });
    const id = await shop.order();
    await shop.settle();
    expect(await shop.show(id)).toMatchObject({ status: "fulfilled" });
    expect((await expectBoughtAt(shop, "esimaccess", 1)).slice(0, 2)).toEqual(["unknown", "wait"]);
  });

  test.for(["airalo", "esimgo"] as const)(
    "%s: where no look-up gets an answer people decide within the hour, and it is not bought again",
    async (adapter) => {
      const shop = await supplyShop([adapter, "esimaccess"]);
      await shop.doubles[adapter]?.steer({ on: "order", outcome: "lost" });
      await shop.order();
      await shop.work();
      await shop.doubles[adapter]?.close();
      await shop.settle();
      await shop.doubles[adapter]?.reopen();
      const { orders } = await books(shop);
      expect(orders).toMatchObject([{ status: "waiting_review" }]);
      expect(orders[0]?.reason).toMatch(
        `it is not known whether ${adapter} has sold a unit: the provider could not be asked`,
      );
      expect(await shop.doubles[adapter]?.state()).toMatchObject({ bought: 1 });
      expect(await shop.doubles.esimaccess?.state()).toMatchObject({ bought: 0 });
    },
  );
});

describe("two answers that are lost, one after the other", () => {
  test.for(["esimaccess", "esimgo"] as const)("%s: of one unit: it is bought once", async (adapter) => {
    const shop = await supplyShop([adapter, "airalo"]);
    await shop.doubles[adapter]?.steer({ on: "order", outcome: "lost", count: 2 });
    const id = await shop.order();
    await shop.settle();
    expect(await shop.show(id)).toMatchObject({ status: "fulfilled" });
    expect((await expectBoughtAt(shop, adapter, 1)).filter((one) => one === "unknown")).not.toHaveLength(0);
  });

  test.for(["esimaccess", "airalo", "esimgo"] as const)("%s: of two units: each has its own", async (adapter) => {
    const shop = await supplyShop([adapter, otherThan(adapter)]);
    await shop.doubles[adapter]?.steer({ on: "order", outcome: "lost", count: 2 });
    const ids = [await shop.order(), await shop.order()];
    await shop.settle();
    for (const id of ids) expect(await shop.show(id)).toMatchObject({ status: "fulfilled" });
    await expectBoughtAt(shop, adapter, 2);
  });
});

describe("a price that rose since it was read", () => {
  /** A shop whose first source is 1/10,000 USD dearer than the last sync read. */
  async function risen(adapter: ProviderAdapter, others: ProviderAdapter[]) {
    const shop = await supplyShop([adapter, ...others]);
    const { supplierSku, cost } = plans[adapter];
    const read = { supplierSku, cost: cost - 1, days: null, currency: "USD" };
    const source = { sku: "JP1", supplier: adapter, priority: 1, ...read, actor: "test" };
    await shop.platform.store.write(addSource, source);
    return shop;
  }

  test.for(providerAdapters)("%s: the plan is refused, and the next source sells", async (adapter) => {
    const other = otherThan(adapter);
    const shop = await risen(adapter, [other]);
    const id = await shop.order();
    await shop.settle();
    expect(await shop.show(id)).toMatchObject({ status: "fulfilled" });
    await expectBoughtAt(shop, other, 1);
    const { items } = await books(shop);
    expect(items).toMatchObject([{ refused_by: [adapter], routed: `priority 2; ${adapter} refused` }]);
  });

  test.for(["airalo", "esimgo"] as const)("%s: the operator sees both costs, and partners none", async (adapter) => {
    const shop = await risen(adapter, []);
    const id = await shop.order();
    await shop.settle();
    const [now, before] = [plans[adapter].cost, plans[adapter].cost - 1].map((cost) => (cost / 10_000).toFixed(4));
    const { attempts, orders, items } = await books(shop);
    expect(attempts).toMatchObject([
      { outcome: "refused", answer: `price: it costs ${now} by now, and ${before} by its source: sync its catalog` },
    ]);
    expect(orders).toMatchObject([{ reason: "the supplier refused: The price is another one now." }]);
    expect(items).toMatchObject([{ error_message: "The price is another one now." }]);
    expect(JSON.stringify(await shop.show(id))).not.toContain(now);
  });

  test.for(providerAdapters)("%s: without another source the money goes back", async (adapter) => {
    const shop = await risen(adapter, []);
    const balance = await shop.balance();
    const id = await shop.order();
    await shop.settle();
    expect(await shop.show(id)).toMatchObject({ status: "failed" });
    expect(await shop.balance()).toBe(balance);
    expect(await shop.doubles[adapter]?.state()).toMatchObject({ bought: 0 });
  });
});

test("esimgo: what is bought and waits for its limit is no spare for another unit of the plan", async () => {
  const shop = await supplyShop(["esimgo"]);
  const { store, clock } = shop.platform;
  // Three calls are left of this second: the first unit is ordered into the inventory, and no call is left to take it.
  const limit = { bucket: "account", most: 10, windowMs: 1_000 };
  await store.write(takeTurn, { supplier: "esimgo", limit, cost: 7 });
  const ids = [await shop.order()];
  await shop.work();
  expect(await shop.doubles.esimgo?.state()).toMatchObject({ bought: 1 });
  clock.advance(500);
  ids.push(await shop.order());
  await shop.settle();
  for (const id of ids) expect(await shop.show(id)).toMatchObject({ status: "fulfilled" });
  await expectBoughtAt(shop, "esimgo", 2);
});
