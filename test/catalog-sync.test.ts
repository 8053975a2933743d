import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { updateProduct } from "../src/core/catalog/import.ts";
import { parseMarkup, retailPrice } from "../src/core/catalog/retail-price.ts";
import { minorUnits } from "../src/core/kernel/money.ts";
import { rasterize } from "../src/daemon/pages/rasterize.ts";
import { addProducts } from "./support/catalog.ts";
import { call, startPlatform } from "./support/platform.ts";

const SYNC = "/api/v1/catalog/sync";

/** A shop's catalog: plans of two regions and types, one that is not sold, one with odd marks in its texts. */
async function stockedShop() {
  const platform = await startPlatform({ publicUrl: "bound" });
  await addProducts(platform.store, [{ sku: "EU-5", name: "Europe 5 GB", price_cents: 1250, description: "Fast." }]);
  platform.clock.advance(1000);
  const later = [
    { sku: "AS-1", name: "Asia 1 GB", region: "Asia", price_cents: 999, type: "voice_data" as const },
    {
      sku: "JP-3",
      name: 'Japan <3 GB> & "more"',
      region: "Asia, Pacific",
      price_cents: 1501,
      currency: "JPY",
      coverage: ["JP"],
    },
    { sku: "KW-1", name: "Kuwait 1 GB", region: "Middle East", price_cents: 4321, currency: "KWD" },
    { sku: "OFF", status: "inactive" as const },
    { sku: "OUT", status: "out_of_stock" as const },
  ];
  const ids = await addProducts(platform.store, later);
  return { ...platform, ids, partner: await platform.caller() };
}

describe("generic", () => {
  test("lists the active products, oldest first, with wholesale and retail prices in their own currency", async () => {
    const { partner, url, clock } = await stockedShop();
    const { status, body } = await partner.get(SYNC);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      format: "generic",
      generated_at: new Date(clock.now()).toISOString(),
      currency_note: expect.any(String),
      count: 4,
    });
    expect(body.products.map((each: { sku: string }) => each.sku).sort()).toEqual(["AS-1", "EU-5", "JP-3", "KW-1"]);
    const first = body.products[0];
    expect(first).toEqual({
      id: expect.any(String),
      sku: "EU-5",
      name: "Europe 5 GB",
      description: "Fast.",
      region: "Europe",
      coverage: ["FR", "DE"],
      data_amount_mb: 5120,
      validity_days: 30,
      type: "data_only",
      status: "active",
      wholesale_price_cents: 1250,
      suggested_retail_price_cents: 1625,
      currency: "AUD",
      images: [{ src: `${url}/media/products/${first.id}.svg`, alt: "Europe 5 GB" }],
    });
  });

  test("narrows by region, country and type", async () => {
    const { partner } = await stockedShop();
    const skus = async (query: string) =>
      (await partner.get(`${SYNC}?${query}`)).body.products.map((each: { sku: string }) => each.sku);
    for (const region of ["Asia", "asia"]) expect(await skus(`region=${region}`)).toEqual(["AS-1"]);
    expect(await skus("country=Japan")).toEqual(["JP-3"]);
    expect(Object.keys((await partner.get(`${SYNC}?country=Asia`)).body.errors)).toEqual(["country"]);
    expect(await skus("type=voice_data")).toEqual(["AS-1"]);
    expect(await skus("region=Asia&type=data_only")).toEqual([]);
  });

  test("omits pictures on request, and refuses values other than true and false", async () => {
    const { partner } = await stockedShop();
    for (const format of ["generic", "platform_a", "platform_b"]) {
      const { body } = await partner.get(`${SYNC}?include_images=false&format=${format}`);
      expect(body.products.every((each: { images: unknown[] }) => each.images.length === 0)).toBe(true);
    }
    const refused = await partner.get(`${SYNC}?include_images=no`);
    expect([refused.status, refused.body.errors.include_images.join()]).toEqual([400, "must be one of true, false"]);
  });
});

