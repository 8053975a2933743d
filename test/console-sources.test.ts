import { expect, test } from "vitest";
import { listAudit } from "../src/core/audit/list.ts";
import { findProductBySku } from "../src/core/catalog/product.ts";
import type { ProductId } from "../src/core/kernel/brand.ts";
import { setSupplier } from "../src/core/suppliers/set.ts";
import { openCircuit } from "../src/core/supply/circuit.ts";
import { addSource, listSources, putSource, sourcesOf } from "../src/core/supply/sources.ts";
import { addProducts } from "./support/catalog.ts";
import { person, startPages } from "./support/pages.ts";
import { listed, rule } from "./support/price-lists.ts";
import { csrfOf } from "./support/visitor.ts";

/** A product that is sold by two providers, bought from ea alone, in a list with a markup of half of its cost. */
async function shop() {
  const platform = await startPages();
  const { store } = platform;
  for (const name of ["ea", "two"]) {
    const settings = { adapter: "esimaccess", url: "http://127.0.0.1:9/", secret: "CODE:KEY" } as const;
    await store.write(setSupplier, { name, settings, actor: "test" });
  }
  await store.write(setSupplier, {
    ...{ name: "kestrel", settings: { adapter: "email", to: "orders@kestrel.example" }, actor: "test" },
  });
  const own = { product_type: "esim_qr_api", delivery_method: "supplier_api", supplier: "ea" } as const;
  const ids = await addProducts(store, [{ sku: "JP", currency: "USD", price_cents: 300, ...own }, { sku: "STOCKED" }]);
  const ea = { supplier: "ea", supplierSku: "CJP101", priority: 2, days: null, cost: 7_000, currency: "USD" };
  await store.write(addSource, { sku: "JP", ...ea, actor: "test" });
  await rule(store, "gold", { sku: "JP", markup: "50" });
  const caller = await platform.caller({ slug: "acme" });
  await listed(platform, "acme", "gold");
  const admin = await person(platform, { role: "admin" });
  return {
    ...{ platform, store, admin, at: `/console/catalog/${ids.JP}`, stocked: `/console/catalog/${ids.STOCKED}` },
    id: ids.JP as ProductId, // it was added above
    sources: () => store.read(listSources, { sku: "JP" }),
    price: async () => {
      const { body } = await caller.get("/api/v1/products");
      return body.data.find(({ sku }: { sku: string }) => sku === "JP").price_cents;
    },
  };
}

test("a source is added, once it was shown, and is bought first; the price by a markup follows its cost", async () => {
  const { store, admin, at, id, sources, price } = await shop();
  const page = await admin.get(at);
  expect(page.text).toContain("A unit is bought at the source with the lowest priority that can be asked");
  expect(page.text).toContain("2eaCJP101–0.7000 USDactiveclosed");
  expect(page.page.querySelector('select[name="supplier"]')?.text).toBe("eatwo");
  expect(await price()).toBe(105);
  const typed = { supplier: "two", supplier_sku: "DJP1", days: "7", priority: "1", cost: "0.5", currency: "usd" };
  const asked = await admin.send(page, typed, "/sources");
  expect(asked.text).toContain("Buy JP from two?");
  expect(asked.text).toContain("Priority–1Cost–0.5000 USD");
  expect(asked.text).toContain("Units of the product are bought there from the next one on, as its priority says.");
  expect(await sources()).toHaveLength(1);
  const done = await admin.send(asked, {}, "/sources");
  expect([done.path, done.text]).toEqual([at, expect.stringContaining("JP is bought from two at priority 1.")]);
  expect(done.text).toMatch(/1twoDJP17 ?0\.5000 USDactiveclosed2eaCJP101/);
  expect(await price()).toBe(75);
  // Sent once more, it is the same source.
  await admin.send(asked, {}, "/sources");
  expect((await sources()).map(({ supplier, priority }) => [supplier, priority])).toEqual([
    ["two", 1],
    ["ea", 2],
  ]);
  expect(await store.read(listAudit, { target: id, limit: 1 })).toMatchObject([
    { action: "sources.add", actor: `user:${admin.id}`, note: "two: DJP1" },
  ]);
});

