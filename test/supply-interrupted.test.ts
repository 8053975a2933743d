import { expect, test } from "vitest";
import { providerAdapters } from "../src/core/store/schema/values.ts";
import { noteStep } from "../src/core/supplier-requests/apply-step.ts";
import { claimItems } from "../src/core/supplier-requests/due.ts";
import { plans, type SupplyShop, supplyShop } from "./support/supply.ts";

const LEASE_MS = 120_000;

/** What is held, and how each item is. */
function rows({ platform: { store } }: SupplyShop) {
  return store.read(
    async (q) => ({
      holds: await q.db.select().from(q.t.supplierHolds),
      items: await q.db.select().from(q.t.orderItems),
    }),
    null,
  );
}

/** An order whose worker holds the plan at eSIM Go, and dies while it reads the inventory or the price. */
async function cutOff(shop: SupplyShop): Promise<string> {
  const { store } = shop.platform;
  const id = await shop.order();
  await shop.platform.fulfill();
  const [claimed] = await store.write(claimItems, { supplier: "esimgo", room: 1 });
  if (claimed === undefined) throw new Error("nothing is due");
  const hold = plans.esimgo.supplierSku;
  expect(await store.write(noteStep, { lease: claimed.lease, probe: null, memory: null, hold })).toBe(true);
  expect((await rows(shop)).holds).toMatchObject([{ supplier: "esimgo", plan: hold, holder: claimed.item.id }]);
  return id;
}

test("esimgo: a process that dies before the order leaves a unit that goes on by itself", async () => {
  const shop = await supplyShop(["esimgo"]);
  const id = await cutOff(shop);
  shop.platform.clock.advance(LEASE_MS);
  await shop.settle();
  expect(await shop.show(id)).toMatchObject({ status: "fulfilled" });
  expect(await shop.doubles.esimgo?.state()).toMatchObject({ bought: 1 });
  expect((await rows(shop)).holds).toEqual([]);
});

test("esimgo: one that it cannot buy there any more is bought elsewhere, and holds nothing", async () => {
  const shop = await supplyShop(["esimgo", "airalo"]);
  const id = await cutOff(shop);
  await shop.doubles.esimgo?.close();
  shop.platform.clock.advance(LEASE_MS);
  await shop.settle();
  expect(await shop.show(id)).toMatchObject({ status: "fulfilled" });
  const { holds, items } = await rows(shop);
  expect(items).toMatchObject([{ supplier: "airalo", routed: "priority 2; esimgo not reached" }]);
  expect(holds).toEqual([]);
});

test.for(providerAdapters)("%s: without an answer to anything no unit is taken for bought", async (adapter) => {
  const other = adapter === "airalo" ? "esimaccess" : "airalo";
  const shop = await supplyShop([adapter, other]);
  await shop.doubles[adapter]?.close();
  const ids = [await shop.order(), await shop.order()];
  await shop.settle();
  for (const id of ids) expect(await shop.show(id)).toMatchObject({ status: "fulfilled" });
  expect((await rows(shop)).items.map(({ supplier }) => supplier)).toEqual([other, other]);
});
