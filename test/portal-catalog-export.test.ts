import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { createPriceList } from "../src/core/prices/lists.ts";
import { addProducts } from "./support/catalog.ts";
import { person, startPages } from "./support/pages.ts";
import { listed, rule } from "./support/price-lists.ts";

/** A partner with prices of its own, and a catalog of more than two pages. */
async function shop() {
  const platform = await startPages();
  const { store } = platform;
  await addProducts(store, [
    { sku: "EU5", name: "=Europe 5 GB", price_cents: 1_000 },
    { sku: "JP1", name: "Japan", region: "Asia", coverage: ["JP"], price_cents: 900, currency: "JPY" },
    { sku: "OLD", status: "inactive" },
    ...Array.from({ length: 230 }, (_, at) => ({ sku: `MORE-${at}`, price_cents: 100 + at })),
  ]);
  await platform.caller({ slug: "acme" });
  await store.write(createPriceList, { name: "gold", actor: "test" });
  await rule(store, "gold", { sku: "EU5", price: "3.10" });
  await listed(platform, "acme", "gold");
  const caller = await platform.credential("acme", { live: false });
  const agent = await person(platform, { partner: "acme", role: "agent" });
  const form = await agent.get("/portal/catalog/export");
  return { platform, caller, agent, form };
}

test("a shop's CSV has the partner's own prices, and every product, as it is read", async () => {
  const { agent, form } = await shop();
  expect((await agent.get("/portal/catalog")).html).toContain('href="/portal/catalog/export"');
  expect(form.text).toContain("no shop can load them");
  const file = await agent.send(form, { format: "shopify", markup: "50" });
  expect([file.status, file.headers.get("content-type")]).toEqual([200, "text/csv; charset=utf-8"]);
  expect(file.headers.get("content-disposition")).toContain("catalog-shopify.csv");
  expect(file.headers.get("content-length")).toBeNull();
  const rows: Record<string, string>[] = parse(file.html, { columns: true });
  expect(rows.length).toBe(232);
  expect(rows[0]).toMatchObject({ SKU: "EU5", Title: "'=Europe 5 GB", Price: "4.65" });
  expect(rows[1]).toMatchObject({ SKU: "JP1", Price: "1350" });
  const woo = await agent.send(form, { format: "woocommerce", currency: "jpy" });
  expect(parse(woo.html, { columns: true })).toMatchObject([{ SKU: "JP1", "Regular price": "1170" }]);
});

test("JSON is what the API answers", async () => {
  const { agent, form, caller } = await shop();
  for (const [format, name] of [
    ["generic", "generic"],
    ["shopify", "platform_a"],
    ["woocommerce", "platform_b"],
  ] as const) {
    const file = await agent.send(form, { format, form: "json", region: "europe", markup: "12.5" });
    const { body } = await caller.get(
      `/api/v1/catalog/sync?format=${name}&region=Europe&markup=12.5&include_images=true`,
    );
    expect(JSON.parse(file.html)).toEqual(body);
    expect(body.count).toBe(231);
  }
});

test("what is wrong is said at its field, and no empty file is made", async () => {
  const { agent, form } = await shop();
  const said = async (typed: Record<string, string>) => {
    const { status, text } = await agent.send(form, { format: "generic", ...typed });
    return [status, text];
  };
  expect(await said({ markup: "-5" })).toEqual([400, expect.stringContaining("must be a percentage from 0 to 10000")]);
  expect(await said({ currency: "XQX" })).toEqual([400, expect.stringContaining("XQX")]);
  expect(await said({ country: "Grmany" })).toEqual([400, expect.stringContaining("must be an ISO 3166-1")]);
  expect(await said({ region: "Nowhere" })).toEqual([409, expect.stringContaining("No product fits")]);
});
