import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ProductId } from "../src/core/kernel/brand.ts";
import { type PricedProduct, type PriceRule, priceFor, type Rate } from "../src/core/prices/price.ts";
import { line, priceShop } from "./support/price-shop.ts";

describe("which rule makes a price", () => {
  const id = "p1" as ProductId;
  const product: PricedProduct = {
    id,
    region_key: "europe",
    price_cents: 1000,
    currency: "AUD",
    cost: 22_800,
    cost_currency: "USD",
  };
  const day = "2026-06-15";
  let made = 0;
  const rule = (fields: Partial<PriceRule>): PriceRule => ({
    id: String(++made).padStart(6, "0"),
    product_id: null,
    region_key: null,
    price_cents: null,
    markup_points: null,
    min_quantity: 1,
    from_day: null,
    to_day: null,
    created_at: 1,
    ...fields,
  });
  const own = (price_cents: number, more: Partial<PriceRule> = {}) => rule({ product_id: id, price_cents, ...more });
  const markup = (markup_points: number, more: Partial<PriceRule> = {}) =>
    rule({ region_key: "europe", markup_points, ...more });
  const rate = (value: string, from = "2026-01-01"): Rate => ({
    from_currency: "USD",
    to_currency: "AUD",
    day: from,
    rate: value,
  });
  const price = (
    rules: PriceRule[],
    more: { quantity?: number; rates?: Rate[]; product?: Partial<PricedProduct> } = {},
  ) =>
    priceFor({
      product: { ...product, ...more.product },
      rules,
      rates: more.rates ?? [rate("1.5")],
      day,
      quantity: more.quantity ?? 1,
    }).cents;

  test("none: the product's own price", () => {
    expect(price([])).toBe(1000);
    expect(price([own(1, { product_id: "p2" as ProductId }), markup(0, { region_key: "asia" })])).toBe(1000);
  });

  test("a SKU goes before a region, then the most units that are reached, then the newest", () => {
    expect(price([own(310), markup(0, { min_quantity: 50 })], { quantity: 50 })).toBe(310);
    const steps = [own(300, { min_quantity: 10 }), own(310), own(280, { min_quantity: 50 })];
    expect([1, 9, 10, 49, 50, 10_000].map((quantity) => price(steps, { quantity }))).toEqual([
      310, 310, 300, 300, 280, 280,
    ]);
    expect(price([own(5, { created_at: 7 }), own(6, { created_at: 9 }), own(7, { created_at: 8 })])).toBe(6);
    // Within a millisecond IDs are in the order of their making.
    expect(price([own(5), own(6)])).toBe(6);
  });

  test("from is included, to is not", () => {
    const held = (from_day: string | null, to_day: string | null) => price([own(5, { from_day, to_day })]) === 5;
    expect(held("2026-06-15", null)).toBe(true);
    expect(held("2026-06-16", null)).toBe(false);
    expect(held(null, "2026-06-16")).toBe(true);
    expect(held(null, "2026-06-15")).toBe(false);
    expect(held("2026-06-15", "2026-06-16")).toBe(true);
  });

  test("a markup is on the cost at the rate of the day, rounded half up once", () => {
    // 2.28 USD × 1.5 × 1.35 = 4.617 AUD
    expect(price([markup(3500)])).toBe(462);
    const rates = [rate("1.4", "2026-01-01"), rate("1.5", "2026-06-15"), rate("9", "2026-06-16")];
    expect(price([markup(3500)], { rates })).toBe(462);
    expect(price([markup(0)], { product: { cost: 12_350, cost_currency: "AUD" }, rates: [] })).toBe(124);
    expect(price([markup(0)], { product: { currency: "JPY" }, rates: [{ ...rate("150"), to_currency: "JPY" }] })).toBe(
      342,
    );
    // Rounded to 1.005 first it would be 1.01 twice.
    expect(price([markup(0)], { product: { cost: 10_049, cost_currency: "AUD" } })).toBe(100);
  });

  test("without a cost or a rate the next rule holds, or the product's own price", () => {
    expect(price([markup(3500)], { product: { cost: null, cost_currency: null } })).toBe(1000);
    expect(price([markup(3500)], { rates: [] })).toBe(1000);
    expect(price([markup(3500)], { rates: [rate("1.5", "2026-06-16")] })).toBe(1000);
    const both = [rule({ product_id: id, markup_points: 0, min_quantity: 10 }), own(310)];
    expect(price(both, { rates: [], quantity: 10 })).toBe(310);
    expect(price(both, { quantity: 10 })).toBe(342);
  });

  test("the order in which rules are read does not matter", () => {
    const any = fc.record({
      product_id: fc.constantFrom(id, null),
      amount: fc.nat({ max: 5000 }),
      min_quantity: fc.constantFrom(1, 1, 5, 10),
      from_day: fc.constantFrom(null, "2026-06-15", "2026-06-16"),
      to_day: fc.constantFrom(null, "2026-06-15", "2026-06-16"),
      created_at: fc.nat({ max: 3 }),
    });
    const rules = fc.array(
      any.map(({ amount, product_id, ...fields }) =>
        product_id === null ? markup(amount, fields) : own(amount, fields),
      ),
    );
    fc.assert(
      fc.property(rules, fc.integer({ min: 1, max: 12 }), (list, quantity) => {
        expect(price(list.toReversed(), { quantity })).toBe(price(list, { quantity }));
      }),
    );
  });
});

