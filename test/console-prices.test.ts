import { expect, test } from "vitest";
import { listAudit } from "../src/core/audit/list.ts";
import { changeProduct } from "../src/core/catalog/change.ts";
import { showPriceList } from "../src/core/prices/show.ts";
import { addProducts } from "./support/catalog.ts";
import { type Person, person, startPages } from "./support/pages.ts";
import { listed, rule } from "./support/price-lists.ts";
import { csrfOf, type Seen } from "./support/visitor.ts";

const LIST = "/console/prices/gold";

/** A catalog of two products, of which EU5 costs 2.00; acme has the list gold, which has no rules. */
async function shop() {
  const platform = await startPages({ start: "2026-03-02T12:00:00.000Z" });
  const { store } = platform;
  await addProducts(store, [
    { sku: "EU5", price_cents: 1_000, region: "Europe" },
    { sku: "US1", price_cents: 700, region: "America" },
  ]);
  await store.write(changeProduct, {
    ...{ sku: "EU5", fields: null, rule: {}, actor: "test" },
    cost: { cost: 20_000, currency: "AUD" },
  });
  const caller = await platform.caller({ slug: "acme" });
  const finance = await person(platform, { role: "finance" });
  await finance.send(await finance.get("/console/prices"), { name: "gold" });
  await listed(platform, "acme", "gold");
  /** What one unit costs acme over the API, by SKU. */
  const prices = async () => {
    const { body } = await caller.get("/api/v1/products?limit=100");
    return Object.fromEntries(
      body.data.map(({ sku, price_cents }: { sku: string; price_cents: number }) => [sku, price_cents]),
    );
  };
  return { platform, store, caller, finance, prices };
}

/** Types a rule into the form of a list, sees what comes of it, and sets it. */
async function set(who: Person, typed: Record<string, string>) {
  const asked = await who.send(await who.get(LIST), { sku: "", ...typed }, "/prices/gold");
  return { asked, done: await who.send(asked, {}, "/prices/gold") };
}

test("a list is made once; its name is checked", async () => {
  const { finance } = await shop();
  const page = await finance.get("/console/prices");
  expect(page.text).toContain("gold0acme");
  const named = async (name: string) => {
    const { status, text } = await finance.send(page, { name });
    return [status, text];
  };
  expect(await named("gold")).toEqual([409, expect.stringContaining("A price list with the name gold exists already")]);
  expect(await named("no blanks")).toEqual([400, expect.stringContaining("Name must have 1 to 63 letters")]);
  expect((await finance.get("/console/catalog")).html).toContain('href="/console/prices"');
  expect((await finance.get("/console/prices/none")).status).toBe(404);
});

test("a price is set after what comes of it was shown, and is what the partner pays to the cent", async () => {
  const { store, finance, prices } = await shop();
  const { asked, done } = await set(finance, { sku: "EU5", price: "3.10" });
  expect(asked.text).toContain("The catalog's price10.00 AUD");
  expect(asked.text).toContain("Cost2.0000 AUD");
  expect(asked.text).toContain("Look at the price again: changes by -69 %");
  expect(asked.text).not.toContain("below the cost");
  expect(asked.text).toContain("partners that have the list: acme. Orders already placed keep their price.");
  expect([done.path, done.text]).toEqual([LIST, expect.stringContaining("The price of EU5 in gold is set.")]);
  expect(await prices()).toEqual({ EU5: 310, US1: 700 });

  const cheap = await finance.send(await finance.get("/console/prices/gold"), { sku: "EU5", price: "1.99" });
  expect(cheap.text).toContain("it is below the cost of 2.0000 AUD");

  // Sent once more, it is the same rule.
  expect((await finance.send(asked, {}, "/prices/gold")).status).toBe(200);
  expect(await store.read(showPriceList, "gold")).toHaveLength(1);
  const trail = await store.read(listAudit, { target: "gold", limit: 9 });
  expect(trail.map(({ action, actor }) => [action, actor])).toEqual([
    ["prices.set", `user:${finance.id}`],
    ["prices.create", `user:${finance.id}`],
  ]);

  const { asked: markup } = await set(finance, { region: "europe", markup: "35", min_quantity: "10" });
  expect(markup.text).toContain("Regioneurope");
  expect(markup.text).toContain("Pricecost + 35 %");
  expect(markup.text).toContain("while cost or rate is not known, the product has its own price");
  expect(markup.text).not.toContain("No product on sale");
  expect((await set(finance, { region: "Erope", markup: "1" })).asked.text).toContain(
    "No product on sale has the region Erope so far.",
  );
  const page = await finance.get(LIST);
  expect(page.text).toMatch(/EU5.*3\.10 AUD.*europe.*cost \+ 35 %10/);
  expect((await finance.get(`${LIST}?format=csv`)).html).toContain("EU5,,3.10 AUD,1,,");
});