test("a source gets another priority: its cost stays, and a plan that is gone is asked again", async () => {
  const { store, admin, at, id, sources } = await shop();
  await store.write(openCircuit, { supplier: "ea", reason: "its balance is low", forMs: null });
  expect((await admin.get(at)).text).toContain("open: its balance is low");
  const page = await admin.get(`${at}/sources/ea`);
  const asked = await admin.send(page, { priority: "5" }, "/sources/ea");
  expect(asked.text).toContain("Priority25Cost0.7000 USD0.7000 USDStateactiveactive");
  const done = await admin.send(asked, {}, "/sources/ea");
  expect([done.path, done.text]).toEqual([at, expect.stringContaining("JP is bought from ea at priority 5.")]);
  expect(await sources()).toMatchObject([{ supplier: "ea", supplier_sku: "CJP101", priority: 5, cost: "0.7000" }]);
  const [row] = await store.read(sourcesOf, id);
  if (row === undefined) throw new Error("no source");
  await store.write(putSource, { ...row, status: "gone" });
  const gone = await admin.get(`${at}/sources/ea`);
  expect((await admin.send(gone, { priority: "5" }, "/sources/ea")).text).toContain("Stategoneactive");
});

test("what is wrong with a source is said beside its field", async () => {
  const { admin, at, stocked, sources } = await shop();
  const page = await admin.get(at);
  const good = { supplier: "two", supplier_sku: "DJP1", priority: "1" };
  for (const [typed, words] of [
    [{ supplier_sku: "" }, "Plan is required"],
    [{ priority: "0" }, "Priority must be a whole number from 1 to 1,000"],
    [{ priority: "first" }, "Priority must be a whole number"],
    [{ days: "400" }, "Days must be a whole number from 1 to 365"],
    [{ cost: "1,5" }, "Cost of a unit must be a plain decimal"],
    [{ cost: "1.5" }, "Cost of a unit needs its currency"],
    [{ cost: "1.5", currency: "MOON" }, "Currency of the cost must be an ISO 4217 code"],
    [{ supplier: "kestrel" }, "Supplier must speak a provider's API"],
  ] as const) {
    const refused = await admin.send(page, { ...good, ...typed }, "/sources");
    const errors = refused.page.querySelectorAll(".field .error").map(({ text }) => text);
    expect([refused.status, errors]).toEqual([400, [expect.stringContaining(words)]]);
    expect(refused.page.querySelector("details")?.getAttribute("open")).toBeDefined();
  }
  const change = await admin.send(await admin.get(`${at}/sources/ea`), { priority: "" }, "/sources/ea");
  expect([change.status, change.text]).toEqual([400, expect.stringContaining("Priority is required")]);
  expect(await sources()).toHaveLength(1);
  expect((await admin.get(stocked)).text).not.toContain("Sources");
  expect((await admin.get(`${at}/sources/two`)).status).toBe(404);
});

test("a source is removed, but the last one of a product on sale is not", async () => {
  const { store, admin, at, sources } = await shop();
  const page = await admin.get(`${at}/sources/ea`);
  const last = await admin.send(page, {}, "/remove");
  expect([last.status, last.text]).toEqual([409, expect.stringContaining("JP is on sale and has no other source")]);
  const two = { supplier: "two", supplierSku: "DJP1", priority: 1, days: null, cost: 5_000, currency: "USD" };
  await store.write(addSource, { sku: "JP", ...two, actor: "test" });
  const asked = await admin.send(page, {}, "/remove");
  expect(asked.text).toContain("Buy no more JP from ea?");
  expect(asked.text).toContain("what is under way stays. Left: two.");
  expect(await sources()).toHaveLength(2);
  const done = await admin.send(asked, {}, "/remove");
  expect([done.path, done.text]).toEqual([at, expect.stringContaining("No more JP is bought from ea.")]);
  expect(await sources()).toMatchObject([{ supplier: "two" }]);
  expect(await store.read(findProductBySku, "JP")).toMatchObject({ supplier: "two", cost: 5_000 });
  expect((await admin.send(asked, {}, "/remove")).status).toBe(404);
});

test("other roles see the sources, and change none", async () => {
  const { platform, at, sources } = await shop();
  for (const role of ["support", "finance", "viewer"] as const) {
    const who = await person(platform, { role });
    const page = await who.get(at);
    expect(page.text).toContain("2eaCJP101–0.7000 USDactiveclosed");
    expect(page.page.querySelector('[name="supplier_sku"]')).toBeNull();
    expect((await who.get(`${at}/sources/ea`)).status).toBe(403);
    const csrf = csrfOf(await who.get(at));
    for (const path of [`${at}/sources`, `${at}/sources/ea`, `${at}/sources/ea/remove`]) {
      const typed = { supplier: "ea", supplier_sku: "X", priority: "1", confirmed: "yes" };
      expect((await who.post(path, { ...csrf, ...typed }, { origin: platform.url })).status).toBe(403);
    }
  }
  expect(await sources()).toMatchObject([{ supplier_sku: "CJP101", priority: 2 }]);
});
