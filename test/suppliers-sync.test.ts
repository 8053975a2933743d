import { expect, test } from "vitest";
import { announceChanges } from "../src/core/catalog/announce.ts";
import { findProductBySku } from "../src/core/catalog/product.ts";
import type { ProductId } from "../src/core/kernel/brand.ts";
import { newId } from "../src/core/kernel/ids.ts";
import { insert } from "../src/core/store/rows.ts";
import { listSources, sourcesOf } from "../src/core/supply/sources.ts";
import { addProducts } from "./support/catalog.ts";
import { addRate } from "./support/rates.ts";
import { type SupplierDesk, supplierDesk } from "./support/supplier-desk.ts";

const NOTHING = { added: 0, updated: 0, deactivated: 0, held: 0, changes: [] };

const product = ({ platform }: SupplierDesk, sku: string) => platform.store.read(findProductBySku, sku);

/** Every row that a sync may change, as it is stored. */
async function stored({ platform }: SupplierDesk) {
  return platform.store.read(async (q) => {
    const products = await q.db.select().from(q.t.products).orderBy(q.t.products.sku);
    const sources = await q.db.select().from(q.t.productSources).orderBy(q.t.productSources.product_id);
    return { products, sources, audit: (await q.db.select().from(q.t.auditEntries)).length };
  }, null);
}

test("the first sync needs its markup; a dry run shows what it does, and does nothing", async () => {
  const here = await supplierDesk();
  const { desk } = here;
  expect((await desk.refusal("suppliers sync ea --dry-run")).message).toContain("first sync");
  expect(await desk.refusal("suppliers sync ea --markup 35%")).toMatchObject({ exitCode: expect.any(Number) });
  const before = await stored(here);
  const dry = await desk.json("suppliers sync ea --markup 35 --prefix EA- --dry-run");
  expect(await stored(here)).toEqual(before);
  const done = await desk.json("suppliers sync ea --markup 35 --prefix EA-");
  expect(done).toEqual(dry);
  // 14 plans with days of their own, and a daily one for seven numbers of days.
  expect(done).toMatchObject({ read: 15, added: 21, updated: 0, unchanged: 0, deactivated: 0, held: 0 });
  expect(done.changes).toContainEqual({
    sku: "EA-CJP101",
    supplier_sku: "CJP101",
    field: "cost",
    from: null,
    to: "0.7000",
    currency: "USD",
  });
  expect(await product(here, "EA-CJP101")).toMatchObject({
    ...{ name: "Japan 1GB 7Days", region: "Japan", coverage: ["JP"], data_amount_mb: 1024, validity_days: 7 },
    ...{ price_cents: 95, currency: "USD", status: "active", type: "data_only", network_type: "3G/4G/5G" },
    ...{ product_type: "esim_qr_api", delivery_method: "supplier_api", supplier: "ea", sourced: true },
    ...{ cost: 7_000, cost_currency: "USD", held: null },
  });
  expect((await product(here, "EA-CJP101"))?.features).toContain("Networks: KDDI, SoftBank");
  expect(await product(here, "EA-REU601")).toMatchObject({ region: "EU-6", coverage: expect.arrayContaining(["FR"]) });
  // A daily plan is sold by its days: 7 × 0.65, 7 GB in all.
  expect(await product(here, "EA-DJP1-7")).toMatchObject({
    ...{ cost: 45_500, price_cents: 614, validity_days: 7, data_amount_mb: 7 * 1024 },
    features: expect.arrayContaining(["1 GB a day"]),
  });
  expect(await desk.json("sources list EA-DJP1-7")).toMatchObject({
    data: [{ supplier: "ea", supplier_sku: "DJP1", days: 7, priority: 1, cost: "4.5500", currency: "USD" }],
  });
});

test("a sync that finds nothing new changes nothing; what is left out is as the last time", async () => {
  const here = await supplierDesk();
  await here.desk.json("suppliers sync ea --markup 32.5 --prefix EA-");
  const before = await stored(here);
  const again = await here.desk.json("suppliers sync ea");
  expect(again).toEqual({ read: 15, unchanged: 21, ...NOTHING });
  expect(await stored(here)).toEqual(before);
  expect(await here.desk.json("suppliers show ea")).toMatchObject({ markup: 32.5, sku_prefix: "EA-" });
  // Another markup is another price, without a change of cost.
  const other = await here.desk.json("suppliers sync ea --markup 50");
  expect(other).toMatchObject({ added: 0, updated: 21, unchanged: 0 });
  expect(other.changes).toContainEqual(
    expect.objectContaining({ sku: "EA-CJP101", field: "price_cents", from: 93, to: 105 }),
  );
});