test("the products that a rule changes are named with both prices before it is set", async () => {
  const { store, finance, prices } = await shop();
  const skus = Array.from({ length: 25 }, (_, at) => `ASIA${10 + at}`);
  await addProducts(
    store,
    skus.map((sku) => ({ sku, price_cents: 900, region: "Asia" })),
  );
  for (const sku of skus) {
    const cost = { cost: 40_000, currency: "AUD" };
    await store.write(changeProduct, { sku, fields: null, rule: {}, cost, actor: "test" });
  }
  await rule(store, "gold", { sku: "ASIA10", price: "5.00" });
  const movesOf = (shown: Seen) => {
    const named = shown.page.querySelectorAll("table").find(({ text }) => text.includes("Products whose price"));
    return (named?.querySelectorAll("tbody tr") ?? []).map((row) =>
      row.querySelectorAll("td").map(({ text }) => text.trim()),
    );
  };
  const asked = async (typed: Record<string, string>) =>
    finance.send(await finance.get(LIST), { sku: "", ...typed }, "/prices/gold");

  const wide = await asked({ region: "asia", markup: "50" });
  expect(wide.text).toContain("Products whose price changes on 2026-03-02 (UTC)");
  // ASIA10 keeps the price of its own rule.
  expect(movesOf(wide).map(([sku]) => sku)).toEqual(skus.slice(1, 21));
  expect(movesOf(wide)[0]).toEqual(["ASIA11", "Plan ASIA11", "9.00 AUD", "6.00 AUD"]);
  expect(wide.text).toContain("And 4 more.");
  expect((await prices()).ASIA11).toBe(900);
  await finance.send(wide, {}, "/prices/gold");
  expect(await prices()).toMatchObject({ ASIA10: 500, ASIA11: 600, ASIA34: 600 });

  // Once set, it changes nothing; a later day and more units are shown as they will be.
  expect((await asked({ region: "Asia", markup: "50" })).text).toContain("It changes the price of no product.");
  const many = await asked({ sku: "ASIA10", price: "4.50", min_quantity: "10", from: "2026-05-01" });
  expect(many.text).toContain("Products whose price changes on 2026-05-01 (UTC), at 10 units of a line");
  expect(movesOf(many)).toEqual([["ASIA10", "Plan ASIA10", "5.00 AUD", "4.50 AUD"]]);
  const over = await asked({ sku: "ASIA10", price: "4.50", to: "2026-03-02" });
  expect(over.text).toContain("It changes the price of no product.");
  expect(await store.read(showPriceList, "gold")).toHaveLength(2);
});

test("a markup is previewed with how many products have no cost, and keep their own price", async () => {
  const { finance } = await shop();
  const shown = await finance.send(await finance.get(LIST), { region: "America", markup: "30" });
  expect(shown.text).toContain("No cost, or no rate of today, is known of 1 of 1 product on sale");
});

test("what is wrong with a rule is said beside its field, with what was typed", async () => {
  const { finance, prices } = await shop();
  const form = await finance.get(LIST);
  for (const [typed, words] of [
    [{ sku: "EU5", price: "3.101" }, "Price has 3 digits after the point; AUD has 2."],
    [{ sku: "EU5", price: "-1" }, "Price must be"],
    [{ sku: "EU5", price: "1", markup: "2" }, "Price or markup is required, and not both"],
    [{ sku: "NONE", price: "1" }, 'SKU is not a product of the catalog: "NONE"'],
    [{ sku: "EU5", region: "Europe", markup: "1" }, "SKU or region is required, and not both"],
    [{ region: "Europe", price: "1" }, "Price is for one SKU; a region has a markup on the cost"],
    [{ sku: "EU5", markup: "35.555" }, "Markup in percent must be a percentage"],
    [{ sku: "EU5", price: "1", min_quantity: "0" }, "From units must be a whole number from 1"],
    [{ sku: "EU5", price: "1", from: "2026-02-30" }, "From must be a real date as YYYY-MM-DD"],
    [{ sku: "EU5", price: "1", from: "2026-03-02", to: "2026-03-02" }, "To must be after from"],
  ] as const) {
    const refused = await finance.send(form, { sku: "", ...typed }, "/prices/gold");
    const errors = refused.page.querySelectorAll(".field .error").map(({ text }) => text);
    expect([refused.status, errors], words).toEqual([400, [expect.stringContaining(words)]]);
    for (const [name, value] of Object.entries(typed)) {
      expect(refused.page.querySelector(`input[name="${name}"]`)?.getAttribute("value")).toBe(value);
    }
  }
  expect((await prices()).EU5).toBe(1_000);
});

