import { expect, test } from "vitest";
import type { OrderId } from "../src/core/kernel/brand.ts";
import { cancelOrder } from "../src/core/orders/cancel.ts";
import type { ProviderAdapter } from "../src/core/store/schema/values.ts";
import { onPostgres } from "./support/store.ts";
import { type SupplyShop, supplyShop } from "./support/supply.ts";

/** How each unit is, in the order in which they were placed. */
async function items({ platform: { store } }: SupplyShop) {
  const rows = await store.read(async (q) => q.db.select().from(q.t.orderItems), null);
  return rows
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ supplier, status, routed }) => ({ supplier, status, routed }));
}

/** A shop with a unit of eSIM Go whose order is lost, and is shown by no list for ten minutes; its order's id. */
async function uncertain(adapters: ProviderAdapter[]): Promise<{ shop: SupplyShop; first: string }> {
  const shop = await supplyShop(adapters);
  await shop.doubles.esimgo?.steer({ on: "order", outcome: "lost" });
  await shop.doubles.esimgo?.steer({ on: "query", outcome: "wait", count: 1_000, delay_ms: 600_000 });
  const first = await shop.order();
  await shop.settle(1_000);
  return { shop, first };
}

test("a unit waits ten seconds for a held plan, then it is bought at the next source", async () => {
  const { shop, first } = await uncertain(["esimgo", "airalo"]);
  const began = shop.platform.clock.now();
  const second = await shop.order();
  await shop.settle(8_000);
  expect((await shop.show(second)).status).toBe("paid");
  expect(await shop.doubles.airalo?.state()).toMatchObject({ bought: 0 });
  await shop.settle(4_000);
  expect(shop.platform.clock.now() - began).toBeLessThan(13_000);
  expect((await shop.show(second)).status).toBe("fulfilled");
  // What comes later does not wait at all.
  const third = await shop.order();
  await shop.settle(100);
  expect((await shop.show(third)).status).toBe("fulfilled");
  // The one that may be bought is not bought elsewhere.
  expect((await shop.show(first)).status).toBe("paid");
  const moved = { supplier: "airalo", routed: "priority 2; esimgo held by another unit of the plan" };
  expect(await items(shop)).toMatchObject([{ supplier: "esimgo" }, moved, moved]);
  await shop.settle();
  expect((await shop.show(first)).status).toBe("fulfilled");
  expect(await shop.doubles.esimgo?.state()).toMatchObject({ bought: 1 });
  expect(await shop.doubles.airalo?.state()).toMatchObject({ bought: 2 });
});

// That a hold is taken and given up is shown on both engines; how long one is waited for, whatever the engine, on one.
test.skipIf(onPostgres)(
  "where there is no other source, or none that can be asked, the unit waits on",
  { tags: ["slow"] },
  async () => {
    for (const others of [[], ["airalo"]] satisfies ProviderAdapter[][]) {
      const { shop, first } = await uncertain(["esimgo", ...others]);
      if (others.length > 0) await shop.doubles.airalo?.close();
      const second = await shop.order();
      await shop.settle(60_000);
      expect((await shop.show(second)).status).toBe("paid");
      expect(await shop.doubles.esimgo?.state()).toMatchObject({ bought: 1 });
      await shop.settle();
      for (const id of [first, second]) expect((await shop.show(id)).status).toBe("fulfilled");
      expect((await items(shop)).map(({ supplier }) => supplier)).toEqual(["esimgo", "esimgo"]);
      expect(await shop.doubles.esimgo?.state()).toMatchObject({ bought: 2 });
    }
  },
);

test("an order that ends meanwhile holds nothing any more", async () => {
  const { shop, first } = await uncertain(["esimgo"]);
  const second = await shop.order();
  await shop.settle(30_000);
  expect((await shop.show(second)).status).toBe("paid");
  const id = first as OrderId; // an order's
  await shop.platform.store.write(cancelOrder, { id, reason: "not wanted", actor: "test" });
  await shop.doubles.esimgo?.release();
  await shop.settle(10_000);
  expect((await shop.show(second)).status).toBe("fulfilled");
});

test.skipIf(onPostgres)(
  "units that wait for one plan look ever more seldom, and are all bought in the end",
  async () => {
    const { shop } = await uncertain(["esimgo"]);
    for (let unit = 0; unit < 10; unit++) await shop.order();
    await shop.settle(60_000);
    const rows = await shop.platform.store.read(async (q) => q.db.select().from(q.t.orderItems), null);
    // Each second they would have looked 600 times.
    expect(rows.reduce((sum, { lease_no }) => sum + lease_no, 0)).toBeLessThan(150);
    await shop.settle();
    expect((await items(shop)).map(({ status }) => status)).toEqual(Array(11).fill("activated"));
    expect(await shop.doubles.esimgo?.state()).toMatchObject({ bought: 11 });
  },
);