test("a sync leaves the top-ups of its supplier alone", async () => {
  const here = await supplierDesk();
  await here.desk.json("suppliers sync ea --markup 35 --prefix EA-");
  await here.platform.store.write(async (tx) => {
    const plan = await findProductBySku(tx, "EA-CJP101");
    if (plan === null) throw new Error("it was not synced");
    const [source] = await sourcesOf(tx, plan.id);
    if (source === undefined) throw new Error("it has no source");
    const id = newId<ProductId>(tx);
    await insert(tx, "products", [{ ...plan, id, sku: "EA-TOPUP_CJP101", purpose: "topup" }]);
    const bought = { product_id: id, supplier_sku: "TOPUP_CJP101", synced: false };
    await insert(tx, "productSources", [{ ...source, ...bought }]);
  }, null);
  const before = await stored(here);
  expect(await here.desk.json("suppliers sync ea")).toEqual({ read: 15, unchanged: 21, ...NOTHING });
  expect(await stored(here)).toEqual(before);
});

test("a changed cost is shown and priced; a price set by hand stays, and a loss takes it off sale", async () => {
  const here = await supplierDesk();
  const { desk, platform } = here;
  const cost = (code: string, price: number) =>
    here.list((all) => all.map((one) => (one.packageCode === code ? { ...one, price } : one)));
  await desk.json("suppliers sync ea --markup 35 --prefix EA-");
  cost("CJP101", 8_000);
  const risen = await desk.json("suppliers sync ea");
  expect(risen).toMatchObject({ updated: 1, unchanged: 20, held: 0 });
  expect(risen.changes).toEqual([
    { sku: "EA-CJP101", supplier_sku: "CJP101", field: "cost", from: "0.7000", to: "0.8000", currency: "USD" },
    { sku: "EA-CJP101", supplier_sku: "CJP101", field: "price_cents", from: 95, to: 108, currency: "USD" },
  ]);

  await desk.json("products update EA-CJP101 --price 0.90 --yes");
  cost("CJP101", 8_500);
  expect(await desk.json("suppliers sync ea")).toMatchObject({ updated: 1, held: 0, changes: [{ field: "cost" }] });
  expect(await product(here, "EA-CJP101")).toMatchObject({ price_cents: 90, status: "active" });
  cost("CJP101", 9_500);
  const held = await desk.json("suppliers sync ea");
  expect(held).toMatchObject({ updated: 0, held: 1 });
  expect(held.changes).toContainEqual(expect.objectContaining({ field: "held", from: null, to: "margin is negative" }));
  expect(await product(here, "EA-CJP101")).toMatchObject({ status: "inactive", held: "margin is negative" });
  expect(await desk.json("suppliers sync ea")).toEqual({ read: 15, unchanged: 21, ...NOTHING });

  // The operator decides: at this price, until the cost changes again.
  await desk.json("products update EA-CJP101 --status active");
  expect(await product(here, "EA-CJP101")).toMatchObject({ status: "active", held: null });
  expect(await desk.json("suppliers sync ea")).toMatchObject({ held: 0, unchanged: 21 });
  cost("CJP101", 9_600);
  expect(await desk.json("suppliers sync ea")).toMatchObject({ held: 1 });
  await desk.json("products update EA-CJP101 --price 1.40 --yes");
  expect(await product(here, "EA-CJP101")).toMatchObject({ status: "active", held: null, price_cents: 140 });
  while (await platform.store.write(announceChanges, null));
});

test("plans that are gone take products off sale, and put them on sale again; an operator's choice stays", async () => {
  const here = await supplierDesk();
  const { desk, platform } = here;
  await desk.json("suppliers sync ea --markup 35");
  await desk.json("products update CKR101 --status inactive");
  await desk.json(
    `suppliers set other --adapter esimaccess --url ${here.provider.url} --secret ${here.provider.secret}`,
  );
  await desk.json("sources add CTH105 --supplier other --supplier-sku CTH105 --priority 2");
  const gone = ["CJP101", "CKR101", "CTH105"];
  here.list((all) => all.filter(({ packageCode }) => !gone.includes(packageCode)));
  expect(await desk.json("suppliers sync ea")).toMatchObject({
    ...{ read: 12, deactivated: 1, updated: 2, unchanged: 18 },
    changes: expect.arrayContaining([
      { sku: "CJP101", supplier_sku: "CJP101", field: "status", from: "active", to: "inactive" },
    ]),
  });
  expect(await product(here, "CTH105")).toMatchObject({ status: "active", supplier: "other" });
  expect(await platform.store.read(listSources, { sku: "CTH105" })).toMatchObject([
    { supplier: "ea", status: "gone" },
    { supplier: "other", status: "active" },
  ]);
  expect(await desk.json("suppliers sync ea")).toMatchObject({ ...NOTHING, unchanged: 21 });
  here.list((all) => [...all]);
  expect(await desk.json("suppliers sync ea")).toMatchObject({ updated: 3, deactivated: 0 });
  const statuses = await Promise.all(gone.map(async (sku) => (await product(here, sku))?.status));
  expect(statuses).toEqual(["active", "inactive", "active"]);

  here.list(() => []);
  expect(await desk.refusal("suppliers sync ea")).toMatchObject({ code: "conflict" });
  expect(await product(here, "CJP101")).toMatchObject({ status: "active" });
});