describe("esimctl prices", () => {
  test("a rule is set, shown, replaced and removed", async () => {
    const { run, json } = await priceShop(line("EU5", "10.00"), line("JP1", "900", "JPY"));
    expect(await json("prices", "create", "gold")).toMatchObject({ name: "gold", rules: 0, partners: [] });
    expect(await run("prices", "create", "gold")).toMatchObject({ exitCode: 1 });
    const always = { min_quantity: 1, from: null, to: null };
    expect(await json("prices", "set", "gold", "--sku", "EU5", "--price", "3.10")).toEqual({
      list: "gold",
      sku: "EU5",
      price_cents: 310,
      ...always,
    });
    expect(await json("prices", "set", "gold", "--sku", "JP1", "--price", "450")).toMatchObject({ price_cents: 450 });
    const dated = ["--from", "2026-12-01", "--to", "2027-01-01", "--min-quantity", "10"];
    const winter = { list: "gold", region: "Europe", min_quantity: 10, from: "2026-12-01", to: "2027-01-01" };
    expect(await json("prices", "set", "gold", "--region", "Europe", "--markup", "35", ...dated)).toEqual({
      ...winter,
      markup: 35,
    });
    // The same scope, however the region is spelled.
    await json("prices", "set", "gold", "--region", "EUROPE ", "--markup", "12.5", ...dated);
    await json("prices", "set", "gold", "--sku", "EU5", "--price", "3.20");
    const shown = await json("prices", "show", "gold");
    expect(shown).toEqual({
      list: "gold",
      count: 3,
      data: [
        { list: "gold", sku: "EU5", price_cents: 320, ...always },
        { list: "gold", sku: "JP1", price_cents: 450, ...always },
        { ...winter, region: "EUROPE", markup: 12.5 },
      ],
    });
    expect((await run("prices", "show", "gold")).stdout).toMatch(/EU5 .*3\.20 AUD/);
    await json("prices", "remove", "gold", "--sku", "JP1");
    expect(await run("prices", "remove", "gold", "--sku", "JP1")).toMatchObject({ exitCode: 1 });
    expect((await json("prices", "list")).data).toMatchObject([{ name: "gold", rules: 2, partners: [] }]);
    const { data } = await json("audit", "list", "--target", "gold");
    expect(data.map(({ action }: { action: string }) => action)).toEqual([
      "prices.remove",
      "prices.set",
      "prices.set",
      "prices.set",
      "prices.set",
      "prices.set",
      "prices.create",
    ]);
    expect(data[1].changes).toEqual([{ field: "price_cents EU5", from: 310, to: 320 }]);
  });

  test("what is not understood is refused", async () => {
    const { run, json } = await priceShop(line("EU5", "10.00"), line("JP1", "900", "JPY"));
    await json("prices", "create", "gold");
    const refused: Record<string, RegExp> = {
      "gold --sku NONE --price 3.10": /No such product: NONE/,
      "gold --sku EU5 --price -1": /--price/,
      "gold --sku EU5 --price 3.105": /AUD has 2/,
      "gold --sku JP1 --price 3.1": /JPY has none/,
      "gold --sku EU5": /markup is required/,
      "gold --sku EU5 --price 3 --markup 3": /exclude each other/,
      "gold --price 3": /region is required/,
      "gold --sku EU5 --region Europe --price 3": /exclude each other/,
      "gold --region Europe --price 3": /one SKU/,
      "gold --region Europe --markup 10000.01": /--markup must be a percentage/,
      "gold --region Europe --markup 1.005": /markup must be a percentage/,
      "gold --sku EU5 --price 3 --min-quantity 0": /--min-quantity must be/,
      "gold --sku EU5 --price 3 --min-quantity 10001": /--min-quantity must be/,
      "gold --sku EU5 --price 3 --from 2026-02-30": /--from must be a real date/,
      "gold --sku EU5 --price 3 --from 2026-03-02 --to 2026-03-02": /--to must be after from/,
    };
    for (const [words, said] of Object.entries(refused)) {
      const ended = await run("prices", "set", ...words.split(" "));
      expect([words, ended.exitCode === 0, said.test(ended.stderr)]).toEqual([words, false, true]);
    }
    expect(await run("prices", "show")).toMatchObject({ exitCode: 2 });
    expect(await run("prices", "show", "silver")).toMatchObject({ exitCode: 1 });
    expect(await run("partners", "update", "acme", "--price-list", "silver")).toMatchObject({ exitCode: 1 });
    expect((await run("prices", "show", "silver")).stderr).toContain("esimctl prices list");
    expect((await json("prices", "show", "gold")).count).toBe(0);
  });

  test("a list that a rule or a file makes is named as new, so that a mistyped name is seen", async () => {
    const { run, json, file } = await priceShop(line("EU5", "10.00"));
    const NEW = /is a new price list, which no partner has yet/;
    const set = (list: string) => run("prices", "set", list, "--sku", "EU5", "--price", "9");
    expect((await set("gold")).stdout).toMatch(/list +gold\n.*\n\ngold is a new price list/s);
    expect((await set("gold")).stdout).not.toMatch(NEW);
    expect((await set("glod")).stdout).toMatch(NEW);
    expect(Object.keys(await json("prices", "set", "new", "--sku", "EU5", "--price", "9")).sort()).toEqual([
      "from",
      "list",
      "min_quantity",
      "price_cents",
      "sku",
      "to",
    ]);
    const good = file("good.csv", "sku,price", "EU5,9");
    expect((await run("prices", "import", "file", good, "--dry-run")).stdout).toContain("no price list file yet");
    expect((await run("prices", "import", "file", file("bad.csv", "sku,price", "NONE,9"))).stdout).not.toMatch(NEW);
    expect((await run("prices", "import", "file", good)).stdout).toMatch(NEW);
    expect((await run("prices", "import", "file", good)).stdout).not.toMatch(NEW);
  });

  test("a rule ends on a day, and stays older than what was set after it", async () => {
    const { run, json } = await priceShop(line("EU5", "10.00"));
    await json("prices", "set", "gold", "--sku", "EU5", "--price", "9");
    await json("prices", "set", "gold", "--sku", "EU5", "--price", "8", "--from", "2020-01-01");
    expect(await json("prices", "end", "gold", "--sku", "EU5", "--on", "2999-01-01")).toEqual({
      ...{ list: "gold", sku: "EU5", price_cents: 900, min_quantity: 1, from: null, to: "2999-01-01" },
    });
    await json("partners", "update", "acme", "--price-list", "gold");
    expect((await json("prices", "show", "--partner", "acme")).data).toMatchObject([{ price_cents: 800 }]);
    const refused = await run("prices", "end", "gold", "--sku", "EU5", "--on", "2999-01-02", "--json");
    expect([refused.exitCode, refused.stdout]).toEqual([1, expect.stringContaining("no rule has this scope")]);
    for (const [day, said] of Object.entries({
      "2026-13-01": "--on must be a real date as YYYY-MM-DD",
      "2020-01-01": "--on must be after the first day",
    })) {
      const bad = await run("prices", "end", "gold", "--sku", "EU5", "--from", "2020-01-01", "--on", day);
      expect([bad.exitCode, bad.stderr]).toEqual([1, expect.stringContaining(said)]);
    }
    expect((await run("prices", "create", "no blanks")).stderr).toContain("list must have 1 to 63 letters");
  });

  test("a region without a product is named, and may get one later", async () => {
    const { run, json } = await priceShop(line("EU5", "10.00"));
    await json("prices", "create", "gold");
    await json("products", "update", "EU5", "--cost", "2", "--cost-currency", "AUD", "--yes");
    const known = await run("prices", "set", "gold", "--region", "europe", "--markup", "30");
    expect([known.exitCode, known.stderr]).toEqual([0, ""]);
    const unknown = await run("prices", "set", "gold", "--region", "Erope", "--markup", "30");
    expect([unknown.exitCode, unknown.stderr]).toEqual([
      0,
      expect.stringContaining("No product on sale has the region Erope"),
    ]);
    expect((await json("prices", "show", "gold")).count).toBe(2);
  });

  test("a markup says of how many products it makes no price, as their cost or the rate is not known", async () => {
    const { run, json } = await priceShop(line("EU5", "10.00"), line("EU9", "15.00"));
    await json("prices", "create", "gold");
    const set = async (...scope: string[]) => {
      const { exitCode, stderr } = await run("prices", "set", "gold", ...scope, "--markup", "30");
      return [exitCode, /known of (\d+ of \d+ products?) on sale/.exec(stderr)?.[1] ?? stderr];
    };
    expect(await set("--region", "Europe")).toEqual([0, "2 of 2 products"]);
    await json("products", "update", "EU5", "--cost", "2", "--cost-currency", "USD", "--yes");
    expect(await set("--sku", "EU5")).toEqual([0, "1 of 1 product"]);
    await json("fx", "set", "USD", "AUD", "1.52");
    expect(await set("--region", "Europe")).toEqual([0, "1 of 2 products"]);
    expect(await set("--sku", "EU5")).toEqual([0, ""]);
  });

  test("a price below the cost, at the rate of the day, is set and named", async () => {
    const { run, json } = await priceShop(line("EU5", "10.00"));
    await json("prices", "create", "gold");
    await json("products", "update", "EU5", "--cost", "2", "--cost-currency", "USD", "--yes");
    const set = (price: string) => run("prices", "set", "gold", "--sku", "EU5", "--price", price);
    // No rate is known, so nothing is.
    expect(await set("1")).toMatchObject({ exitCode: 0, stderr: "" });
    await json("fx", "set", "USD", "AUD", "1.52");
    expect(await set("3.04")).toMatchObject({ exitCode: 0, stderr: "" });
    const cheap = await set("3.03");
    expect([cheap.exitCode, cheap.stderr]).toEqual([0, expect.stringContaining("below the cost of 2.0000 USD")]);
    expect(await json("prices", "show", "gold")).toMatchObject({ data: [{ price_cents: 303 }] });
  });

  test("a list is deleted with its rules, once that is confirmed and no partner has it", async () => {
    const { run, json } = await priceShop(line("EU5", "10.00"));
    await json("prices", "set", "gold", "--sku", "EU5", "--price", "9");
    await json("partners", "update", "acme", "--price-list", "gold");
    const used = await run("prices", "delete", "gold", "--yes");
    expect([used.exitCode, used.stderr]).toEqual([1, expect.stringContaining("gold is the price list of acme")]);
    await json("partners", "update", "acme", "--no-price-list");
    // Without a terminal there is no question.
    const asked = await run("prices", "delete", "gold");
    expect([asked.exitCode, asked.stderr]).toEqual([2, expect.stringMatching(/Delete the price list gold.*--yes/s)]);
    expect((await json("prices", "show", "gold")).count).toBe(1);
    expect(await json("prices", "delete", "gold", "--yes")).toEqual({ name: "gold", rules: 1, deleted: true });
    expect((await json("prices", "list")).count).toBe(0);
    expect(await run("prices", "delete", "gold", "--yes")).toMatchObject({ exitCode: 1 });
    expect((await json("audit", "list", "--target", "gold")).data[0]).toMatchObject({
      ...{ action: "prices.delete", changes: [{ field: "rules", from: 1, to: 0 }] },
    });
  });

  test("a partner has the prices of its list, and a list that it no longer has says nothing", async () => {
    const { run, json } = await priceShop(line("EU5", "10.00"), line("EU6", "12.00"));
    expect(await run("prices", "set", "gold", "--sku", "NONE", "--price", "3.10")).toMatchObject({ exitCode: 1 });
    expect((await json("prices", "list")).count).toBe(0);
    await json("prices", "set", "gold", "--sku", "EU5", "--price", "3.10");
    expect(await json("partners", "show", "acme")).toMatchObject({ price_list: null });
    expect(await json("partners", "update", "acme", "--price-list", "gold")).toMatchObject({ price_list: "gold" });
    expect(await json("partners", "show", "acme")).toMatchObject({ price_list: "gold" });
    const paid = await json("prices", "show", "--partner", "acme");
    const rest = { currency: "AUD" };
    expect(paid).toEqual({
      partner: "acme",
      price_list: "gold",
      rules: [{ list: "gold", sku: "EU5", price_cents: 310, min_quantity: 1, from: null, to: null }],
      data: [
        { sku: "EU5", name: "EU5", price_cents: 310, catalog_price_cents: 1000, price_list: "gold", ...rest },
        { sku: "EU6", name: "EU6", price_cents: 1200, catalog_price_cents: 1200, price_list: null, ...rest },
      ],
      count: 2,
    });
    const prices = async (...more: string[]) =>
      (await json("products", "list", "--sort-by", "name", ...more)).data.map(
        ({ price_cents }: { price_cents: number }) => price_cents,
      );
    expect(await prices("--partner", "acme", "--sort-order", "asc")).toEqual([310, 1200]);
    expect(await prices("--sort-order", "asc")).toEqual([1000, 1200]);
    // What its price list says of it is in its currency.
    expect(await run("products", "update", "EU5", "--currency", "USD", "--yes")).toMatchObject({ exitCode: 1 });
    expect(await json("partners", "update", "acme", "--no-price-list")).toMatchObject({ price_list: null });
    expect(await prices("--partner", "acme", "--sort-order", "asc")).toEqual([1000, 1200]);
    const { data } = await json("audit", "list", "--target", "acme");
    expect(data[0]).toMatchObject({ changes: [{ field: "price_list", from: "gold", to: null }] });
  });
});