test("a rule gets another price, an end and is removed from its own page", async () => {
  const { platform, store, finance, prices } = await shop();
  await rule(store, "gold", { sku: "EU5", price: "3.10" });
  platform.clock.advance(1_000);
  // It was set later: while it holds, it goes before the other one.
  await rule(store, "gold", { sku: "EU5", price: "2.50", from: "2026-03-02" });
  const hrefs = (await finance.get(LIST)).page.querySelectorAll("td a").map((one) => one.getAttribute("href") ?? "");
  const [first = "", second = ""] = hrefs;
  const page = await finance.get(first);
  expect(page.text).toContain("Price3.10 AUDFrom units1Fromat onceTofor good");

  const other = await finance.send(page, { price: "3.20" }, "/prices/gold");
  expect(other.text).toContain("Price before3.10 AUD");
  const early = await finance.send(await finance.get(second), { end: "2026-03-02" }, "/end");
  expect([early.status, early.page.querySelector("#f-end-error")?.text]).toEqual([
    400,
    "Ends on must be after the first day on which it holds.",
  ]);
  for (const [end, words] of [
    ["", "Ends on is required"],
    ["2026-13-01", "Ends on must be a real date as YYYY-MM-DD"],
  ] as const) {
    const refused = await finance.send(page, { end }, "/end");
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(words)]);
  }
  const shown = await finance.send(page, { end: "2026-03-04" }, "/end");
  expect(shown.text).toContain("Then the next rule holds, or the catalog's price.");
  expect(shown.text).toContain("It changes the price of no product.");
  expect((await finance.send(shown, {}, "/end")).text).toContain("The price of EU5 ends on 2026-03-04.");
  // The one that ends did not become the newer one.
  expect((await prices()).EU5).toBe(250);
  // The form of before: no rule has its scope any more.
  const again = await finance.send(shown, {}, "/end");
  expect([again.status, again.text]).toEqual([400, expect.stringContaining("no rule has this scope")]);

  const asked = await finance.send(await finance.get(second), {}, "/remove");
  expect(asked.text).toContain("Price2.50 AUD");
  expect(asked.text).toMatch(/Products whose price changes on 2026-03-02 \(UTC\).*EU5[^.]*2\.50 AUD3\.10 AUD/);
  expect((await prices()).EU5).toBe(250);
  expect((await finance.send(asked, {}, "/remove")).text).toContain("A price of EU5 is removed from gold.");
  expect((await prices()).EU5).toBe(310);
  expect((await finance.send(asked, {}, "/remove")).status).toBe(400);
  const ending = await finance.get(`${LIST}/rule?sku=EU5&min_quantity=1&to=2026-03-04`);
  const last = await finance.send(ending, { end: "2026-03-03" }, "/end");
  expect(last.text).toMatch(/Products whose price changes on 2026-03-03 \(UTC\).*EU5[^.]*3\.10 AUD10\.00 AUD/);
  const trail = await store.read(listAudit, { target: "gold", limit: 2 });
  expect(trail).toMatchObject([
    { action: "prices.remove", changes: [{ field: "price_cents EU5 2026-03-02..", from: 250, to: null }] },
    { action: "prices.end", changes: [{ field: "to_day EU5", from: null, to: "2026-03-04" }] },
  ]);
});