test("--only takes plans within countries and regions, and leaves the others alone", async () => {
  const here = await supplierDesk();
  const { desk } = here;
  const skus = ({ changes }: { changes: { sku: string }[] }) => [...new Set(changes.map(({ sku }) => sku))].sort();
  const dry = (only: string) => desk.json(`suppliers sync ea --markup 10 --dry-run --only ${only}`);
  expect(skus(await dry("KR,th"))).toEqual(["CKR101", "CTH105"]);
  expect(skus(await dry("EU"))).toEqual(["REU601", "REU610"]);
  expect(skus(await dry("JP,KR,SG,TH,AU"))).toContain("RAS501");
  expect((await desk.refusal("suppliers sync ea --markup 10 --only KR,Atlantis")).message).toMatch(/Atlantis.*EU-6/);
  expect(await desk.json("suppliers sync ea --markup 10 --only KR")).toMatchObject({ added: 1 });
  expect(await desk.json("suppliers sync ea --only DE")).toMatchObject({ added: 1, deactivated: 0, unchanged: 0 });
});

test("prices in another currency need the rate of the day", async () => {
  const here = await supplierDesk();
  const { desk } = here;
  const lacking = await desk.refusal("suppliers sync ea --markup 35 --currency AUD");
  expect(lacking.message).toContain("USD AUD");
  await addRate(here.platform.store, { from: "USD", to: "AUD", day: "2026-01-01", rate: "1.52" });
  await desk.json("suppliers sync ea --markup 35 --currency AUD");
  // 0.70 USD × 1.52 × 1.35 = 1.4364
  expect(await product(here, "CJP101")).toMatchObject({ price_cents: 144, currency: "AUD", cost_currency: "USD" });
  expect(await desk.json("suppliers sync ea")).toMatchObject({ ...NOTHING, unchanged: 21 });
  await addRate(here.platform.store, { from: "USD", to: "AUD", day: "2026-02-01", rate: "1.60" });
  expect(await desk.json("suppliers sync ea")).toMatchObject({ updated: 21 });
  expect(await product(here, "CJP101")).toMatchObject({ price_cents: 151 });
});

