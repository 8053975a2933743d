import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import type { OrderId } from "../src/core/kernel/brand.ts";
import { minorUnits } from "../src/core/kernel/money.ts";
import { cancelOrder } from "../src/core/orders/cancel.ts";
import { insert } from "../src/core/store/rows.ts";
import type { Store } from "../src/core/store/store.ts";
import { creditWallet, debitWallet } from "../src/core/wallet/fund.ts";
import type { StatementFigures } from "../src/core/wallet/statement.ts";
import { addProducts } from "./support/catalog.ts";
import { deskOf } from "./support/desk.ts";
import { type Caller, type Platform, startPlatform } from "./support/platform.ts";
import { renewed } from "./support/price-lists.ts";
import { create, createBulk, customer, lines } from "./support/quotes.ts";
import { property } from "./support/rounds.ts";
import { buy, openShop } from "./support/sandbox.ts";
import { everyPage, expectSamePdf, expectSound, linesOf, STATEMENTS, statementBytes } from "./support/statements.ts";
import { onPostgres, temporaryDirectory } from "./support/store.ts";
import { makeSupplied, plan, setUpProvider, startTopupProvider, work } from "./support/topup-provider.ts";

const actor = "test";
const march = { month: "2026-03", currency: "AUD" };

const credit = (
  store: Store,
  { partnerId }: Caller,
  cents: number,
  currency = "AUD",
  reference: string | null = null,
) => store.write(creditWallet, { partnerId, currency, amount: minorUnits(cents), reference, actor });

const csvOf = async (platform: Platform, caller: Caller, of = march) =>
  (await statementBytes(platform, caller, of, "text/csv")).toString();

test("a month is opened with what the one before was closed with, and lists what moved the wallet", async () => {
  const platform = await startPlatform();
  const { store, clock } = platform;
  const { EU5 } = await addProducts(store, [{ sku: "EU5", price_cents: 300 }]);
  const caller = await platform.caller({ live: true });
  await credit(store, caller, 1_000, "AUD", '=SUM("A1"),\n2');
  const { body: order } = await create(caller, lines([EU5, 2]));
  clock.set("2026-04-30T23:59:59.999Z");
  await store.write(cancelOrder, { id: order.id, reason: "changed", actor });
  clock.set("2026-05-01T00:00:00.000Z");
  await credit(store, caller, 50, "EUR");
  const live = await platform.credential("partner-1", { live: true });

  const { body: listed } = await live.get(STATEMENTS);
  const all = [
    { month: "2026-05", currency: "AUD", opening_cents: 1_000, closing_cents: 1_000, movement_count: 0 },
    { month: "2026-05", currency: "EUR", opening_cents: 0, closing_cents: 50, movement_count: 1 },
    { month: "2026-04", currency: "AUD", opening_cents: 400, closing_cents: 1_000, movement_count: 1 },
    { month: "2026-03", currency: "AUD", opening_cents: 0, closing_cents: 400, movement_count: 2 },
  ].map((one) => ({ ...one, finished: one.month === "2026-03" }));
  expect(listed).toEqual({ data: all, pagination: { has_more: false, next_cursor: null, count: 4 } });
  expect(await everyPage(live, STATEMENTS, 1)).toEqual(all);
  expect(await everyPage(live, `${STATEMENTS}?currency=EUR`, 9)).toEqual([all[1]]);

  const { body } = await live.get(`${STATEMENTS}/2026-03?currency=AUD`);
  const { body: moved } = await live.get("/api/v1/wallet/transactions?currency=AUD&to=2026-04-01T00:00:00Z");
  const hash = expect.stringMatching(/^[0-9a-f]{64}$/);
  expect(body).toEqual({ ...all[3], movements: moved.data.toReversed(), hash });
  expect(body.movements.map(({ kind }: { kind: string }) => kind)).toEqual(["credit", "charge"]);

  const csv = await csvOf(platform, live);
  const [first, payment, charge, last] = await linesOf(csv);
  expect(csv.split("\n", 1)).toEqual([
    "created_at,kind,currency,amount_cents,balance_after_cents,reference,order_id,order_number,id",
  ]);
  expect(first).toMatchObject({ created_at: "2026-03-01T00:00:00.000Z", kind: "opening", balance_after_cents: "0" });
  // No spreadsheet runs it.
  expect(payment).toMatchObject({ kind: "credit", amount_cents: "1000", reference: '=SUM("A1"),\n2' });
  expect(csv).toContain(`,"'=SUM(""A1""),\n2",`);
  expect(charge).toMatchObject({ amount_cents: "-600", balance_after_cents: "400", order_number: order.order_number });
  expect(last).toMatchObject({ created_at: "2026-04-01T00:00:00.000Z", kind: "closing", balance_after_cents: "400" });
  expect(csv.trimEnd().split("\n").at(-1)).toBe(`,hash,AUD,,,${body.hash},,,`);
  // As docs/api.md shows it.
  expect(execFileSync("sh", ["-c", "sed '$d' | sha256sum"], { input: csv }).toString()).toBe(`${body.hash}  -\n`);
});

