import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ProductInput } from "../src/core/catalog/product-input.ts";
import { esimsOfIccid } from "../src/core/esims/esim.ts";
import { expireDueEsims } from "../src/core/esims/expire.ts";
import { activateEsim, suspendEsim } from "../src/core/esims/life.ts";
import { recordUsage, type UsageReport } from "../src/core/esims/usage.ts";
import type { Subscription } from "../src/core/events/catalog.ts";
import type { PassportId } from "../src/core/kernel/brand.ts";
import { minorUnits } from "../src/core/kernel/money.ts";
import { createPartner } from "../src/core/partners/create.ts";
import { updatePartner } from "../src/core/partners/update.ts";
import { deletePassport } from "../src/core/passports/delete.ts";
import { requirePassport } from "../src/core/passports/passport.ts";
import { advanceClock } from "../src/core/sandbox/clock.ts";
import { updateRow } from "../src/core/store/rows.ts";
import type { Tx } from "../src/core/store/store.ts";
import { creditWallet, debitWallet } from "../src/core/wallet/fund.ts";
import { settleSandbox } from "../src/daemon/workers/all.ts";
import { announceEsims, announcePassports } from "../src/daemon/workers/notices.ts";
import { addProducts } from "./support/catalog.ts";
import { deskOf } from "./support/desk.ts";
import { deliverEsim } from "./support/esims.ts";
import { allEvents } from "./support/events.ts";
import { importRecords, passport } from "./support/passports.ts";
import { startReceiver } from "./support/receiver.ts";
import { advance, at, buy, momentsOf, openShop, report, settle } from "./support/sandbox.ts";
import { rewind } from "./support/store.ts";
import { dataAt, liveReceiver, startWebhookPlatform, written } from "./support/webhooks.ts";

const actor = "operator";
const DAY_MS = 86_400_000;
const { signal } = new AbortController();

describe("wallet.low", () => {
  test("reaches endpoints of production once a balance falls below its threshold, in each currency", async () => {
    const platform = await startWebhookPlatform();
    const { store } = platform;
    const live = await platform.caller({ live: true, slug: "acme" });
    const sandbox = await platform.credential("acme", {});
    const receiver = await liveReceiver(platform, live, ["wallet.low"]);
    await platform.endpoint(sandbox, receiver.url, ["wallet.low"]);
    const owner = { partnerId: live.partnerId, actor };
    const debit = (cents: number, currency: string) =>
      store.write(debitWallet, { ...owner, amount: minorUnits(cents), currency });
    await platform.fund(live.partnerId, 20_000);
    await platform.fund(live.partnerId, 20_000, "EUR");
    const low = (currency: string, cents: number | null) =>
      store.write(updatePartner, { slug: "acme", thresholds: { lowWallet: { currency, cents } }, actor });
    await low("AUD", 10_000);
    await low("USD", 5_000);

    await debit(10_000, "AUD"); // exactly the threshold is not below it
    await debit(15_000, "EUR"); // no threshold
    await debit(1, "AUD");
    await debit(1_000, "AUD"); // lower still
    await low("AUD", 10_000); // the same again changes nothing
    await platform.fund(live.partnerId, 5_000);
    await debit(5_000, "AUD"); // not back for an hour
    await platform.fund(live.partnerId, 6_000, "USD"); // the first of a wallet is no fall
    await debit(2_000, "USD");
    await low("AUD", null);
    await platform.fund(live.partnerId, 5_000);
    await debit(9_000, "AUD");
    await platform.deliver();
    expect(dataAt(receiver, "wallet.low")).toEqual([
      { currency: "AUD", balance_cents: 9_999, threshold_cents: 10_000 },
      { currency: "USD", balance_cents: 4_000, threshold_cents: 5_000 },
    ]);
  });

  test("comes again only after an hour at the threshold or above, whatever moves when", async () => {
    const platform = await startWebhookPlatform();
    const { store, clock } = platform;
    const step = fc.record({ cents: fc.integer({ min: -300, max: 300 }), minutes: fc.constantFrom(0, 1, 29, 31, 60) });
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const slug = `wallet-${++runs}`;
        const { id } = await store.write(createPartner, { slug, name: slug, actor });
        const thresholds = { lowWallet: { currency: "AUD", cents: 200 } };
        await store.write(updatePartner, { slug, thresholds, actor });
        let [balance, back, sent] = [0, 0, false];
        const expected: number[] = [];
        for (const { cents, minutes } of steps) {
          clock.advance(minutes * 60_000);
          const after = balance + cents;
          if (cents === 0 || after < 0) continue;
          const movement = { partnerId: id, amount: minorUnits(Math.abs(cents)), currency: "AUD", actor };
          await store.write(cents > 0 ? creditWallet : debitWallet, movement);
          if (balance < 200 && after >= 200) back = clock.now();
          if (balance >= 200 && after < 200 && (!sent || clock.now() - back >= 3_600_000)) {
            expected.push(after);
            sent = true;
          }
          balance = after;
        }
        const events = await written(platform, "wallet.low", id);
        expect(events.map(({ data }) => data.balance_cents)).toEqual(expected);
      }),
      { numRuns: 15 },
    );
  });
});

