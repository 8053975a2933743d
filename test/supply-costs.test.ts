import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { OrderId } from "../src/core/kernel/brand.ts";
import { fulfillStep } from "../src/core/orders/fulfill.ts";
import { orderInside } from "../src/core/supplier-requests/order-inside.ts";
import { keepBalance } from "../src/core/supply/balance.ts";
import { addSource, removeSource } from "../src/core/supply/sources.ts";
import { addProducts, addStock, suppliedProducts } from "./support/catalog.ts";
import { deskOf } from "./support/desk.ts";
import { type Platform, startPlatform } from "./support/platform.ts";
import { temporaryDirectory } from "./support/store.ts";
import { placeOrder, suppliedEsim } from "./support/supplies.ts";
import { plans, supplyShop } from "./support/supply.ts";

/** Every posting of costs, in the order of time. */
function postings({ store }: Platform) {
  return store.read(async (q) => {
    const rows = await q.db.select().from(q.t.costs).orderBy(q.t.costs.created_at, q.t.costs.id);
    return rows.map(({ kind, account, units, currency, cost, cost_cents }) => {
      return { kind, account, units, currency, cost, cost_cents };
    });
  }, null);
}

async function shop() {
  const platform = await startPlatform();
  const desk = deskOf(platform);
  const live = await platform.caller({ slug: "acme", live: true });
  await platform.fund(live.partnerId, 1_000_000);
  const ids = await addProducts(platform.store, [{ sku: "EU5", price_cents: 100 }]);
  return { platform, desk, live, ids };
}

test("stock that cost something posts that as it is sold, the units of a line at once", async () => {
  const { platform, desk, live, ids } = await shop();
  const { store } = platform;
  await addStock(store, "EU5", 12);
  await placeOrder(live, ids.EU5, 1);
  await platform.fulfill();
  // It is not known what it cost.
  expect(await postings(platform)).toEqual([]);
  expect(await desk.json("products update EU5 --cost 1.2345 --cost-currency usd")).toMatchObject({
    ...{ cost: "1.2345", cost_currency: "USD", held: null },
  });
  await placeOrder(live, ids.EU5, 3);
  const one = { kind: "purchase", account: "house:stock", currency: "USD" };
  expect(await postings(platform)).toEqual([{ ...one, units: 3, cost: 37_035, cost_cents: 370 }]);
  // What the product costs now is not what was ordered before.
  await desk.json("products update EU5 --cost none");
  await placeOrder(live, ids.EU5, 1);
  expect(await postings(platform)).toHaveLength(1);
  expect((await live.get(`/api/v1/products/${ids.EU5}`)).body).not.toHaveProperty("cost");
  expect((await desk.json("suppliers owed --month 2026-03")).data).toEqual([]);
});

test("a large order posts in steps, and what goes back into stock is taken back", async () => {
  const { platform, desk, live, ids } = await shop();
  const { store } = platform;
  await addStock(store, "EU5", 1_200);
  await desk.json("products update EU5 --cost 0.50");
  const total = async () => {
    const all = await postings(platform);
    return [all.reduce((sum, { cost }) => sum + cost, 0), all.length];
  };
  await placeOrder(live, ids.EU5, 600);
  await platform.fulfill();
  expect(await total()).toEqual([600 * 5_000, 2]);
  const cancelled = await placeOrder(live, ids.EU5, 600);
  expect(await store.write(fulfillStep, cancelled as OrderId)).toBe("more"); // it is the id of an order
  expect(await total()).toEqual([1_100 * 5_000, 3]);
  await desk.json(`orders cancel ${cancelled} --reason "not wanted" --yes`);
  expect(await total()).toEqual([600 * 5_000, 4]);
  expect((await postings(platform)).at(-1)).toMatchObject({ kind: "refund", units: 500, cost: -500 * 5_000 });
});

test("each import has its own cost, which goes before the product's", async () => {
  const { platform, desk, live, ids } = await shop();
  const file = join(temporaryDirectory(), "esims.csv");
  const rows = [1, 2].map((serial) => Object.values(suppliedEsim(serial)).join(","));
  writeFileSync(file, `iccid,activation_code\n${rows.join("\n")}\n`);
  await desk.json(`stock import ${file} --sku EU5 --cost 0.9 --cost-currency EUR`);
  await addStock(platform.store, "EU5", 1);
  await desk.json("products update EU5 --cost 2");
  await placeOrder(live, ids.EU5, 3);
  expect((await postings(platform)).toSorted((a, b) => a.cost - b.cost)).toMatchObject([
    { account: "house:stock", units: 2, currency: "EUR", cost: 18_000, cost_cents: 180 },
    { account: "house:stock", units: 1, currency: "AUD", cost: 20_000, cost_cents: 200 },
  ]);
  const wrong = await desk.refusal(`stock import ${file} --sku EU5 --cost-currency EUR`);
  expect(wrong).toMatchObject({ exitCode: 2 });
});