test("two rules of one scope cannot end on the same day", async () => {
  const { store, finance } = await shop();
  await rule(store, "gold", { sku: "EU5", price: "3.10" });
  await rule(store, "gold", { sku: "EU5", price: "2.50", to: "2026-03-09" });
  const page = await finance.get(`${LIST}/rule?sku=EU5&min_quantity=1`);
  const refused = await finance.send(page, { end: "2026-03-09" }, "/end");
  expect([refused.status, refused.text]).toEqual([
    400,
    expect.stringContaining("Ends on is when another rule of this scope ends"),
  ]);
});

test("rules are imported from a file after a preview; bad rows are left out", async () => {
  const { platform, store, finance, prices } = await shop();
  await rule(store, "gold", { sku: "EU5", price: "3.10" });
  await rule(store, "gold", { sku: "US1", price: "5.00" });
  const at = `${LIST}/import`;
  const form = await finance.get(at);
  const file = (...rows: string[]) => new Blob([["SKU;Region;Price;Markup;Min quantity", ...rows, ""].join("\r\n")]);
  const preview = await finance.send(form, {
    file: file(
      "EU5;;2.90;;",
      "US1;;5.00;;",
      ";Asia;;35;10",
      "NONE;;1.00;;",
      "EU5;;x;;20",
      "US1;;4.00;;30",
      "US1;;4.50;;30",
    ),
  });
  expect(preview.text).toContain("1 new, 1 changed, 1 as they were");
  expect(preview.text).toContain("EU5–3.10 AUD2.90 AUD1");
  expect(preview.text).toContain("–Asianewcost + 35 %10");
  expect(preview.text).toMatch(/4 rows left out.*5sku is not a product of the catalog: "NONE"/);
  expect(preview.text).toContain("price differs for the same units and days on lines 7 and 8");
  expect(await prices()).toEqual({ EU5: 310, US1: 500 });
  const done = await finance.send(preview, {}, "/import");
  expect([done.path, done.text]).toEqual([LIST, expect.stringContaining("1 as they were. 4 rows left out.")]);
  expect(await prices()).toEqual({ EU5: 290, US1: 500 });
  expect((await finance.send(preview, {}, "/import")).text).toContain("0 new, 0 changed, 3 as they were");

  const bad = await finance.send(form, { file: file("NONE;;1.00;;") });
  expect([bad.status, bad.text]).toEqual([400, expect.stringContaining("No row can be imported")]);
  const strange = await finance.send(form, { file: new Blob(["sku,price,cost\nEU5,1,1\n"]) });
  expect([strange.status, strange.text]).toEqual([400, expect.stringContaining("unknown columns (cost)")]);
  // What was shown of one list is not taken into another.
  await rule(store, "silver", { sku: "EU5", price: "9.00" });
  const hidden = Object.fromEntries(
    preview.page
      .querySelectorAll("main form input")
      .map((one) => [one.getAttribute("name"), one.getAttribute("value") ?? ""]),
  );
  const elsewhere = await finance.post("/console/prices/silver/import", hidden, { origin: platform.url });
  expect([elsewhere.status, elsewhere.text]).toEqual([400, expect.stringContaining("has to be chosen again")]);
});

test("prices of a file that are below the cost are named before they are taken, and after", async () => {
  const { finance } = await shop();
  const form = await finance.get(`${LIST}/import`);
  const rows = Array.from({ length: 12 }, (_, at) => `EU5,1.00,${at + 2}`);
  const preview = await finance.send(form, { file: new Blob(["sku,price,min_quantity\nEU5,1.99,1\nUS1,0.01,1\n"]) });
  expect(preview.text).toContain("Look at 1 price again, below the product's cost.");
  expect(preview.text).toContain("SKUPriceCostEU51.99 AUD2.0000 AUD");
  const done = await finance.send(preview, {}, "/import");
  expect(done.text).toContain("Below the product's cost: EU5 at 1.99 AUD (cost 2.0000 AUD).");
  const many = await finance.send(form, { file: new Blob([["sku,price,min_quantity", ...rows].join("\n")]) });
  expect(many.text).toContain("Look at 12 prices again");
  expect(many.text).toContain("And 2 more.");
  const well = await finance.send(form, { file: new Blob(["sku,price\nEU5,2.00\n"]) });
  expect(well.text).not.toContain("below the product's cost");
});

