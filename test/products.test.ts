import { expect, test } from "vitest";
import { importProducts, updateProduct } from "../src/core/catalog/import.ts";
import { checkProduct } from "../src/core/catalog/product-input.ts";
import { addProducts, product } from "./support/catalog.ts";
import { type Caller, startPlatform } from "./support/platform.ts";
import { rewind } from "./support/store.ts";

const MANY = Array.from({ length: 25 }, (_, i) => ({
  sku: `P${String(i).padStart(2, "0")}`,
  name: `Plan ${"zyxwv"[i % 5]}${i}`,
  // Ties on purpose: the id must break them.
  price_cents: 100 * (i % 4),
  region: i % 2 === 0 ? "Europe" : "Asia",
  type: i % 3 === 0 ? ("voice_data" as const) : ("data_only" as const),
}));

async function readAll(caller: Caller, query: string, limit = 4) {
  const found: { sku: string; name: string; price_cents: number; created_at: string; id: string }[] = [];
  let cursor = "";
  do {
    const { status, body } = await caller.get(
      `/api/v1/products?limit=${limit}${query}${cursor && `&cursor=${cursor}`}`,
    );
    expect(status).toBe(200);
    found.push(...body.data);
    expect(body.pagination).toMatchObject({ count: body.data.length, has_more: body.pagination.next_cursor !== null });
    cursor = body.pagination.next_cursor ?? "";
  } while (cursor !== "");
  return found;
}

test("every sort and direction pages through all products once, in order", async () => {
  const platform = await startPlatform();
  for (const half of [MANY.slice(0, 12), MANY.slice(12)]) {
    await addProducts(platform.store, half);
    platform.clock.advance(1000);
  }
  const caller = await platform.caller();
  for (const sort of ["created_at", "price_cents", "name"] as const) {
    for (const order of ["asc", "desc"] as const) {
      const found = await readAll(caller, `&sort_by=${sort}&sort_order=${order}`);
      expect(new Set(found.map((each) => each.sku)).size).toBe(25);
      const wanted = [...found].sort((a, b) => (a[sort] < b[sort] ? -1 : a[sort] > b[sort] ? 1 : a.id < b.id ? -1 : 1));
      if (order === "desc") wanted.reverse();
      expect(found, `${sort} ${order}`).toEqual(wanted);
    }
  }
  const newestFirst = (await caller.get("/api/v1/products")).body.data;
  expect(newestFirst).toHaveLength(20);
  expect(newestFirst).toEqual(
    await readAll(caller, "&sort_by=created_at&sort_order=desc").then((all) => all.slice(0, 20)),
  );
});

test("filters narrow the list; inactive products are listed only on request", async () => {
  const platform = await startPlatform();
  await addProducts(platform.store, [
    ...MANY,
    { sku: "OFF", status: "inactive" },
    { sku: "OUT", status: "out_of_stock" },
  ]);
  const caller = await platform.caller();
  expect(await readAll(caller, "&region=Asia")).toHaveLength(12);
  expect(await readAll(caller, "&region=Asia&type=voice_data&sort_by=name")).toHaveLength(4);
  expect(await readAll(caller, "&region=aSIA")).toHaveLength(12);
  expect(await readAll(caller, "&region=Asi")).toHaveLength(0);
  expect(await readAll(caller, "&region=&type=")).toHaveLength(25);
  expect((await readAll(caller, "&status=inactive")).map((each) => each.sku)).toEqual(["OFF"]);
  expect((await readAll(caller, "&status=out_of_stock")).map((each) => each.sku)).toEqual(["OUT"]);
});

const PLACES = [
  { sku: "CODES", coverage: ["JP", "KR"] },
  { sku: "LONG", coverage: ["jpn", "CIV"] },
  { sku: "NAMES", coverage: ["Japan", "Ivory Coast", "The Gambia", "UK"] },
  { sku: "OTHER", coverage: ["FR", "Türkiye"] },
  { sku: "WIDE", coverage: ["Global", "Asia", "120 countries"], region: "ÎLES" },
];

