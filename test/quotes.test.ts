import { writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import pg from "pg";
import { describe, expect, test } from "vitest";
import type { Location } from "../src/core/store/open/open.ts";
import { addProducts, addStock, suppliedProducts } from "./support/catalog.ts";
import { deskOf } from "./support/desk.ts";
import { type Platform, startPlatform } from "./support/platform.ts";
import { create, createBulk, customer, key, lines, quote, quoteBulk, refusalOf, traveler } from "./support/quotes.ts";
import { temporaryDirectory } from "./support/store.ts";

/** How many rows each table has. */
async function rowCounts({ store }: Platform): Promise<Record<string, number>> {
  return store.read(async (q) => {
    const { orders, idempotencyKeys, events, auditEntries, ledgerTransactions, settings } = q.t;
    const tables = { orders, idempotencyKeys, events, auditEntries, ledgerTransactions, settings };
    const counts: Record<string, number> = {};
    for (const [name, table] of Object.entries(tables)) counts[name] = (await q.db.select().from(table)).length;
    return counts;
  }, null);
}

/** Holds the database's write lock, as another process that writes would, until `release`. */
async function holdWriter(location: Location): Promise<{ release(): Promise<void> }> {
  if (!("url" in location)) {
    const connection = new Database(location.file);
    connection.exec("BEGIN IMMEDIATE");
    return { release: async () => void connection.close() };
  }
  const client = new pg.Client({ connectionString: location.url });
  await client.connect();
  const { rows } = await client.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
  const names = rows.map(({ tablename }) => `"${tablename}"`).join(", ");
  // Reads go on; each statement that writes waits.
  await client.query(`BEGIN; LOCK TABLE ${names} IN EXCLUSIVE MODE`);
  return { release: () => client.end() };
}

describe("a quote", () => {
  test("says what each line costs and when it is delivered, and what the wallet lacks; it writes nothing", async () => {
    const platform = await startPlatform();
    const { store } = platform;
    const products = await addProducts(store, [
      { sku: "EU5", price_cents: 1250 },
      { sku: "JP1", price_cents: 700 },
      { sku: "SIM", price_cents: 400, product_type: "physical_sim", delivery_method: "shipping" },
      ...suppliedProducts,
    ]);
    await addStock(store, "EU5", 2);
    const caller = await platform.caller({ live: true });
    await platform.fund(caller.partnerId, 3_000);
    const { EU5, JP1, SIM, API, MAIL } = products;
    const before = await rowCounts(platform);
    const asked = { ...lines([EU5, 2], [SIM, 1], [API, 1], [MAIL, 1]), activation_requests: [traveler(MAIL)] };
    const { status, body } = await quote(caller, asked);
    expect(status).toBe(200);
    expect(body).toEqual({
      line_items: [
        {
          product_id: EU5,
          product_sku: "EU5",
          product_name: "Plan EU5",
          quantity: 2,
          unit_price_cents: 1250,
          subtotal_cents: 2500,
          delivery: "now",
        },
        expect.objectContaining({ product_sku: "SIM", subtotal_cents: 400, delivery: "shipping" }),
        expect.objectContaining({ product_sku: "API", delivery: "now" }),
        expect.objectContaining({ product_sku: "MAIL", delivery: "scheduled" }),
      ],
      quantity: 5,
      total_price_cents: 3_400,
      currency: "AUD",
      balance_cents: 3_000,
      shortfall_cents: 400,
    });
    // All stock of an order is reserved or none: one product short holds the others.
    const short = await quote(caller, lines([EU5, 1], [JP1, 1], [API, 1]));
    expect(short.body.line_items.map(({ delivery }: { delivery: string }) => delivery)).toEqual([
      "review",
      "review",
      "now",
    ]);
    expect(await rowCounts(platform)).toEqual(before);
    const sandbox = await platform.credential("partner-1", {});
    expect((await quote(sandbox, lines([EU5, 900]))).body).toMatchObject({
      line_items: [{ delivery: "now" }],
      total_price_cents: 1_125_000,
      shortfall_cents: 0,
    });
    // It needs no more than the scope that reads orders.
    const reader = await platform.credential("partner-1", { live: true, scopes: ["read:orders"] });
    expect((await quote(reader, lines([EU5, 1]))).status).toBe(200);
    const blind = await platform.credential("partner-1", { live: true, scopes: ["write:orders"] });
    expect((await quote(blind, lines([EU5, 1]))).status).toBe(403);
  });

  test("is refused as the order would be, in the same words, and money is no refusal", async () => {
    const platform = await startPlatform();
    const products = await addProducts(platform.store, [
      { sku: "EU5" },
      { sku: "OFF", status: "inactive" },
      { sku: "OUT", status: "out_of_stock" },
      { sku: "EUR", currency: "EUR" },
      { sku: "DEAR", price_cents: Number.MAX_SAFE_INTEGER },
      ...suppliedProducts,
    ]);
    const { EU5, OFF, OUT, EUR, DEAR, MAIL, PUSH } = products;
    const caller = await platform.caller({ live: true });
    const bodies: object[] = [
      {},
      lines([EU5, 0]),
      lines([crypto.randomUUID(), 1]),
      lines([EU5, 1], [OFF, 1], [OUT, 1]),
      lines([EU5, 1], [EUR, 1]),
      lines([DEAR, 2]),
      lines([MAIL, 1]),
      { ...lines([EU5, 1]), activation_requests: [traveler(EU5)] },
      { ...lines([PUSH, 1]), activation_requests: [traveler(PUSH)] },
      { ...lines([MAIL, 1]), activation_requests: [traveler(MAIL, { activation_date: "2026-03-01" })] },
      { ...lines([MAIL, 1]), activation_requests: [traveler(MAIL, { timezone: "Mars/Olympus" })] },
      { ...lines([EU5, 1]), metadata: { long: "x".repeat(20_000) } },
      { ...lines([EU5, 1]), max_total_cents: 1249 },
      { ...lines([EU5, 1]), max_total_cents: -1 },
      { ...lines([EU5, 1]), max_total_cents: 12.5 },
    ];
    for (const body of bodies) {
      const refused = refusalOf(await create(caller, body));
      expect(refused.status, JSON.stringify(body)).toBeGreaterThanOrEqual(400);
      expect(refusalOf(await quote(caller, body)), JSON.stringify(body)).toEqual(refused);
    }
    const poor = lines([EU5, 1]);
    expect(await create(caller, poor)).toMatchObject({ status: 402, body: { shortfall_cents: 1250 } });
    expect(await quote(caller, poor)).toMatchObject({ status: 200, body: { shortfall_cents: 1250, balance_cents: 0 } });
    // The sandbox numbers its units: when its ICCIDs are used up, both say so.
    const sandbox = await platform.credential("partner-1", {});
    await platform.store.write(async (tx) => {
      await tx.db.insert(tx.t.settings).values({ key: "sandbox_units", value: "99999999999999" });
    }, null);
    const last = refusalOf(await create(sandbox, lines([EU5, 2])));
    expect(last).toMatchObject({ status: 409 });
    expect(refusalOf(await quote(sandbox, lines([EU5, 2])))).toEqual(last);
    const item = { external_order_id: "z", customer, ...lines([EU5, 2]) };
    const [asBulk] = (await quoteBulk(sandbox, [item])).body.results;
    expect(asBulk).toMatchObject({ status: "failed", error: { code: "conflict" } });
  });

  test("is answered while another process holds the write lock", async () => {
    const platform = await startPlatform();
    const { EU5 } = await addProducts(platform.store, [{ sku: "EU5" }]);
    await addStock(platform.store, "EU5", 1);
    const caller = await platform.caller({ live: true });
    await platform.fund(caller.partnerId, 5_000);
    const item = { external_order_id: "a", customer, ...lines([EU5, 1]) };
    const held = await holdWriter(platform.location);
    try {
      expect(await quote(caller, lines([EU5, 2]))).toMatchObject({ status: 200, body: { total_price_cents: 2500 } });
      expect(await quoteBulk(caller, [item])).toMatchObject({ status: 200, body: { summary: { successful: 1 } } });
    } finally {
      await held.release();
    }
  });
});

describe("max_total_cents", () => {
  test("refuses a dearer order: nothing is charged, and the key stays free", async () => {
    const platform = await startPlatform();
    const { EU5 } = await addProducts(platform.store, [{ sku: "EU5", price_cents: 1250 }]);
    await addStock(platform.store, "EU5", 5);
    const caller = await platform.caller({ live: true });
    await platform.fund(caller.partnerId, 10_000);
    const once = key();
    const dear = await create(caller, { ...lines([EU5, 2]), max_total_cents: 2499 }, once);
    expect(dear).toMatchObject({
      status: 409,
      body: {
        type: "http://esim.test/docs/errors/price_changed",
        title: "Price Changed",
        detail: "The order costs 25.00 AUD, more than 24.99 AUD.",
        total_price_cents: 2500,
        max_total_cents: 2499,
        currency: "AUD",
      },
    });
    expect((await caller.get("/api/v1/balance")).body.balances).toMatchObject([{ balance_cents: 10_000 }]);
    const body = { ...lines([EU5, 2]), max_total_cents: 2500 };
    const placed = await create(caller, body, once);
    expect(placed).toMatchObject({ status: 201, body: { total_price_cents: 2500 } });
    // What was placed is answered again whatever the product costs by then.
    await addProducts(platform.store, [{ sku: "EU5", price_cents: 9_000 }]);
    expect(await create(caller, body, once)).toMatchObject({ status: 200, body: { id: placed.body.id } });
    expect((await create(caller, body)).status).toBe(409);
    expect((await create(caller, { ...lines([EU5, 1]), max_total_cents: null })).status).toBe(402);
    // Money is looked at last: a poor wallet does not hide that the price is another one.
    expect((await create(caller, { ...lines([EU5, 1]), max_total_cents: 100 })).status).toBe(409);
  });

  test("holds for each order of a bulk request by itself", async () => {
    const platform = await startPlatform();
    const { EU5 } = await addProducts(platform.store, [{ sku: "EU5", price_cents: 1250 }]);
    const caller = await platform.caller({ live: true });
    await platform.fund(caller.partnerId, 10_000);
    const item = (external_order_id: string, max_total_cents: number) => {
      return { external_order_id, customer, max_total_cents, ...lines([EU5, 1]) };
    };
    const orders = [item("a", 1249), item("b", 1250)];
    const quoted = await quoteBulk(caller, orders);
    const { body } = await createBulk(caller, orders);
    for (const { results, summary } of [quoted.body, body]) {
      expect(summary).toEqual({ total: 2, successful: 1, failed: 1 });
      expect(results).toMatchObject([{ error: { code: "price_changed" } }, { status: "success" }]);
    }
    expect((await createBulk(caller, [item("a", 1250)])).body.summary.successful).toBe(1);
  });
});

test("a bulk quote assesses each order with what those before it leave of wallet and stock", async () => {
  const platform = await startPlatform();
  const { EU5, OFF, JPY } = await addProducts(platform.store, [
    { sku: "EU5", price_cents: 100 },
    { sku: "OFF", status: "inactive" },
    { sku: "JPY", price_cents: 70, currency: "JPY" },
  ]);
  await addStock(platform.store, "EU5", 3);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 1_050);
  const item = (external_order_id: string, ...asked: Parameters<typeof lines>) => {
    return { external_order_id, customer, ...lines(...asked) };
  };
  await createBulk(caller, [item("old", [EU5, 1])]);
  await platform.fulfill();
  const orders = [
    item("a", [EU5, 3]),
    item("b", [EU5, 2]),
    item("c", [EU5, 6]),
    item("d", [EU5, 4]),
    item("e", [OFF, 1]),
    item("f", [JPY, 2]),
    item("a", [EU5, 3]),
    item("a", [EU5, 1]),
    item("old", [EU5, 1]),
    item("old", [EU5, 2]),
  ];
  const before = await rowCounts(platform);
  const { status, body } = await quoteBulk(caller, orders);
  expect(status).toBe(200);
  expect(await rowCounts(platform)).toEqual(before);
  const seen = body.results.map((one: { status: string; replayed: boolean; total_price_cents: number }) => {
    const { line_items, error } = Object(one);
    return [one.status, one.total_price_cents, one.replayed, error?.code ?? line_items[0]?.delivery];
  });
  expect(seen).toEqual([
    // Two are left in stock: three wait for review and take none of them.
    ["success", 300, false, "review"],
    ["success", 200, false, "now"],
    ["failed", 600, false, "insufficient_balance"],
    ["success", 400, false, "review"],
    ["failed", null, false, "validation"],
    ["failed", 140, false, "insufficient_balance"],
    ["success", 300, true, undefined],
    ["failed", null, false, "idempotency_conflict"],
    ["success", 100, true, undefined],
    ["failed", null, false, "idempotency_conflict"],
  ]);
  expect(body.summary).toEqual({ total: 10, successful: 5, failed: 5 });
  expect(body.totals).toEqual([
    { currency: "AUD", total_price_cents: 1500, balance_cents: 950, shortfall_cents: 550 },
    { currency: "JPY", total_price_cents: 140, balance_cents: 0, shortfall_cents: 140 },
  ]);
});

