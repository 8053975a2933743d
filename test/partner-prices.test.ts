import { expect, test } from "vitest";
import { deletePriceList } from "../src/core/prices/delete-list.ts";
import { createPriceList } from "../src/core/prices/lists.ts";
import { removePriceRule } from "../src/core/prices/set-rule.ts";
import { showPriceList } from "../src/core/prices/show.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { person, startPages } from "./support/pages.ts";
import { type Platform, startPlatform } from "./support/platform.ts";
import { listed, renewed, rule } from "./support/price-lists.ts";
import { create, lines, quote } from "./support/quotes.ts";
import { csrfOf } from "./support/visitor.ts";

const actor = "test";

/** A platform with one product, and a list with a price for few units and one for many. */
async function shop(platform: Platform) {
  const { EU5: id = "" } = await addProducts(platform.store, [
    { sku: "EU5", name: "Europe 5 GB", price_cents: 1_000 },
    { sku: "EU9", name: "Europe 9 GB", price_cents: 2_000 },
  ]);
  await addStock(platform.store, "EU5", 50);
  await platform.store.write(createPriceList, { name: "gold", actor });
  await rule(platform.store, "gold", { sku: "EU5", price: "3.10" });
  await rule(platform.store, "gold", { sku: "EU5", price: "2.80", min_quantity: "10" });
  return id;
}

test("the sandbox quotes and places at the same prices, and its clock moves none", async () => {
  const platform = await startPlatform();
  const id = await shop(platform);
  const caller = await platform.caller({ slug: "acme" });
  await listed(platform, "acme", "gold");
  await rule(platform.store, "gold", { sku: "EU5", price: "1.00", from: "2026-03-10" });
  await caller.send("POST", "/api/v1/sandbox/clock", { advance: "P30D" });
  const body = lines([id, 9], [id, 10]);
  expect((await quote(caller, body)).body).toMatchObject({ total_price_cents: 9 * 310 + 10 * 280 });
  expect((await create(caller, body)).body).toMatchObject({ total_price_cents: 9 * 310 + 10 * 280 });
});

test("a cursor is of one price list, and a partner without one keeps its own", async () => {
  const platform = await startPlatform();
  await shop(platform);
  const caller = await platform.caller({ slug: "acme" });
  const path = "/api/v1/products?limit=1&sort_by=price_cents&sort_order=desc";
  const next = async () => (await caller.get(path)).body.pagination.next_cursor;
  const following = async (cursor: string) => {
    const { status, body } = await caller.get(`${path}&cursor=${cursor}`);
    return [status, body.data?.[0].price_cents];
  };
  const before = await next();
  expect(await following(before)).toEqual([200, 1_000]);
  await listed(platform, "acme", "gold");
  expect((await following(before))[0]).toBe(400);
  expect(await following(await next())).toEqual([200, 310]);
  await listed(platform, "acme", null);
  expect(await following(before)).toEqual([200, 1_000]);
});

test("an ETag changes when a rule begins or ends at midnight UTC, with no command in between", async () => {
  const platform = await startPlatform({ start: "2026-03-02T23:59:00.000Z" });
  await shop(platform);
  const acme = await platform.caller({ slug: "acme" });
  await listed(platform, "acme", "gold");
  await rule(platform.store, "gold", { sku: "EU5", price: "2.00", from: "2026-03-03", to: "2026-03-04" });
  const tags = new Set<string>();
  for (const [moment, price_cents] of [
    ["2026-03-02T23:59:59.999Z", 310],
    ["2026-03-03T00:00:00.000Z", 200],
    ["2026-03-03T23:59:59.999Z", 200],
    ["2026-03-04T00:00:00.000Z", 310],
  ] as const) {
    platform.clock.set(moment);
    const caller = await renewed(platform, acme);
    const path = "/api/v1/products?sort_by=name&sort_order=asc";
    const { body, headers } = await caller.get(path);
    expect([moment, body.data[0].price_cents]).toEqual([moment, price_cents]);
    const etag = headers.get("etag") ?? "";
    for (const tag of tags)
      expect((await caller.get(path, { "if-none-match": tag })).status).toBe(tag === etag ? 304 : 200);
    tags.add(etag);
  }
  expect(tags.size).toBe(2);
});