test("the terminal shows a statement, and writes its CSV as the server sends it", async () => {
  const platform = await startPlatform({ start: new Date().toISOString() });
  const caller = await platform.caller({ live: true });
  await credit(platform.store, caller, 1_050, "AUD", "INV-1");
  const month = new Date(platform.clock.now()).toISOString().slice(0, 7);
  const { body } = await caller.get(`${STATEMENTS}/${month}`);
  const desk = deskOf(platform);
  const file = join(temporaryDirectory(), "statement.csv");
  for (const [place, line] of [
    [desk, `wallet statement --month ${month} --partner partner-1`],
    [desk.at(caller), `wallet statement --month ${month} --currency aud`],
  ] as const) {
    expect(await place.json(line)).toEqual(body);
    const { stdout } = await place.run(line);
    expect(stdout).toMatch(/^closing +10\.50 AUD$/m);
    expect(stdout).toMatch(/credit +10\.50 AUD +10\.50 AUD .*INV-1/);
    expect(await place.json(`${line} -o ${file}`)).toEqual({ file });
    expect((await linesOf(readFileSync(file, "utf8")))[1]).toMatchObject({ id: body.movements[0].id });
  }
  const refused = await desk.refusal("wallet statement --month 2026-13 --partner partner-1");
  expect(refused).toMatchObject({ code: "validation", message: expect.stringContaining("month") });
});

test("the text of a statement stays as it is: partners keep its hash", async () => {
  const platform = await startPlatform();
  platform.clock.set("2026-07-01T01:00:00Z");
  const caller = await platform.caller({ live: true });
  const csv = await csvOf(platform, caller, { month: "2026-06", currency: "AUD" });
  expect(csv).toBe(
    [
      "created_at,kind,currency,amount_cents,balance_after_cents,reference,order_id,order_number,id",
      "2026-06-01T00:00:00.000Z,opening,AUD,,0,,,,",
      "2026-07-01T00:00:00.000Z,closing,AUD,,0,,,,",
      ",hash,AUD,,,9e4055995a94e29564a313ffd526753305e8d1a36030097ecf6505be747fcd48,,,",
      "",
    ].join("\n"),
  );
});

test("a month is finished once nothing can be added to it, whatever the clocks of nodes show", async () => {
  const platform = await startPlatform({ start: "2026-03-31T23:59:58.000Z" });
  const { store, clock } = platform;
  let behind = 0;
  // Another node, whose clock may be behind, or whose transaction is committed later than it began.
  const other = await platform.again({ now: () => clock.now() - behind });
  let caller = await platform.caller({ live: true });
  const read = async () => (await caller.get(`${STATEMENTS}/2026-03`)).body;
  await credit(store, caller, 1_000);
  expect(await read()).toMatchObject({ finished: false, hash: null, closing_cents: 1_000 });
  expect((await linesOf(await csvOf(platform, caller))).at(-1)).toMatchObject({ kind: "closing" });

  clock.set("2026-04-01T00:59:59.999Z");
  caller = await renewed(platform, caller);
  expect(await read()).toMatchObject({ finished: false, hash: null, closing_cents: 1_000, movement_count: 1 });
  behind = 3_600_000;
  await credit(other, caller, 500);
  expect(await read()).toMatchObject({ finished: false, hash: null, closing_cents: 1_500, movement_count: 2 });

  clock.advance(1);
  const finished = await read();
  expect(finished).toMatchObject({ finished: true, closing_cents: 1_500, movement_count: 2 });
  const csv = await csvOf(platform, caller);
  expect(
    createHash("sha256")
      .update(csv.slice(0, csv.indexOf(",hash,")))
      .digest("hex"),
  ).toBe(finished.hash);
  await credit(other, caller, 7);
  await credit(store, caller, 70);
  expect([await read(), await csvOf(platform, caller)]).toEqual([finished, csv]);
  expect((await caller.get(`${STATEMENTS}/2026-04`)).body).toMatchObject({
    ...{ opening_cents: 1_500, closing_cents: 1_577, movement_count: 2 },
  });
});