/** An eSIM of production whose plan has 1,000 MB and 30 days; its partner, and where its events go. */
async function withEsim(
  fields: Partial<ProductInput> = {},
  events: Subscription[] = ["esim.data_low", "esim.expiring"],
) {
  const platform = await startWebhookPlatform();
  const products = await addProducts(platform.store, [
    { sku: "EU1", data_amount_mb: 1_000, price_cents: 0, ...fields },
  ]);
  const caller = await platform.caller({ live: true, slug: "acme" });
  const receiver = await liveReceiver(platform, caller, events);
  const iccid = "8944100000000000017";
  const { orderId } = await deliverEsim(platform, caller, { sku: "EU1", product: products.EU1, iccid });
  const report = (used_mb: number, more: Partial<UsageReport> = {}) =>
    platform.store.write(recordUsage, {
      reports: [{ iccid, used_mb, total_mb: null, country: null, network: null, at: null, ...more }],
      actor,
    });
  return { ...platform, platform, caller, receiver, iccid, orderId, report };
}

describe("esim.data_low", () => {
  test("arrives at 50, 80 and 100 %, of several at once the highest; late and lower reports send nothing", async () => {
    const { platform, receiver, clock, iccid, orderId, report, store } = await withEsim();
    const reported = async (used_mb: number, more: Partial<UsageReport> = {}) => {
      clock.advance(60_000);
      await report(used_mb, more);
    };
    const early = clock.now();
    await reported(499);
    await reported(500);
    await reported(500);
    await reported(490); // a correction
    await reported(510);
    await reported(1_000, { at: early }); // late
    await reported(1_200); // 80 and 100
    await platform.deliver();
    const data = (threshold_percent: number, used_mb: number, reported_at: string) => {
      const data_usage = { total_mb: 1_000, used_mb, remaining_mb: Math.max(0, 1_000 - used_mb) };
      return { iccid, order_id: orderId, threshold_percent, data_usage, reported_at };
    };
    expect(dataAt(receiver, "esim.data_low")).toEqual([
      data(50, 500, "2026-03-02T01:02:00.000Z"),
      data(100, 1_200, "2026-03-02T01:07:00.000Z"),
    ]);

    receiver.received.length = 0;
    await reported(1_200, { total_mb: 2_000 }); // more data: 60 %
    await reported(1_600);
    await reported(0); // usage begins again
    await reported(1_000);
    await store.write(updatePartner, { slug: "acme", thresholds: { low_data: [60, 70] }, actor });
    await reported(1_250);
    await store.write(updatePartner, { slug: "acme", thresholds: { low_data: [] }, actor });
    await reported(2_000);
    await store.write(updatePartner, { slug: "acme", thresholds: { low_data: null }, actor });
    await reported(2_001); // was crossed before
    await platform.deliver();
    const percents = dataAt(receiver, "esim.data_low").map(({ threshold_percent }) => threshold_percent);
    expect(percents.toSorted()).toEqual([50, 60, 80]);
  });

  test("each threshold at most once per crossing, whatever is reported in which order", async () => {
    const { platform, store, clock, report, iccid } = await withEsim();
    const one = fc.record({
      used: fc.oneof(fc.integer({ min: 0, max: 1_100 }), fc.constant(0)),
      total: fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, fc.constantFrom(500, 1_000, 2_000)),
      late: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 5 })),
      again: fc.boolean(),
    });
    const begin = { used_mb: null, total_mb: null, usage_at: null, low_data_percent: null };
    await fc.assert(
      fc.asyncProperty(fc.array(one, { minLength: 3, maxLength: 14 }), async (reports) => {
        await store.write(async (tx: Tx) => {
          const esim = (await esimsOfIccid(tx, iccid))[0];
          if (esim !== undefined) await updateRow(tx, "esims", { id: esim.id }, begin);
        }, null);
        const known = (await written(platform, "esim.data_low")).length;
        const open = new Set([50, 80, 100]);
        let [used, total, last] = [0, 1_000, 0];
        const expected: number[] = [];
        for (const { used: used_mb, total: total_mb, late, again } of reports) {
          clock.advance(60_000);
          const at = clock.now() - late * 60_000;
          for (let times = again ? 2 : 1; times > 0; times--) await report(used_mb, { total_mb, at });
          if (at <= last) continue;
          const [usedNow, totalNow] = [used_mb, total_mb ?? total];
          const is = (percent: number, mb: number, of: number) => mb >= (of * percent) / 100;
          if (totalNow > total || (usedNow === 0 && used > 0)) {
            for (const percent of [50, 80, 100]) if (!is(percent, usedNow, totalNow)) open.add(percent);
          }
          const crossed = [100, 80, 50].find((each) => !is(each, used, total) && is(each, usedNow, totalNow));
          if (crossed !== undefined && open.has(crossed)) {
            expected.push(crossed);
            for (const percent of [50, 80, 100]) if (percent <= crossed) open.delete(percent);
          }
          [used, total, last] = [usedNow, totalNow, at];
        }
        const events = (await written(platform, "esim.data_low")).slice(known);
        expect(events.map(({ data }) => data.threshold_percent)).toEqual(expected);
      }),
      { numRuns: 20 },
    );
  });
});