test("portal: catalog, order form and order have the partner's price", async () => {
  const platform = await startPages();
  const id = await shop(platform);
  const { partnerId } = await platform.caller({ slug: "acme", live: true });
  await platform.fund(partnerId, 10_000);
  await listed(platform, "acme", "gold");
  const owner = await person(platform, { partner: "acme", role: "owner" });
  expect((await owner.get("/portal/catalog")).text).toContain("3.10 AUD");
  expect((await owner.get(`/portal/catalog/${id}`)).text).toContain("3.10 AUD");
  const form = await owner.get("/portal/orders");
  expect(form.html).toContain("Europe 5 GB, 3.10 AUD");
  const typed = { product: "EU5", quantity: "10" };
  const quoted = await owner.post("/portal/orders/quote", { ...csrfOf(form), ...typed });
  expect(quoted.text).toContain("Total 28.00 AUD");
  expect((await owner.send(form, typed)).text).toContain("is placed");
  expect((await owner.get("/portal")).text).toContain("72.00 AUD");
});

test("what a removed rule was about has the next price, and orders keep theirs", async () => {
  const platform = await startPlatform();
  const id = await shop(platform);
  const caller = await platform.caller({ slug: "acme", live: true });
  await platform.fund(caller.partnerId, 10_000);
  await listed(platform, "acme", "gold");
  const { body: order } = await create(caller, lines([id, 10]));
  expect(order).toMatchObject({ unit_price_cents: 280, total_price_cents: 2_800 });
  await platform.store.write(removePriceRule, { list: "gold", rule: { sku: "EU5", min_quantity: "10" }, actor });
  expect((await quote(caller, lines([id, 10]))).body.total_price_cents).toBe(3_100);
  await platform.store.write(removePriceRule, { list: "gold", rule: { sku: "EU5" }, actor });
  expect((await quote(caller, lines([id, 10]))).body.total_price_cents).toBe(10_000);
  expect((await caller.get(`/api/v1/orders/${order.id}`)).body.total_price_cents).toBe(2_800);
});

test("a deleted list goes with its rules, and lines of orders keep its name", async () => {
  const platform = await startPlatform();
  const { store } = platform;
  const id = await shop(platform);
  await rule(store, "gold", { region: "Europe", markup: "5" });
  await rule(store, "silver", { sku: "EU5", price: "4.00" });
  const caller = await platform.caller({ slug: "acme", live: true });
  await platform.fund(caller.partnerId, 10_000);
  await listed(platform, "acme", "gold");
  const { body: order } = await create(caller, lines([id, 1]));
  const gone = (name: string) => store.write(deletePriceList, { name, actor });
  await expect(gone("gold")).rejects.toMatchObject({ slug: "conflict", message: expect.stringContaining("of acme:") });
  await expect(gone("none")).rejects.toMatchObject({ slug: "not_found" });
  await listed(platform, "acme", null);
  expect(await gone("gold")).toEqual({ name: "gold", rules: 3, deleted: true });
  expect((await caller.get(`/api/v1/orders/${order.id}`)).body.total_price_cents).toBe(310);
  const sold = await store.read(async (q) => q.db.select().from(q.t.orderLines), null);
  expect(sold).toMatchObject([{ order_id: order.id, price_list: "gold", unit_price_cents: 310 }]);
  expect(await store.read(showPriceList, "silver")).toHaveLength(1);
  // Under its name another list may begin; it has none of the old rules.
  await store.write(createPriceList, { name: "gold", actor });
  expect(await store.read(showPriceList, "gold")).toEqual([]);
});