test("platform_a has the shape of Shopify's product", async () => {
  const { partner } = await stockedShop();
  const { body } = await partner.get(`${SYNC}?format=platform_a`);
  const [european] = body.products;
  expect(european).toEqual({
    handle: expect.stringMatching(/^eu-5-[0-9a-f]{6}$/),
    title: "Europe 5 GB",
    body_html: "<p>Fast.</p><ul><li>5 GB · 30 days · Europe</li><li>France, Germany</li></ul>",
    vendor: expect.any(String),
    product_type: "eSIM",
    tags: "Europe, data only, 30 days",
    status: "active",
    variants: [
      {
        sku: "EU-5",
        price: "16.25",
        presentment_prices: [{ price: { amount: "16.25", currency_code: "AUD" }, compare_at_price: null }],
        inventory_management: null,
        requires_shipping: false,
      },
    ],
    images: [{ src: expect.stringMatching(/\.png$/), alt: "Europe 5 GB" }],
  });
  const japanese = body.products.find((each: { title: string }) => each.title.startsWith("Japan"));
  // Yen have no decimals; tags are separated by commas, so none holds one.
  expect(japanese).toMatchObject({ title: 'Japan <3 GB> & "more"', tags: "Asia Pacific, data only, 30 days" });
  expect(japanese.variants[0]).toMatchObject({
    price: "1951",
    presentment_prices: [{ price: { amount: "1951", currency_code: "JPY" } }],
  });
});

test("platform_b has the shape of WooCommerce's product", async () => {
  const { partner, ids } = await stockedShop();
  const { body } = await partner.get(`${SYNC}?format=platform_b&markup=0`);
  const kuwaiti = body.products.find((each: { sku: string }) => each.sku === "KW-1");
  expect(kuwaiti).toEqual({
    name: "Kuwait 1 GB",
    type: "simple",
    sku: "KW-1",
    regular_price: "4.321",
    description: "5 GB · 30 days · Middle East",
    short_description: "5 GB · 30 days · Middle East",
    categories: [{ name: "Middle East" }],
    virtual: true,
    images: [{ src: expect.stringMatching(/\.png$/), alt: "Kuwait 1 GB" }],
    meta_data: [
      { key: "esim_product_id", value: ids["KW-1"] },
      { key: "data_amount_mb", value: "5120" },
      { key: "validity_days", value: "30" },
      { key: "coverage", value: "France, Germany" },
      { key: "currency", value: "KWD" },
    ],
  });
});

describe("markup", () => {
  test.each([
    [1250, "30", 1625],
    [1250, "0", 1250],
    [999, "30", 1299], // 1298.7
    [1, "50", 2], // 1.5: half goes up
    [1, "49.999999", 1],
    [3, "16.666666", 3], // 3.49999998
    [3, "16.666667", 4], // 3.50000001
    [1005, "10", 1106], // 1105.5, which 1005 * 1.1 as a float is not
    [35, "15", 40], // 40.25
    [0, "30", 0],
    [9_007_199_254_740_991, "0", 9_007_199_254_740_991],
  ])("on %i of %s percent makes %i", (wholesale, markup, retail) => {
    expect(retailPrice(minorUnits(wholesale), parseMarkup(markup))).toBe(retail);
  });

  test("is exact for any price and percentage", () => {
    const prices = fc.integer({ min: 0, max: 10 ** 12 });
    const percentages = fc.integer({ min: 0, max: 10 ** 10 });
    const rule = (wholesale: number, millionths: number) => {
      const text = `${Math.floor(millionths / 10 ** 6)}.${String(millionths % 10 ** 6).padStart(6, "0")}`;
      const retail = BigInt(retailPrice(minorUnits(wholesale), parseMarkup(text)));
      const exact = BigInt(wholesale) * (10n ** 8n + BigInt(millionths));
      // Half up: 2 × retail - 1 ≤ 2 × exact < 2 × retail + 1.
      expect((2n * retail - 1n) * 10n ** 8n <= 2n * exact && 2n * exact < (2n * retail + 1n) * 10n ** 8n).toBe(true);
    };
    fc.assert(fc.property(prices, percentages, rule));
  });

  test("is taken from the query string exactly as written", async () => {
    const { partner } = await stockedShop();
    const price = async (markup: string) => {
      const { body } = await partner.get(`${SYNC}?region=Europe&markup=${markup}`);
      return body.products[0].suggested_retail_price_cents;
    };
    expect(await price("12.5")).toBe(1406); // 1406.25
    expect(await price("0.04")).toBe(1251); // 1250.5
    expect(await price("0.039999")).toBe(1250);
  });

  test.each(["-1", "10001", "1e3", "0.0000001", "abc", "30%25", "Infinity"])("of %s is refused", async (markup) => {
    const { partner } = await stockedShop();
    const { status, body } = await partner.get(`${SYNC}?markup=${markup}`);
    expect([status, Object.keys(body.errors)]).toEqual([400, ["markup"]]);
  });

  test("that makes a price exceed the bound is refused", async () => {
    const platform = await startPlatform();
    await addProducts(platform.store, [{ sku: "MOON", price_cents: Number.MAX_SAFE_INTEGER }]);
    const partner = await platform.caller();
    expect((await partner.get(`${SYNC}?markup=0`)).body.products[0].suggested_retail_price_cents).toBe(2 ** 53 - 1);
    expect((await partner.get(SYNC)).body.errors).toEqual({ markup: [expect.stringMatching(/too large/)] });
  });
});