test("country finds the products that cover it, in any spelling of the country", async () => {
  const platform = await startPlatform();
  await addProducts(platform.store, PLACES);
  const caller = await platform.caller();
  const skus = async (country: string) =>
    (await readAll(caller, `&country=${encodeURIComponent(country)}`, 1)).map(({ sku }) => sku).sort();
  for (const japan of ["JP", "jp", "JPN", "Japan", " JAPAN "]) {
    expect(await skus(japan), japan).toEqual(["CODES", "LONG", "NAMES"]);
  }
  for (const coast of ["CI", "Côte d'Ivoire", "cote d’ivoire"]) expect(await skus(coast)).toEqual(["LONG", "NAMES"]);
  expect([await skus("GB"), await skus("gambia"), await skus("Turkey")]).toEqual([["NAMES"], ["NAMES"], ["OTHER"]]);
  expect(await skus("BR")).toEqual([]);
  expect(await readAll(caller, "&region=%C3%AEles")).toHaveLength(1);
  for (const unknown of ["Global", "Asia", "XX", "J", "%"]) {
    const { status, body } = await caller.get(`/api/v1/products?country=${encodeURIComponent(unknown)}`);
    expect([status, Object.keys(body.errors)], unknown).toEqual([400, ["country"]]);
  }
});

test("country follows a product's coverage when an import changes it", async () => {
  const platform = await startPlatform();
  await addProducts(platform.store, [{ sku: "A", coverage: ["FR"] }]);
  const caller = await platform.caller();
  const count = async (country: string) => (await readAll(caller, `&country=${country}`)).length;
  expect([await count("FR"), await count("JP")]).toEqual([1, 0]);
  await addProducts(platform.store, [{ sku: "A", coverage: ["Japan"], region: "Asia" }]);
  expect([await count("FR"), await count("JP"), await count("JP&region=asia")]).toEqual([0, 1, 1]);
  await platform.store.write(updateProduct, { sku: "A", price_cents: 1, actor: "operator" });
  expect(await count("JP")).toBe(1);
});

test("products of an earlier version are found by any case and country after the next start", async () => {
  const platform = await startPlatform();
  await addProducts(platform.store, [{ sku: "A", region: "L'Île", coverage: ["Côte d'Ivoire", "JP"] }]);
  const emptied = "UPDATE products SET region_key = '', coverage_key = ''";
  await rewind(platform.location, "9002_product_keys", [emptied]);
  await platform.again();
  const caller = await platform.caller();
  expect(await readAll(caller, "&country=CIV&region=l'%C3%AEle")).toHaveLength(1);
});

test("a cursor is valid for its own list only", async () => {
  const platform = await startPlatform();
  await addProducts(platform.store, MANY);
  const caller = await platform.caller();
  const { body } = await caller.get("/api/v1/products?limit=5&sort_by=name&region=Asia");
  const cursor = body.pagination.next_cursor;
  const path = (query: string) => `/api/v1/products?${query}&cursor=${cursor}`;
  expect((await caller.get(path("limit=50&sort_by=name&region=Asia"))).status).toBe(200);
  expect((await caller.get(path("limit=50&sort_by=name&region=ASIA"))).status).toBe(200);
  const broken = [
    path("sort_by=name"),
    path("sort_by=name&region=Asia&country=FR"),
    path("sort_by=price_cents&region=Asia"),
    path("sort_by=name&region=Asia&sort_order=asc"),
    path("sort_by=name&region=Asia&type=data_only"),
    "/api/v1/products?cursor=nonsense",
    `/api/v1/products?sort_by=name&region=Asia&cursor=${cursor.slice(0, -3)}`,
    `/api/v1/products?sort_by=name&region=Asia&cursor=${Buffer.from('["x",{},"y"]').toString("base64url")}`,
  ];
  for (const address of broken) {
    const reply = await caller.get(address);
    expect([reply.status, reply.body.type], address).toEqual([400, "http://esim.test/docs/errors/invalid_cursor"]);
  }
});

