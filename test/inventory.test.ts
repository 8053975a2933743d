import { expect, test } from "vitest";
import { writeSettings } from "../src/core/platform/settings.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { call, startPlatform } from "./support/platform.ts";

const PATH = "/api/v1/inventory/status";

async function stockedPlatform() {
  const platform = await startPlatform();
  const ids = await addProducts(platform.store, [
    { sku: "B-STOCK" },
    { sku: "A-EMPTY", region: "Asia", status: "out_of_stock" },
    { sku: "C-API", product_type: "esim_qr_api", delivery_method: "supplier_api", supplier: "north" },
    { sku: "D-SIM", product_type: "physical_sim", delivery_method: "shipping", status: "inactive" },
  ]);
  await addStock(platform.store, "B-STOCK", 3);
  return { ...platform, ids, partner: await platform.caller() };
}

test("counts the stock, and has no count for products without stock", async () => {
  const { partner, ids } = await stockedPlatform();
  const { status, body } = await partner.get(PATH);
  expect(status).toBe(200);
  expect(body.count).toBe(4);
  expect(body.data).toEqual([
    {
      product_id: ids["A-EMPTY"],
      sku: "A-EMPTY",
      name: "Plan A-EMPTY",
      region: "Asia",
      status: "out_of_stock",
      available: 0,
    },
    {
      product_id: ids["B-STOCK"],
      sku: "B-STOCK",
      name: "Plan B-STOCK",
      region: "Europe",
      status: "active",
      available: 3,
    },
    { product_id: ids["C-API"], sku: "C-API", name: "Plan C-API", region: "Europe", status: "active", available: null },
    {
      product_id: ids["D-SIM"],
      sku: "D-SIM",
      name: "Plan D-SIM",
      region: "Europe",
      status: "inactive",
      available: null,
    },
  ]);
});

test("narrows by ids and SKUs together, and by region", async () => {
  const { partner, ids } = await stockedPlatform();
  const skus = async (query: string) =>
    (await partner.get(`${PATH}?${query}`)).body.data.map((line: { sku: string }) => line.sku);
  expect(await skus(`product_ids=${ids["C-API"]},${ids["B-STOCK"]}`)).toEqual(["B-STOCK", "C-API"]);
  expect(await skus(`product_ids=${ids["C-API"]?.toUpperCase()}`)).toEqual(["C-API"]);
  expect(await skus("skus=D-SIM, A-EMPTY,,NONE")).toEqual(["A-EMPTY", "D-SIM"]);
  expect(await skus(`skus=B-STOCK&product_ids=${ids["B-STOCK"]},${ids["A-EMPTY"]}`)).toEqual(["A-EMPTY", "B-STOCK"]);
  for (const region of ["Asia", "asia"]) expect(await skus(`region=${region}`)).toEqual(["A-EMPTY"]);
  expect(await skus("region=ASIA&skus=A-EMPTY,B-STOCK")).toEqual(["A-EMPTY"]);
  expect(await skus("skus=NONE")).toEqual([]);
});

test.each([
  ["product_ids=42", "product_ids", /UUIDs/],
  ["product_ids=,", "product_ids", /at least one/],
  ["skus=,", "skus", /at least one/],
  [`skus=${Array.from({ length: 201 }, (_, i) => i).join(",")}`, "skus", /at most 200/],
])("refuses %s", async (query, field, words) => {
  const { partner } = await stockedPlatform();
  const { status, body } = await partner.get(`${PATH}?${query}`);
  expect([status, Object.keys(body.errors)]).toEqual([400, [field]]);
  expect(body.errors[field].join()).toMatch(words);
});

test("is marked as deprecated, with a sunset only once the operator set a date", async () => {
  const { partner, store } = await stockedPlatform();
  const now = await partner.get(PATH);
  expect(now.headers.get("deprecation")).toMatch(/^@\d+$/);
  expect(now.headers.get("link")).toBe('<http://esim.test/docs>; rel="deprecation"');
  expect(now.headers.get("sunset")).toBeNull();
  await store.write(writeSettings, { inventory_sunset: "2027-01-31T00:00:00Z" });
  expect((await partner.get(PATH)).headers.get("sunset")).toBe("Sun, 31 Jan 2027 00:00:00 GMT");
});

test("needs a token with read:products", async () => {
  const { url, caller } = await stockedPlatform();
  expect((await call(url + PATH)).status).toBe(401);
  expect((await (await caller({ scopes: ["read:esims"] })).get(PATH)).status).toBe(403);
});