test("a rate holds from its day on, and is replaced by one of the same day", async () => {
  const { run, json } = await priceShop(line("EU5", "10.00"));
  expect(await json("fx", "set", "USD", "AUD", "1.52", "--from", "2026-01-01")).toEqual({
    from_currency: "USD",
    to_currency: "AUD",
    rate: "1.52",
    from: "2026-01-01",
  });
  await json("fx", "set", "usd", "aud", "1.5", "--from", "2026-02-01");
  await json("fx", "set", "USD", "AUD", "1.49", "--from", "2026-02-01");
  await json("fx", "set", "USD", "AUD", "1.6");
  const { data, count } = await json("fx", "list");
  expect(count).toBe(3);
  expect(data.slice(1)).toMatchObject([
    { rate: "1.49", from: "2026-02-01" },
    { rate: "1.52", from: "2026-01-01" },
  ]);
  for (const [words, said] of Object.entries({
    "USD USD 1": "to-currency must be another",
    "USD AUD 0": "rate must be a plain decimal",
    "USD AUD 1,5": "rate must be a plain decimal",
    "USD AUD -1": "-1",
    "XXQ AUD 1": "from-currency must be an ISO 4217 currency",
    "USD AUD 1 --from 2026-13-01": "--from must be a real date",
  })) {
    const ended = await run("fx", "set", ...words.split(" "));
    expect([words, ended.exitCode === 0, ended.stderr]).toEqual([words, false, expect.stringContaining(said)]);
  }
});