test("a product of another origin keeps its SKU, and a plan that cannot be sold is named", async () => {
  const here = await supplierDesk();
  const { desk } = here;
  await addProducts(here.platform.store, [{ sku: "CJP101", name: "Ours" }]);
  here.list((all) => all.map((one) => (one.packageCode === "CKR101" ? { ...one, price: 0 } : one)));
  const dry = await desk.run("suppliers sync ea --markup 35 --dry-run");
  expect(dry.stdout).toMatch(/2 left out:\n {2}CJP101: it is another product's SKU.*\n {2}CKR101: it costs nothing/);
  expect(await desk.json("suppliers sync ea --markup 35")).toMatchObject({
    added: 19,
    skipped: [
      { sku: "CJP101", reason: expect.stringContaining("another product's SKU") },
      { sku: "CKR101", reason: expect.stringContaining("costs nothing") },
    ],
  });
  expect(await product(here, "CJP101")).toMatchObject({ name: "Ours", delivery_method: "stock", sourced: false });
});

test("rows that cannot be read are named, and leave the product of their plan as it is", async () => {
  const here = await supplierDesk();
  const { desk } = here;
  await desk.json("suppliers sync ea --markup 35 --prefix EA-");
  const odd = [{ name: "Moon 1GB" }, ...Array.from({ length: 10 }, () => "?")];
  here.list((all) => [
    ...all.map((one) => (["DJP1", "CTH105"].includes(one.packageCode) ? { ...one, price: "0.65" } : one)),
    ...odd,
  ]);
  const before = await stored(here);
  const { skipped, ...rest } = await desk.json("suppliers sync ea");
  expect(rest).toEqual({ read: 13, unchanged: 13, ...NOTHING });
  const reason = "price must be a whole number";
  expect(skipped).toEqual([
    { sku: null, row: 4, supplier_sku: "DJP1", name: "Japan 1GB/Day", reason },
    { sku: "EA-CTH105", row: 6, supplier_sku: "CTH105", name: expect.any(String), reason },
    { sku: null, row: 16, supplier_sku: null, name: "Moon 1GB", reason: expect.stringContaining("is required") },
    ...odd.slice(1).map((_, at) => ({
      ...{ sku: null, row: 17 + at, supplier_sku: null, name: null },
      reason: "the row must be an object",
    })),
  ]);
  expect(await stored(here)).toEqual(before);
  const { stdout } = await desk.run("suppliers sync ea");
  expect(stdout).toContain("13 left out:\n  row 4 of the catalog (DJP1, ");
  expect(stdout).toContain(`) cannot be read: ${reason}\n`);
  expect(stdout).toMatch(/row 17 of the catalog cannot be read: .*\n {2}and 3 more: --json/s);
});

test("a row without a plan code may be of any plan that is missing: nothing is taken off sale for it", async () => {
  const here = await supplierDesk();
  const { desk } = here;
  await desk.json("suppliers sync ea --markup 35 --prefix EA-");
  here.list((all) => all.map((one) => (one.packageCode === "CJP101" ? { ...one, packageCode: "" } : one)));
  const { skipped, ...rest } = await desk.json("suppliers sync ea");
  expect(rest).toMatchObject({ deactivated: 0, changes: [] });
  const reason = expect.stringMatching(
    /^stays as it is: its plan is missing, and may be row \d+, which has no plan code$/,
  );
  expect(skipped).toContainEqual({ sku: "EA-CJP101", reason });
  expect(await product(here, "EA-CJP101")).toMatchObject({ status: "active" });
  here.list((all) => all.filter(({ packageCode }) => packageCode !== "CJP101"));
  expect(await desk.json("suppliers sync ea")).toMatchObject({ deactivated: 1 });
  // What is gone stays so, and is not named again.
  here.list((all) => [...all.filter(({ packageCode }) => packageCode !== "CJP101"), { name: "Moon 1GB" }]);
  expect((await desk.json("suppliers sync ea")).skipped).toHaveLength(1);
});

test("costs and prices are shown with their currencies, also where a cost comes in another one", async () => {
  const here = await supplierDesk();
  const { desk, platform } = here;
  await addRate(platform.store, { from: "USD", to: "AUD", day: "2026-01-01", rate: "1.52" });
  await addRate(platform.store, { from: "EUR", to: "AUD", day: "2026-01-01", rate: "1.70" });
  const text = async (line: string) => (await desk.run(`suppliers sync ea ${line}`)).stdout.replace(/ +/g, " ");
  const first = await text("--markup 35 --only JP --currency AUD");
  expect(first).toContain("CJP101 cost - 0.7000 USD");
  expect(first).toContain("CJP101 price - 1.44 AUD");
  here.list((all) => all.map((one) => (one.packageCode === "CJP101" ? { ...one, currencyCode: "EUR" } : one)));
  const euro = await text("");
  expect(euro).toContain("CJP101 cost_currency USD EUR");
  expect(euro).toContain("CJP101 price 1.44 AUD 1.61 AUD");
  here.list((all) => all.map((one) => (one.packageCode === "CJP101" ? { ...one, price: 8_000 } : one)));
  expect(await text("")).toContain("CJP101 cost 0.7000 EUR 0.8000 USD");
});

test("a source by hand follows the catalog's cost, and nothing else of its product", async () => {
  const here = await supplierDesk();
  const { desk, platform } = here;
  const own = { product_type: "esim_qr_api", delivery_method: "supplier_api", supplier: "ea" } as const;
  await addProducts(platform.store, [{ sku: "OURS", name: "Ours", currency: "USD", price_cents: 500, ...own }]);
  await desk.json("sources add OURS --supplier ea --supplier-sku CTH105 --priority 1");
  expect(await desk.json("suppliers sync ea --markup 35 --prefix EA-")).toMatchObject({ added: 21, updated: 1 });
  expect(await product(here, "OURS")).toMatchObject({
    name: "Ours",
    price_cents: 500,
    cost: 21_000,
    coverage: ["FR", "DE"],
  });
  here.list((all) => all.map((one) => (one.packageCode === "CTH105" ? { ...one, price: 60_000 } : one)));
  expect(await desk.json("suppliers sync ea")).toMatchObject({ held: 1, updated: 1 });
  expect(await product(here, "OURS")).toMatchObject({ status: "inactive", held: "margin is negative" });
});

test("3,000 plans are written in steps, and the next sync writes none of them", async () => {
  const here = await supplierDesk();
  here.list((all) =>
    Array.from({ length: 3_000 }, (_, at) => ({ ...Object(all[at % 3]), packageCode: `P${at}`, price: 5_000 + at })),
  );
  expect(await here.desk.json("suppliers sync ea --markup 35")).toMatchObject({ read: 3_000, added: 3_000 });
  expect(await here.desk.json("suppliers sync ea")).toEqual({ read: 3_000, unchanged: 3_000, ...NOTHING });
});
