import { expect, test } from "vitest";
import { currentConditions } from "../src/core/alerts/conditions.ts";
import { listAudit } from "../src/core/audit/list.ts";
import { providerAdapters } from "../src/core/store/schema/values.ts";
import { setSupplier } from "../src/core/suppliers/set.ts";
import { circuits } from "../src/core/supply/circuit.ts";
import { checkWallets } from "../src/core/wallet/check.ts";
import { type SupplyShop, supplyShop } from "./support/supply.ts";

/** The costs that were posted, and the items with where they were bought. */
async function books({ platform: { store } }: SupplyShop) {
  return store.read(
    async (q) => ({
      costs: await q.db.select().from(q.t.costs),
      items: await q.db.select().from(q.t.orderItems),
      attempts: await q.db.select().from(q.t.itemAttempts),
      orders: await q.db.select().from(q.t.orders),
      esims: await q.db.select().from(q.t.esims),
    }),
    null,
  );
}

test.for(providerAdapters)("%s: a unit is bought, costs once, and is the partner's", async (adapter) => {
  const shop = await supplyShop([adapter]);
  const id = await shop.order(3);
  await shop.settle();
  expect(await shop.show(id)).toMatchObject({ status: "fulfilled" });
  const { costs, items, esims } = await books(shop);
  expect(costs).toHaveLength(3);
  expect(new Set(costs.map(({ account, currency }) => `${account} ${currency}`))).toEqual(
    new Set([`supplier:${adapter} USD`]),
  );
  expect(items.map(({ supplier, status, routed }) => [supplier, status, routed])).toEqual(
    Array.from({ length: 3 }, () => [adapter, "activated", "priority 1"]),
  );
  expect(esims.map(({ supplier }) => supplier)).toEqual([adapter, adapter, adapter]);
  expect(await shop.doubles[adapter]?.state()).toMatchObject({ bought: 3 });
});

test("a definite refusal goes to the next source; without one the order fails with its money back", async () => {
  const shop = await supplyShop(["esimaccess", "airalo"]);
  await shop.doubles.esimaccess?.steer({ on: "order", outcome: "refuse" });
  const before = await shop.balance();
  const id = await shop.order();
  await shop.settle();
  expect(await shop.show(id)).toMatchObject({ status: "fulfilled" });
  const { items } = await books(shop);
  expect(items).toMatchObject([{ supplier: "airalo", refused_by: ["esimaccess"] }]);
  expect(items[0]?.routed).toBe("priority 2; esimaccess refused");
  expect(await shop.balance()).toBe(before - 1_000);

  await shop.doubles.esimaccess?.steer({ on: "order", outcome: "refuse" });
  await shop.doubles.airalo?.steer({ on: "order", outcome: "refuse" });
  const refused = await shop.order();
  await shop.settle();
  expect(await shop.show(refused)).toMatchObject({ status: "failed" });
  expect(await shop.balance()).toBe(before - 1_000);
  expect((await shop.platform.store.read(checkWallets, { minimum: () => null })).ok).toBe(true);
});

test("a refusal of the operator's account shows the operator why, and its partner nothing of it", async () => {
  const shop = await supplyShop(["esimaccess"]);
  const { store } = shop.platform;
  const settings = { adapter: "esimaccess", url: shop.doubles.esimaccess?.url ?? "", secret: "DEMO:other" } as const;
  await store.write(setSupplier, { name: "esimaccess", settings, actor: "test" });
  const id = await shop.order();
  await shop.settle();
  const { items, attempts, orders } = await books(shop);
  expect(attempts).toMatchObject([
    { outcome: "refused", answer: expect.stringMatching(/^\d{6}: .*(signature|access)/i) },
  ]);
  expect(orders).toMatchObject([{ status: "failed", reason: "the supplier refused: It cannot be bought at present." }]);
  expect(items).toMatchObject([{ error_type: "not_available", error_message: "It cannot be bought at present." }]);
  expect((await shop.show(id)).status).toBe("failed");
});

test.for(providerAdapters)(
  "%s: after a lost answer the purchase is found, and never made elsewhere",
  async (adapter) => {
    const other = adapter === "airalo" ? "esimaccess" : "airalo";
    const shop = await supplyShop([adapter, other]);
    await shop.doubles[adapter]?.steer({ on: "order", outcome: "lost" });
    const id = await shop.order();
    await shop.settle();
    expect(await shop.show(id)).toMatchObject({ status: "fulfilled" });
    expect(await shop.doubles[adapter]?.state()).toMatchObject({ bought: 1 });
    expect(await shop.doubles[other]?.state()).toMatchObject({ bought: 0 });
    expect((await books(shop)).costs).toHaveLength(1);
  },
);