test("a price that the operator changes is in the next response", async () => {
  const { partner, store } = await stockedShop();
  await store.write(updateProduct, { sku: "EU-5", price_cents: 2000, actor: "test" });
  expect((await partner.get(`${SYNC}?region=Europe`)).body.products[0].suggested_retail_price_cents).toBe(2600);
});

test("needs a token with read:products", async () => {
  const { url, caller } = await stockedShop();
  expect((await call(url + SYNC)).status).toBe(401);
  const orders = await caller({ scopes: ["read:orders"] });
  expect((await orders.get(SYNC)).body.type).toMatch(/insufficient_scope$/);
});

describe("pictures", () => {
  test("load without a token, are the same each time, and may be cached", async () => {
    const { partner, url } = await stockedShop();
    const { body } = await partner.get(`${SYNC}?region=Europe`);
    const address = body.products[0].images[0].src;
    expect(address.startsWith(url)).toBe(true);
    const picture = await call(address);
    expect(picture.status).toBe(200);
    expect(picture.headers.get("content-type")).toBe("image/svg+xml");
    expect(picture.headers.get("cache-control")).toBe("public, max-age=86400");
    for (const words of ["Europe", "5 GB", "30 days", "2 countries"]) expect(picture.body).toContain(words);
    expect((await call(address)).body).toBe(picture.body);
    const etag = picture.headers.get("etag") ?? "";
    const again = await call(address, { headers: { "if-none-match": etag } });
    expect([again.status, again.body]).toEqual([304, ""]);
  });

  test("are drawn with their text as PNG, once for concurrent requests", async () => {
    const { partner, url, ids } = await stockedShop();
    const { body } = await partner.get(`${SYNC}?region=Europe&format=platform_b`);
    const address: string = body.products[0].images[0].src;
    expect(address).toMatch(/\.png$/);
    const load = async (at: string) => {
      const response = await fetch(at);
      return { response, bytes: Buffer.from(await response.arrayBuffer()) };
    };
    const [first, second] = await Promise.all([load(address), load(address)]);
    expect(first.response.headers.get("content-type")).toBe("image/png");
    expect(first.response.headers.get("cache-control")).toBe("public, max-age=86400");
    expect(first.bytes.subarray(0, 8).toString("latin1")).toBe("\x89PNG\r\n\x1a\n");
    expect([
      first.bytes.toString("latin1", 12, 16),
      first.bytes.readUInt32BE(16),
      first.bytes.readUInt32BE(20),
    ]).toEqual(["IHDR", 800, 800]);
    expect(second.bytes.equals(first.bytes)).toBe(true);
    // Without the words the same picture is another one: the fonts are found.
    const svg = (await call(address.replace(/png$/, "svg"))).body as string;
    const [words, blank] = await Promise.all([rasterize(svg), rasterize(svg.replaceAll(/<text.*<\/text>/g, ""))]);
    expect([words.equals(first.bytes), blank.equals(words)]).toEqual([true, false]);
    const drawing = rasterize(`${svg}\n`);
    expect(rasterize(`${svg}\n`)).toBe(drawing);
    await drawing;
    const etag = first.response.headers.get("etag") ?? "";
    expect((await fetch(address, { headers: { "if-none-match": etag } })).status).toBe(304);
    expect((await fetch(`${url}/media/products/${ids.OFF}.png`, { method: "HEAD" })).status).toBe(200);
  });

  test("escape names", async () => {
    const platform = await startPlatform();
    const region = `</text><script>alert("1")</script> & ${"W".repeat(60)}`;
    const ids = await addProducts(platform.store, [{ sku: "X", name: "<b>&", region }]);
    const { body } = await call(`${platform.url}/media/products/${ids.X}.svg`);
    expect(body).not.toMatch(/<script|<b>/);
    expect(body).toContain("<title>&lt;b&gt;&amp;</title>");
    expect(body).toContain("…");
  });

  test("of unknown products are a 404", async () => {
    const { url, ids } = await stockedShop();
    expect((await call(`${url}/media/products/0199a0b1-0000-7000-8000-000000000001.svg`)).status).toBe(404);
    expect((await call(`${url}/media/products/${ids.OFF}.svg`)).status).toBe(200);
  });
});