test("what follows the first movement of a month belongs to it, also where its clock was behind", async () => {
  const platform = await startPlatform({ start: "2026-03-31T23:59:00.000Z" });
  const { store, clock } = platform;
  let behind = 0;
  const other = await platform.again({ now: () => clock.now() - behind });
  const caller = await platform.caller({ live: true });
  await credit(store, caller, 1_000);
  clock.set("2026-04-01T00:00:01.000Z");
  await credit(store, caller, 200);
  behind = 1_500;
  await credit(other, caller, 30);
  behind = 500;
  await credit(other, caller, 4);
  const [april, before] = await everyPage<StatementFigures>(caller, STATEMENTS, 9);
  expect(before).toMatchObject({ month: "2026-03", opening_cents: 0, closing_cents: 1_000, movement_count: 1 });
  expect(april).toMatchObject({ month: "2026-04", opening_cents: 1_000, closing_cents: 1_234, movement_count: 3 });
  const { body } = await caller.get(`${STATEMENTS}/2026-04`);
  expect(body.movements.map((one: { amount_cents: number }) => one.amount_cents)).toEqual([200, 30, 4]);
});

test("a month that is none, or has not begun, and a wallet that is not named are refused", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller({ live: true });
  const refused = async (path: string) => {
    const { status, body } = await caller.get(`${STATEMENTS}${path}`);
    return [status, body.errors ?? body.title];
  };
  expect(await refused("/2026-03")).toEqual([400, { currency: ["is required, as no money has moved yet"] }]);
  await credit(platform.store, caller, 5);
  for (const month of ["2026-13", "2026-00", "2026-3", "202603", "march", "2026-03-01"]) {
    expect(await refused(`/${month}`)).toEqual([400, { month: ["must be a month as 2026-03"] }]);
  }
  const later = { month: ["must not be later than the present one, 2026-03 (UTC)"] };
  expect(await refused("/2026-04")).toEqual([400, later]);
  expect(await refused("/9999-12")).toEqual([400, later]);
  expect(await refused("/2026-03?currency=XXQ")).toMatchObject([400, { currency: [/ISO/] }]);
  expect(await refused("?currency=XXQ")).toMatchObject([400, { currency: [/ISO/] }]);
  expect(await refused("?cursor=abc")).toEqual([400, "Invalid Cursor"]);
  await credit(platform.store, caller, 5, "EUR");
  expect(await refused("/2026-03")).toEqual([400, { currency: ["is required: there are wallets in AUD, EUR"] }]);
  for (const path of ["/2026-02?currency=AUD", "/0001-01?currency=AUD", "/2026-03?currency=JPY"]) {
    const { status, body } = await caller.get(`${STATEMENTS}${path}`);
    const empty = { opening_cents: 0, closing_cents: 0, movement_count: 0, movements: [] };
    expect([status, body]).toMatchObject([200, empty]);
  }
});

test("Accept chooses the form; one that there is not is refused", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller({ live: true });
  await credit(platform.store, caller, 5);
  const typeFor = async (accept: string) => {
    const { status, headers, body } = await caller.get(`${STATEMENTS}/2026-03`, { accept });
    return status === 200 ? headers.get("content-type") : [status, body.detail];
  };
  for (const accept of ["*/*", "application/json", "application/*", "text/html, application/json;q=0.1"]) {
    expect(await typeFor(accept)).toBe("application/json; charset=utf-8");
  }
  for (const accept of ["text/csv", "text/*", "application/json;q=0.5, text/csv"]) {
    expect(await typeFor(accept)).toBe("text/csv; charset=utf-8");
  }
  const none = [406, "A statement is application/json, text/csv or application/pdf."];
  for (const accept of ["text/html", "application/xml", "application/json;q=0"]) {
    expect(await typeFor(accept)).toEqual(none);
  }
  const { headers } = await caller.get(`${STATEMENTS}/2026-03`, { accept: "text/csv" });
  expect(headers.get("content-disposition")).toBe('attachment; filename="statement-2026-03-AUD.csv"');
  expect(headers.get("vary")).toBe("accept, accept-encoding");
});

test("the sandbox shares the wallet; another partner sees nothing of it", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller({ live: true });
  await credit(platform.store, caller, 5);
  const sandbox = await platform.credential("partner-1", {});
  const other = await platform.caller({ live: true });
  const path = `${STATEMENTS}/2026-03?currency=AUD`;
  expect((await sandbox.get(path)).body).toEqual((await caller.get(path)).body);
  expect((await sandbox.get(STATEMENTS)).body).toEqual((await caller.get(STATEMENTS)).body);
  expect((await other.get(STATEMENTS)).body.data).toEqual([]);
  expect((await other.get(path)).body).toMatchObject({ movements: [], closing_cents: 0 });
});