test("the terminal quotes one product, guards the price, and tries a file at a server by a quote", async () => {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [
    { sku: "EU5", price_cents: 1250 },
    { sku: "OFF", status: "inactive" },
    ...suppliedProducts,
  ]);
  await addStock(platform.store, "EU5", 2);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 5_000);
  const desk = deskOf(platform);
  for (const [place, who] of [
    [desk.at(caller), ""],
    [desk, "--partner partner-1"],
  ] as const) {
    expect(await place.json(`orders quote ${who} --product EU5 --quantity 2`)).toMatchObject({
      line_items: [{ product_sku: "EU5", delivery: "now" }],
      total_price_cents: 2500,
      shortfall_cents: 0,
    });
    const poor = await place.run(`orders quote ${who} --product EU5 --quantity 5`);
    expect(poor.exitCode).toBe(1);
    expect(poor.stdout).toMatch(/total +62\.50 AUD\nwallet +50\.00 AUD \(12\.50 AUD short\)\ndelivery +after a review/);
    const dear = await place.refusal(`orders create ${who} --product EU5 --quantity 1 --max-total 12.49`);
    expect(dear).toMatchObject({ exitCode: 1, code: "price_changed", hint: expect.stringContaining("orders quote") });
    expect((await place.refusal(`orders create ${who} --product EU5 --quantity 1 --max-total 1.234`)).exitCode).toBe(2);
    expect((await place.refusal(`orders quote ${who} --quantity 1`)).exitCode).toBe(2);
  }
  const file = join(temporaryDirectory(), "orders.json");
  const item = (external_order_id: string, sku: string, quantity: number, more: object = {}) => {
    return { external_order_id, customer, ...lines([products[sku], quantity]), ...more };
  };
  const past = { activation_requests: [traveler(products.MAIL, { activation_date: "2026-03-01" })] };
  const orders = [item("a", "EU5", 3), item("b", "MAIL", 1, past), item("c", "EU5", 1, { max_total_cents: 1 })];
  await createBulk(caller, [item("old", "EU5", 1)]);
  writeFileSync(file, JSON.stringify([...orders, item("old", "EU5", 1), item("d", "OFF", 1)]));
  const { exitCode, stdout } = await desk.at(caller).run(`orders bulk ${file} --dry-run --json`);
  expect(exitCode).toBe(3);
  expect(JSON.parse(stdout).dry_run).toMatchObject({
    orders: 5,
    // The order that was placed before costs nothing more.
    totals: [{ currency: "AUD", total_cents: 3_750, balance_cents: 3_750, shortfall_cents: 0 }],
    refused: [
      { external_order_id: "b", code: "invalid_activation_date", message: expect.stringContaining("is past in UTC") },
      { external_order_id: "c", code: "price_changed" },
      { external_order_id: "d", code: "validation" },
    ],
  });
  const words = (await desk.at(caller).run(`orders bulk ${file} --dry-run`)).stdout;
  expect(words).toContain("c: The order costs 12.50 AUD, more than 0.01 AUD.");
  expect(
    await desk.json(`orders create --partner partner-1 --product EU5 --quantity 1 --max-total 12.50`),
  ).toMatchObject({
    total_price_cents: 1250,
  });
});