test("what suppliers without an API deliver costs what its product cost, and is owed by the month", async () => {
  const { platform, desk, live } = await shop();
  const { store } = platform;
  const ids = await addProducts(store, suppliedProducts);
  await desk.json("suppliers set northwind --adapter http --url http://127.0.0.1:9/x --secret sixteen-characters");
  await desk.json("products update API --cost 0.4 --cost-currency USD");
  const id = await placeOrder(live, ids.API, 1);
  await platform.fulfill();
  const [item] = (await desk.json(`orders show ${id}`)).items;
  expect(item).toMatchObject({ supplier: "northwind", supplier_sku: null, cost: "0.4000", cost_currency: "USD" });
  const { iccid, activation_code } = suppliedEsim(7);
  await desk.json(`activations complete ${item.item_id} --iccid ${iccid} --activation-code ${activation_code}`);
  expect(await postings(platform)).toEqual([
    { kind: "purchase", account: "supplier:northwind", units: 1, currency: "USD", cost: 4_000, cost_cents: 40 },
  ]);
  const month = new Date().toISOString().slice(0, 7);
  expect(await desk.json(`suppliers owed --month ${month}`)).toEqual({
    data: [{ supplier: "northwind", currency: "USD", units: 1, cost: "0.4000", cost_cents: 40 }],
    count: 1,
  });
  expect((await desk.json("suppliers owed --month 2020-01")).count).toBe(0);
  expect((await desk.refusal("suppliers owed --month 2026-13")).exitCode).toBe(2);
});

test("the cost of a product with sources is theirs", async () => {
  const { platform, desk } = await shop();
  await addProducts(platform.store, suppliedProducts);
  await desk.json("suppliers set ea --adapter esimaccess --secret A:B");
  await desk.json("sources add API --supplier ea --supplier-sku P1 --priority 1 --cost 1 --currency USD");
  expect((await desk.refusal("products update API --cost 2")).message).toContain("sources add API");
  expect((await desk.refusal("products update EU5 --cost 1 --cost-currency NOPE")).message).toContain("ISO 4217");
  expect(await desk.refusal("products update EU5 --cost-currency USD")).toMatchObject({ exitCode: 2 });
});

test("a source without a cost has that of the plan's last sync; another plan's never counts for it", async () => {
  const shop = await supplyShop(["esimaccess", "airalo", "esimgo"]);
  const { store } = shop.platform;
  const add = (supplier: "airalo" | "esimgo", sku = "JP1") =>
    store.write(addSource, {
      ...{ sku, supplier, supplierSku: plans[supplier].supplierSku, priority: 2, days: null },
      ...{ cost: null, currency: null, actor: "test" },
    });
  const remove = (supplier: string) => store.write(removeSource, { sku: "JP1", supplier, actor: "test" });
  await addProducts(store, [
    { sku: "JP2", status: "inactive", product_type: "esim_qr_api", delivery_method: "supplier_api" },
  ]);
  expect(await add("airalo", "JP2")).toMatchObject({ cost: "3.6000", currency: "USD" });
  await store.write(removeSource, { sku: "JP2", supplier: "airalo", actor: "test" });
  for (const supplier of ["airalo", "esimgo"] as const) {
    await remove(supplier);
    expect(await add(supplier)).toMatchObject({ cost: null, currency: null });
  }

  // What the provider says that it took is posted in the currency of its account.
  await store.write(keepBalance, { supplier: "airalo", balance: 9_000_000, currency: "USD" });
  await shop.doubles.esimaccess?.steer({ on: "order", outcome: "refuse" });
  await shop.order();
  await shop.settle();
  // Whose account's currency is not known has no cost, and not that of the product's first source.
  await remove("airalo");
  await shop.doubles.esimaccess?.steer({ on: "order", outcome: "refuse" });
  const id = await shop.order();
  await shop.settle();
  const costs = await store.read(async (q) => q.db.select().from(q.t.costs), null);
  expect(costs).toMatchObject([{ supplier: "airalo", cost: 36_000, currency: "USD" }]);
  const { items } = await store.read(orderInside, id as OrderId);
  expect(items).toMatchObject([{ supplier: "esimgo", cost: null, cost_currency: null }]);
});