const DAY = 86_400_000;
/** To the next month, nearly or just, or some days on. */
const gap = fc.oneof(
  fc.record({ edge: fc.constant(true), ms: fc.integer({ min: -2, max: 2 }) }),
  fc.record({ edge: fc.constant(false), ms: fc.oneof(fc.constant(0), fc.nat({ max: 20 * DAY })) }),
);
const step = fc.record({
  act: fc.constantFrom("credit", "debit", "order", "bulk", "refund", "topup", "refused topup"),
  currency: fc.constantFrom("AUD", "EUR"),
  cents: fc.integer({ min: 1, max: 5_000 }),
  gap,
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A shop whose partner has an eSIM that can be topped up. */
async function openBusyShop() {
  const shop = await openShop();
  const { store } = shop;
  const provider = await startTopupProvider();
  provider.plans = [plan({ plan: "TOP3" })];
  await setUpProvider(shop, provider);
  const rate = { from_currency: "USD", to_currency: "AUD", day: "2026-03-01", rate: "1.52" };
  await store.write((tx) => insert(tx, "fxRates", [{ ...rate, created_at: tx.now }]), null);
  const { iccid } = await buy(shop, shop.live, shop.products.EU5);
  await makeSupplied(shop, iccid);
  return { shop, provider, iccid, orders: [] as OrderId[] };
}

type BusyShop = Awaited<ReturnType<typeof openBusyShop>>;

/** Moves the clock on. */
function wait({ clock }: Platform, { edge, ms }: Step["gap"]): void {
  const now = new Date(clock.now());
  const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) + ms;
  clock.advance(Math.max(0, edge ? next - clock.now() : ms));
}

/** Does what moves the wallet, or is refused. */
async function move({ shop, provider, iccid, orders }: BusyShop, live: Caller, { act, currency, cents }: Step) {
  const { store, products } = shop;
  const money = { partnerId: live.partnerId, currency, amount: minorUnits(cents), actor };
  const one = () => ({ external_order_id: crypto.randomUUID(), customer, ...lines([products.WEEK, 1]) });
  switch (act) {
    case "credit":
      return store.write(creditWallet, money);
    case "debit":
      return store.write(debitWallet, money).catch(() => null);
    case "order":
      return orders.push((await create(live, lines([products.WEEK, 1 + (cents % 3)]))).body.id);
    case "bulk":
      return createBulk(live, [one(), one()]);
    case "refund": {
      const id = orders.pop();
      return id && store.write(cancelOrder, { id, reason: "changed", actor });
    }
    default: {
      const path = `/api/v1/esims/${iccid}`;
      const { body } = await live.get(`${path}/topup-products`);
      const headers = { "idempotency-key": crypto.randomUUID() };
      const bought = await live.send("POST", `${path}/topups`, { product_id: body.data[0].id }, headers);
      expect(bought.status).toBe(201);
      provider.next = act === "topup" ? [] : ["refuse"];
      return work(shop);
    }
  }
}

property(
  "closing equals the next opening, whatever moves the wallet and when",
  onPostgres ? { few: 1, many: 3 } : { few: 1, many: 10 },
  async (numRuns) => {
    const zone = process.env.TZ;
    onTestFinished(() => {
      process.env.TZ = zone;
      if (zone === undefined) delete process.env.TZ;
    });
    const zones = fc.constantFrom("UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago", "Australia/Sydney");
    const steps = fc.array(step, { minLength: 8, maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(steps, zones, async (drawn, name) => {
        process.env.TZ = name;
        const busy = await openBusyShop();
        const { shop } = busy;
        let kept = new Map<string, string>();
        const look = async (live: Caller) => {
          const now = await expectSound(shop, live);
          for (const [of, bytes] of kept) expect(now.get(of)).toBe(bytes);
          kept = now;
        };
        for (const one of drawn) {
          wait(shop, one.gap);
          const live = await renewed(shop, shop.live);
          await move(busy, live, one);
          if (one.cents % 3 === 0) await look(live);
        }
        shop.clock.advance(40 * DAY);
        const live = await renewed(shop, shop.live);
        await look(live);
        await expectSamePdf(shop, live);
        expect(kept.size).toBeGreaterThan(0);
      }),
      { numRuns },
    );
  },
);