describe("esim.expiring", () => {
  test("arrives 3 days and 1 day before the expiry, once, also for a suspended eSIM", async () => {
    const { platform, receiver, clock, iccid, orderId, store } = await withEsim();
    const run = () => announceEsims({ store }, signal);
    await run();
    await store.write(activateEsim, { iccid, actor });
    for (const days of [26.9, 0.1, 0.5, 1.4]) {
      clock.advance(days * DAY_MS);
      await run();
    }
    await store.write(suspendEsim, { iccid, actor });
    for (const days of [0.1, 0, 0.9, 0.2, 5]) {
      clock.advance(days * DAY_MS);
      await run();
    }
    await store.write(expireDueEsims, null);
    await platform.deliver();
    const data = { iccid, order_id: orderId, expires_at: "2026-04-01T01:00:00.000Z" };
    expect(dataAt(receiver, "esim.expiring")).toEqual([
      { ...data, days_left: 3 },
      { ...data, days_left: 1 },
    ]);
  });

  test("what came due while nothing ran is sent once, as the nearest; nothing after the expiry", async () => {
    const { platform, clock, iccid, store } = await withEsim();
    const gaps = fc.array(fc.integer({ min: 1, max: 30 * 24 }), { minLength: 1, maxLength: 12 });
    const wanted = fc.constantFrom([3, 1], [7, 2], [10], []);
    await fc.assert(
      fc.asyncProperty(gaps, wanted, fc.constantFrom(2, 8, 30), async (hours, days, validity) => {
        await store.write(updatePartner, { slug: "acme", thresholds: { expiry_days: days }, actor });
        await announceEsims({ store }, signal);
        const [begun, known] = [clock.now(), (await written(platform, "esim.expiring")).length];
        const end = begun + validity * DAY_MS;
        await store.write(async (tx: Tx) => {
          const esim = (await esimsOfIccid(tx, iccid))[0];
          const life = { status: "active", activated_at: begun, expires_at: end, expiry_notice: null } as const;
          if (esim !== undefined) await updateRow(tx, "esims", { id: esim.id }, life);
        }, null);
        const expected: number[] = [];
        for (const gap of hours) {
          const since = clock.now();
          clock.advance(gap * 3_600_000);
          await Promise.all([announceEsims({ store }, signal), announceEsims({ store }, signal)]);
          const marks = days.map((each) => end - each * DAY_MS).filter((at) => at > begun);
          if (clock.now() >= end || !marks.some((at) => at > since && at <= clock.now())) continue;
          expected.push(Math.ceil((end - clock.now()) / DAY_MS));
        }
        const events = (await written(platform, "esim.expiring")).slice(known);
        expect(events.map(({ data }) => data.days_left)).toEqual(expected);
      }),
      { numRuns: 15 },
    );
  });
});

test("notices of an advanced sandbox go on where an earlier version ended: a past day sends nothing", async () => {
  const shop = await openShop();
  const { partner, products } = shop;
  const { partnerId } = partner;
  await announceEsims(shop, signal);
  for (const product of [products.EU5, products.WEEK]) {
    const { iccid } = await buy(shop, partner, product);
    await report(partner, iccid, { event: "activated" });
  }
  await advance(partner, "P5D");
  await settle(shop);
  await shop.store.close();
  await rewind(shop.location, "9009_sandbox_notices", [
    `INSERT INTO settings (key, value)
      SELECT 'esim_notices_through:' || partner_id, cast(notices_through AS text) FROM sandbox_clocks`,
    "UPDATE sandbox_clocks SET notices_through = NULL",
  ]);
  const store = await shop.again();
  // 28 days before the expiry of a month's plan is past; a day before that of a week's plan is ahead.
  await store.write(updatePartner, { slug: "partner-1", thresholds: { expiry_days: [28, 1] }, actor: "test" });
  await store.write(advanceClock, { partnerId, actor: "test", advance: "P1D" });
  await settleSandbox({ store }, signal);
  const notices = (await allEvents(store)).filter(({ kind }) => kind === "esim.expiring");
  expect(momentsOf(notices).sort()).toEqual([`esim.expiring ${at(4)}`, `esim.expiring ${at(6)}`]);
});