test("a partner gets a list, once it was shown which prices change", async () => {
  const { platform, store, finance, prices } = await shop();
  await listed(platform, "acme", null);
  await rule(store, "gold", { sku: "EU5", price: "3.10" });
  const at = "/console/partners/acme/prices";
  expect((await finance.get("/console/partners/acme")).html).toContain(`href="${at}"`);
  const page = await finance.get(at);
  expect(page.text).toContain("EU5Plan EU510.00 AUD10.00 AUDcatalog");
  const asked = await finance.send(page, { price_list: "gold" });
  expect(asked.text).toContain("Give acme the prices of gold?");
  expect(asked.text).toContain("EU5Plan EU510.00 AUD3.10 AUD");
  expect(asked.text).not.toContain("US1");
  expect((await prices()).EU5).toBe(1_000);
  const done = await finance.send(asked, {}, "/prices");
  expect([done.path, done.text]).toEqual([at, expect.stringContaining("acme has the prices of gold.")]);
  expect(done.text).toContain("EU5Plan EU53.10 AUD10.00 AUDgold");
  expect(await prices()).toEqual({ EU5: 310, US1: 700 });
  expect((await finance.send(asked, {}, "/prices")).text).toContain("acme has the prices of gold.");
  const refused = await finance.send(page, { price_list: "none" });
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("Price list must be a price list")]);
  await finance.send(await finance.send(page, { price_list: "-" }), {}, "/prices");
  expect((await prices()).EU5).toBe(1_000);
  expect((await finance.get("/console/partners/none/prices")).status).toBe(404);
});

test("a list that no partner has is deleted with its rules, once what comes of it was shown", async () => {
  const { platform, store, finance, prices } = await shop();
  await rule(store, "gold", { sku: "EU5", price: "3.10" });
  const at = `${LIST}/delete`;
  expect((await finance.get(LIST)).html).toContain(`href="${at}"`);
  const kept = await finance.get(at);
  expect([kept.status, kept.text]).toEqual([
    409,
    expect.stringContaining("gold is the price list of acme: give them another list or the catalog's prices first."),
  ]);
  await listed(platform, "acme", null);
  const asked = await finance.get(at);
  expect(asked.text).toContain("It has 1 rule, and no partner has it. Its rules go with it.");
  await listed(platform, "acme", "gold");
  expect([(await finance.send(asked, {}, "/delete")).status, (await prices()).EU5]).toEqual([409, 310]);
  await listed(platform, "acme", null);
  const done = await finance.send(asked, {}, "/delete");
  expect([done.path, done.text]).toEqual([
    "/console/prices",
    expect.stringContaining("The price list gold is deleted."),
  ]);
  expect((await finance.get(LIST)).status).toBe(404);
  const [entry] = await store.read(listAudit, { target: "gold", limit: 1 });
  expect(entry).toMatchObject({ action: "prices.delete", actor: `user:${finance.id}` });
});

test("support and viewers read prices, and set none", async () => {
  const { platform, store, prices } = await shop();
  await rule(store, "gold", { sku: "EU5", price: "3.10" });
  for (const role of ["support", "viewer"] as const) {
    const who = await person(platform, { role });
    const page = await who.get(LIST);
    expect(page.text).toContain("3.10 AUD");
    expect(page.page.querySelector('[name="price"]')).toBeNull();
    expect((await who.get("/console/partners/acme/prices")).page.querySelector('[name="price_list"]')).toBeNull();
    const csrf = csrfOf(page);
    for (const [path, typed] of [
      ["/console/prices", { name: "silver" }],
      [LIST, { sku: "EU5", price: "1.00", confirmed: "yes" }],
      [`${LIST}/end`, { sku: "EU5", end: "2026-03-04", confirmed: "yes" }],
      [`${LIST}/remove`, { sku: "EU5", confirmed: "yes" }],
      [`${LIST}/delete`, { confirmed: "yes" }],
      ["/console/partners/acme/prices", { price_list: "-", confirmed: "yes" }],
      ["/console/fx", { from_currency: "USD", to_currency: "AUD", rate: "1.5", confirmed: "yes" }],
    ] as const) {
      const { status } = await who.post(path, { ...csrf, ...typed }, { origin: platform.url });
      expect([path, status]).toEqual([path, 403]);
    }
    expect((await who.get(`${LIST}/import`)).status).toBe(403);
  }
  expect((await prices()).EU5).toBe(310);
});