test.for(providerAdapters)(
  "%s: an unknown outcome without a trace waits for people, and is not bought again",
  async (adapter) => {
    const other = adapter === "airalo" ? "esimaccess" : "airalo";
    const shop = await supplyShop([adapter, other]);
    await shop.doubles[adapter]?.steer({ on: "order", outcome: "busy", count: 1_000 });
    const id = await shop.order();
    await shop.settle(6 * 3_600_000);
    // Same transaction id again is safe at eSIM Access; the others never say that nothing was bought.
    expect((await shop.show(id)).status).toMatch(/^(waiting_review|paid)$/);
    expect(await shop.doubles[other]?.state()).toMatchObject({ bought: 0 });
    expect((await shop.doubles[adapter]?.state())?.bought).toBe(0);
  },
);

test("five faults in a row open the circuit; the next source sells, and one unit probes it later", async () => {
  const shop = await supplyShop(["esimaccess", "airalo"]);
  const { store, clock } = shop.platform;
  await shop.doubles.esimaccess?.close();
  const down = await Promise.all(Array.from({ length: 6 }, () => shop.order()));
  await shop.settle();
  for (const id of down) expect(await shop.show(id)).toMatchObject({ status: "fulfilled" });
  const open = await store.read(circuits, null);
  expect(open).toMatchObject([
    { name: "airalo", circuit: "closed" },
    { name: "esimaccess", circuit: "open" },
  ]);
  expect(open[1]?.reason).toMatch(/faults in a row: no connection/);
  const { items } = await books(shop);
  expect(items.every(({ supplier }) => supplier === "airalo")).toBe(true);
  clock.advance(600_000);
  const probing = await shop.order();
  await shop.settle();
  expect(await shop.show(probing)).toMatchObject({ status: "fulfilled" });
  const history = await store.read(listAudit, { target: "esimaccess", limit: 10 });
  expect(history.filter(({ action }) => action === "suppliers.circuit").map(({ changes }) => changes?.[0]?.to)).toEqual(
    ["open", "half_open", "open"],
  );
});

test("of an order with several units one that is refused ends nothing while another is under way", async () => {
  const shop = await supplyShop(["esimaccess"]);
  await shop.doubles.esimaccess?.steer({ on: "order", outcome: "refuse", count: 1 });
  const before = await shop.balance();
  const id = await shop.order(4);
  await shop.settle();
  const { costs, items } = await books(shop);
  const { bought } = (await shop.doubles.esimaccess?.state()) ?? { bought: -1 };
  expect(costs).toHaveLength(bought);
  const delivered = items.filter(({ status }) => status === "activated").length;
  expect(delivered).toBe(bought);
  const { status } = await shop.show(id);
  // What was bought before the refusal is delivered, and people decide; if nothing was, it fails with its money back.
  expect(status).toBe(delivered > 0 ? "waiting_review" : "failed");
  expect(await shop.balance()).toBe(delivered > 0 ? before - 4_000 : before);
});

test("an account that cannot buy opens its circuit at once, is alerted of, and the next source sells", async () => {
  const shop = await supplyShop(["esimaccess", "airalo"]);
  const { store, clock } = shop.platform;
  const settings = { secret: "DEMOACCESS:another-key" };
  await store.write(setSupplier, { name: "esimaccess", settings, actor: "test" });
  const id = await shop.order();
  await shop.settle();
  expect(await shop.show(id)).toMatchObject({ status: "fulfilled" });
  expect((await books(shop)).items).toMatchObject([{ supplier: "airalo", refused_by: ["esimaccess"] }]);
  expect(await store.read(circuits, null)).toMatchObject([{ circuit: "closed" }, { circuit: "open" }]);
  clock.advance(31_000);
  const view = { host: "alpha", own: [], knowsCron: false };
  const failing = (await store.read(currentConditions, view)).filter(({ kind }) => kind === "supplier.failing");
  expect(failing).toMatchObject([{ subject: "esimaccess", detail: expect.stringMatching(/^nothing is bought there/) }]);
});

test.for(providerAdapters)("%s: more units than a second's limit allows are all bought, each once", async (adapter) => {
  const shop = await supplyShop([adapter]);
  const id = await shop.order(24);
  await shop.settle();
  expect(await shop.show(id)).toMatchObject({ status: "fulfilled" });
  expect((await books(shop)).costs).toHaveLength(24);
  expect(await shop.doubles[adapter]?.state()).toMatchObject({ bought: 24 });
});