test("passport.expiring arrives once for a document and its expiry, in its own environment", async () => {
  const platform = await startWebhookPlatform();
  const { store, clock } = platform;
  const agent = await platform.caller({ slug: "agency", agent: true });
  const live = await platform.credential("agency", { live: true });
  const [receiver, other] = [await startReceiver(), await liveReceiver(platform, live, ["*"])];
  await platform.endpoint(agent, receiver.url, ["passport.expiring"]);
  const [soon = "", later = "", withdrawn = ""] = await importRecords(agent, [
    passport({ passport_expiry: "2026-05-01" }), // 60 days from now
    passport({ passport_expiry: "2026-05-02" }),
    passport({ passport_expiry: "2026-03-03" }),
  ]);
  const [own = ""] = await importRecords(live, [passport({ passport_expiry: "2026-03-02", passport_country: "AUS" })]);
  await agent.send("DELETE", `/api/v1/kyc/passports/${withdrawn}`);
  const run = async (days: number) => {
    clock.advance(days * DAY_MS);
    await Promise.all([announcePassports({ store }, signal), announcePassports({ store }, signal)]);
  };
  await run(0);
  await run(0.5);
  expect(await written(platform, "passport.expiring")).toHaveLength(2);
  // Its token has expired meanwhile.
  const edit = async (change: object) =>
    (await platform.credential("agency", {})).send("PATCH", `/api/v1/kyc/passports/${soon}`, change);
  expect((await edit({ passport_expiry: "2026-04-30" })).status).toBe(200);
  await run(1); // another expiry of one, and the other's day
  expect((await edit({ first_name: "Ada" })).status).toBe(200);
  await run(1);
  await platform.deliver();
  const data = (id: string, passport_expiry: string, passport_country = "GBR") => ({
    id,
    passport_country,
    passport_expiry,
  });
  expect(dataAt(other, "passport.expiring")).toEqual([data(own, "2026-03-02", "AUS")]);
  const expected = [data(soon, "2026-05-01"), data(soon, "2026-04-30"), data(later, "2026-05-02")];
  const byExpiry = (one: { passport_expiry: string }, two: typeof one) =>
    one.passport_expiry < two.passport_expiry ? -1 : 1;
  expect(dataAt(receiver, "passport.expiring").sort(byExpiry)).toEqual(expected.sort(byExpiry));

  const row = await store.read(requirePassport, soon as PassportId);
  await store.write((tx: Tx) => deletePassport(tx, row, { actor, verb: "erase" }), null);
  const left = (await written(platform, "passport.expiring")).filter(({ subject_id }) => subject_id === soon);
  expect(left.map((event) => event.data)).toEqual([{}, {}]);
});

test("partners update sets thresholds and clears them, partners show prints them", async () => {
  const platform = await startWebhookPlatform();
  const acme = await platform.caller({ slug: "acme" });
  const desk = deskOf(platform);
  const shown = async () => (await desk.json("partners show acme")).thresholds;
  expect(await shown()).toEqual({ low_wallet: {}, low_data: [50, 80, 100], expiry_days: [3, 1] });
  const ambiguous = await desk.refusal("partners update acme --low-wallet 100.00");
  expect(ambiguous).toMatchObject({ exitCode: 2, message: "The partner has no wallet yet." });
  await platform.fund(acme.partnerId, 1_000);
  await desk.json("partners update acme --low-wallet 100.00 --low-data 90,75 --expiry-days 2,14");
  await desk.json("partners update acme --low-wallet 1000 --currency jpy");
  const set = { low_wallet: { AUD: 10_000, JPY: 1_000 }, low_data: [75, 90], expiry_days: [14, 2] };
  expect(await shown()).toEqual(set);
  const { stdout } = await desk.run("partners show acme");
  expect(stdout).toMatch(/wallet is low +below 100\.00 AUD, 1000 JPY/);
  expect(stdout).toMatch(/data is low +at 75, 90 %/);
  expect(stdout).toMatch(/eSIM expires +notice 14, 2 days before/);
  for (const wrong of ["--low-data 0", "--low-data 101", "--expiry-days 366", "--low-data x", "--currency AUD"]) {
    expect((await desk.refusal(`partners update acme ${wrong}`)).exitCode, wrong).toBe(2);
  }
  await desk.json("partners update acme --low-wallet none --currency JPY --low-data none --expiry-days default");
  expect(await shown()).toEqual({ low_wallet: { AUD: 10_000 }, low_data: [], expiry_days: [3, 1] });
  await desk.json("partners update acme --low-wallet none --low-data default");
  expect(await shown()).toEqual({ low_wallet: {}, low_data: [50, 80, 100], expiry_days: [3, 1] });
});