test("query parameters out of range are refused by name", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller();
  const refused: [query: string, field: string, words: RegExp][] = [
    ["limit=0", "limit", /between 1 and 100/],
    ["limit=101", "limit", /between 1 and 100/],
    ["limit=ten", "limit", /whole number/],
    ["limit=1.5", "limit", /whole number/],
    ["limit=1&limit=2", "limit", /once/],
    ["status=old", "status", /active, inactive, out_of_stock/],
    ["type=voice", "type", /data_only, voice_data/],
    ["sort_by=sku", "sort_by", /created_at, price_cents, name/],
    ["sort_order=up", "sort_order", /asc, desc/],
  ];
  for (const [query, field, words] of refused) {
    const reply = await caller.get(`/api/v1/products?${query}`);
    expect(reply.status, query).toBe(400);
    expect(reply.body.errors[field]?.join(), query).toMatch(words);
  }
  expect((await caller.get("/api/v1/products?unknown=1&constructor=x")).status).toBe(200);
});

test("a product shows its details; an unknown one is a 404", async () => {
  const platform = await startPlatform();
  const { EU5 } = await addProducts(platform.store, [
    {
      sku: "EU5",
      features: ["5G", "Hotspot"],
      activation_policy: "On first use",
      network_type: "5G",
      description: "Data",
    },
  ]);
  const caller = await platform.caller();
  const { body } = await caller.get(`/api/v1/products/${EU5}`);
  expect(body).toMatchObject({
    id: EU5,
    sku: "EU5",
    coverage: ["FR", "DE"],
    data_amount_mb: 5120,
    product_type: "esim_qr_pregen",
    delivery_method: "stock",
    features: ["5G", "Hotspot"],
    activation_policy: "On first use",
    network_type: "5G",
    compatible_devices: null,
    created_at: "2026-03-02T01:00:00.000Z",
  });
  expect(Object.keys(body)).not.toContain("supplier");
  expect((await caller.get(`/api/v1/products/${crypto.randomUUID()}`)).status).toBe(404);
  expect((await caller.get("/api/v1/products/EU5")).status).toBe(400);
});

test("an import inserts, updates by sku, and skips unchanged products; the list shows it at once", async () => {
  const platform = await startPlatform();
  const terminal = await platform.again();
  const caller = await platform.caller();
  expect((await caller.get("/api/v1/products")).body.data).toEqual([]);
  const load = (...products: Parameters<typeof product>[0][]) =>
    terminal.write(importProducts, { products: products.map(product), actor: "operator" });
  expect(await load({ sku: "A" }, { sku: "B" })).toEqual(["imported", "imported"]);
  expect((await caller.get("/api/v1/products")).body.data).toHaveLength(2);
  expect(await load({ sku: "A", price_cents: 999 }, { sku: "B" })).toEqual(["updated", "duplicate"]);
  const priced = (await caller.get("/api/v1/products?sort_by=price_cents&sort_order=asc")).body.data;
  expect(priced[0]).toMatchObject({ sku: "A", price_cents: 999 });
  await terminal.write(updateProduct, { sku: "B", status: "inactive", actor: "operator" });
  expect((await caller.get("/api/v1/products")).body.data.map((each: { sku: string }) => each.sku)).toEqual(["A"]);
});

test("a product to be imported is checked field by field", () => {
  const good = { ...product({ sku: "A" }) };
  expect(checkProduct(good)).toMatchObject({ ok: { sku: "A" } });
  const bad: [field: string, value: unknown, words: RegExp][] = [
    ["sku", "", /required/],
    ["name", 5, /text/],
    ["coverage", "FR", /list/],
    ["data_amount_mb", 1.5, /whole number/],
    ["validity_days", 0, /at least 1/],
    ["price_cents", -1, /at least 0/],
    ["price_cents", Number.MAX_SAFE_INTEGER + 1, /whole number/],
    ["currency", "AUX", /ISO 4217/],
    ["type", "voice", /data_only, voice_data/],
    ["product_type", "esim", /one of/],
    ["delivery_method", "shipping", /stock/],
    ["description", "\0", /no text/],
  ];
  for (const [field, value, words] of bad) {
    const checked = checkProduct({ ...good, [field]: value });
    expect("ok" in checked ? "" : checked.problems[field]?.join(), field).toMatch(words);
  }
  const pushed = { ...good, product_type: "esim_eid_push", delivery_method: "eid_push" };
  expect(checkProduct(pushed)).toEqual({ problems: { supplier: ["is required for eid_push"] } });
});
