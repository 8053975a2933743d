import { expect, test } from "vitest";
import { listAudit } from "../src/core/audit/list.ts";
import { activateEsim } from "../src/core/esims/life.ts";
import type { Read } from "../src/core/store/store.ts";
import { claimItems } from "../src/core/supplier-requests/due.ts";
import { setSupplier } from "../src/core/suppliers/set.ts";
import { expireEsims } from "../src/daemon/workers/cron.ts";
import { addProducts, suppliedProducts } from "./support/catalog.ts";
import { deliverEsim } from "./support/esims.ts";
import { type Platform, startPlatform } from "./support/platform.ts";
import { postSigned, SHARED_SECRET } from "./support/signed.ts";

const ICCID = "8944590004463637016";
const STOCKED = "8944590004463637008";
const actor = "test";

/** The data of all esim.activated events. */
async function activations(platform: Platform) {
  const query = (q: Read, _input: null) => q.db.select().from(q.t.events);
  const events = await platform.store.read(query, null);
  return events.filter(({ kind }) => kind === "esim.activated").map(({ data }) => data);
}

const PATH = "/api/v1/callbacks/suppliers/northwind/esims";
const day = (date: number, hour = 0) =>
  `2026-03-${String(date).padStart(2, "0")}T${String(hour).padStart(2, "0")}:00:00.000Z`;

/** A partner with one eSIM from stock and one that the supplier northwind delivered, and that supplier's callback. */
async function withSupplied() {
  const shop = await startPlatform();
  // An eSIM from stock has no supplier, whatever its product names.
  const products = await addProducts(shop.store, [...suppliedProducts, { sku: "EU5", supplier: "northwind" }]);
  const buyer = await shop.caller({ live: true });
  await shop.fund(buyer.partnerId, 100_000);
  await deliverEsim(shop, buyer, { sku: "EU5", product: products.EU5, iccid: STOCKED });
  for (const name of ["northwind", "kestrel"]) {
    const settings = { adapter: "http" as const, url: "http://127.0.0.1:9/x", secret: SHARED_SECRET };
    await shop.store.write(setSupplier, { name, settings, actor });
  }
  const line_items = [{ product_id: products.API, quantity: 1 }];
  const order = await buyer.send("POST", "/api/v1/orders", { line_items }, { "idempotency-key": "api" });
  const [claimed] = await shop.store.write(claimItems, { supplier: "northwind", room: 1 });
  const esims = [{ iccid: ICCID, activation_code: "LPA:1$smdp.example.net$N-1" }];
  const reference = claimed?.item.id;
  await postSigned(shop, PATH.replace("/esims", ""), { reference, outcome: "activated", esims });
  shop.clock.set(day(20));
  const partner = await shop.credential("partner-1", { live: true });
  return {
    ...shop,
    orderId: order.body.id,
    report: (body: object, path = PATH) => postSigned(shop, path, { iccid: ICCID, ...body }),
    status: async () => (await partner.get(`/api/v1/esims/${ICCID}/status`)).body,
  };
}

test("a replayed report reverts nothing, in any process, and one signed earlier counts as older", async () => {
  const shop = await withSupplied();
  const clock = { now: () => shop.clock.now() };
  const report = (body: object, at = clock) =>
    postSigned({ url: shop.url, clock: at }, PATH, { iccid: ICCID, ...body });
  expect((await report({ event: "activated" })).body.applied).toBe(true);
  shop.clock.advance(10_000);
  const at = shop.clock.now();
  const captured = { now: () => at };
  expect((await report({ event: "suspended" }, captured)).body.applied).toBe(true);
  shop.clock.advance(60_000);
  const early = shop.clock.now();
  shop.clock.advance(60_000);
  expect((await report({ event: "resumed" })).body.applied).toBe(true);
  expect((await report({ event: "suspended" }, captured)).body).toEqual({ ok: true, applied: false });
  expect(await shop.status()).toMatchObject({ status: "active" });
  expect((await report({ event: "suspended" }, { now: () => early })).body.applied).toBe(false);
  expect(await shop.status()).toMatchObject({ status: "active" });
  // Signatures are forgotten once their time is refused.
  shop.clock.advance(310_000);
  expect((await report({ event: "suspended" }, captured)).status).toBe(401);
  await report({ event: "usage", used_mb: 1 });
  const kept = await shop.store.read(async (q) => q.db.select().from(q.t.callbackSignatures), null);
  expect(kept).toHaveLength(1);
});

test("a supplier activates, suspends and resumes an eSIM, each once however often it is reported", async () => {
  const shop = await withSupplied();
  const reported = async (event: string, at: string) => (await shop.report({ event, at })).body;
  for (const applied of [true, false]) {
    expect(await reported("activated", day(10))).toEqual({ ok: true, applied });
  }
  expect(await shop.status()).toMatchObject({
    status: "active",
    activated_at: day(10),
    expires_at: "2026-04-09T00:00:00.000Z",
  });
  expect(await activations(shop)).toMatchObject([{ iccid: ICCID, order_id: shop.orderId, status: "active" }]);
  expect(await reported("suspended", day(11))).toMatchObject({ applied: true });
  expect(await reported("suspended", day(11))).toMatchObject({ applied: false });
  expect(await shop.status()).toMatchObject({ status: "suspended", activation_status: "suspended" });
  expect(await reported("resumed", day(12))).toMatchObject({ applied: true });
  expect(await shop.status()).toMatchObject({ status: "active", activated_at: day(10) });
  expect(await activations(shop)).toHaveLength(1);
  const trail = await shop.store.read(listAudit, { limit: 10 });
  const moves = trail.filter(({ actor: who }) => who === "supplier:northwind").map(({ action }) => action);
  expect(moves).toEqual(["esims.activate", "esims.suspend", "esims.activate"]);
});

test("reports may arrive in any order: the newest holds, and an activation is never lost", async () => {
  const words: [string, string][] = [
    ["activated", day(10)],
    ["suspended", day(11)],
    ["resumed", day(12)],
    ["suspended", day(13)],
  ];
  const shop = await withSupplied();
  for (const [event, at] of [words[3], words[0], words[2], words[1]].flatMap((word) => (word ? [word] : []))) {
    expect((await shop.report({ event, at })).status).toBe(200);
  }
  expect(await shop.status()).toMatchObject({ status: "suspended", activated_at: day(10) });
  expect(await activations(shop)).toHaveLength(1);
  // The operator's change of today is newer than the supplier's report of yesterday.
  await shop.store.write(activateEsim, { iccid: ICCID, actor });
  expect((await shop.report({ event: "suspended", at: day(19) })).body.applied).toBe(false);
  expect((await shop.report({ event: "suspended" })).body.applied).toBe(false);
  // Within the second it would have the same signature.
  shop.clock.advance(1000);
  expect((await shop.report({ event: "suspended" })).body.applied).toBe(true);
});

test("a report sets usage and location as an import does", async () => {
  const shop = await withSupplied();
  const used = { event: "usage", used_mb: 1000, total_mb: 6000, country: "JP", network: "NTT", at: day(12) };
  expect((await shop.report(used)).body).toEqual({ ok: true, applied: true });
  expect((await shop.report(used)).body.applied).toBe(false);
  expect((await shop.report({ event: "usage", used_mb: 10, at: day(11) })).body.applied).toBe(false);
  expect(await shop.status()).toMatchObject({
    status: "inactive",
    data_usage: { used_mb: 1000, total_mb: 6000, remaining_mb: 5000, updated_at: day(12) },
    location: { country: "JP", network: "NTT", updated_at: day(12) },
  });
  // A location may be reported without usage, alone or with other data; the newest one holds.
  expect((await shop.report({ event: "usage", country: "KR", at: day(14) })).body.applied).toBe(true);
  expect((await shop.report({ event: "usage", country: "CN", at: day(14) })).body.applied).toBe(false);
  await shop.report({ event: "usage", used_mb: 1000, country: "CN", at: day(13) });
  expect(await shop.status()).toMatchObject({
    data_usage: { used_mb: 1000, updated_at: day(13) },
    location: { country: "KR", network: null, updated_at: day(14) },
  });
  // One callback may report both.
  await shop.report({ event: "activated", at: day(15), used_mb: 1001 });
  expect(await shop.status()).toMatchObject({ status: "active", data_usage: { used_mb: 1001 } });
});

test("a report is accepted for the supplier's own eSIMs, of past times, and signed only", async () => {
  const shop = await withSupplied();
  const stock = await shop.report({ iccid: STOCKED, event: "activated" });
  expect([stock.status, stock.body.type]).toEqual([404, "http://esim.test/docs/errors/not_found"]);
  expect((await shop.report({ iccid: "8944590004463637024", event: "activated" })).status).toBe(404);
  expect((await shop.report({ event: "activated" }, PATH.replace("northwind", "kestrel"))).status).toBe(404);
  expect((await shop.report({ event: "activated" }, PATH.replace("northwind", "unknown"))).status).toBe(401);
  expect((await postSigned(shop, PATH, { iccid: ICCID, event: "activated" }, "some other secret")).status).toBe(401);
  for (const [body, field] of [
    [{ event: "usage" }, "used_mb"],
    [{ event: "activated", total_mb: 5 }, "used_mb"],
    [{ event: "usage", used_mb: 1.5 }, "used_mb"],
    [{ event: "gone" }, "event"],
    [{ event: "activated", at: day(21) }, "at"],
    [{ event: "activated", at: "2026-02-30" }, "at"],
    [{ event: "activated", at: "2016-12-31T23:59:60Z" }, "at"],
  ] as const) {
    const { status, body: problem } = await shop.report(body);
    expect([status, Object.keys(problem.errors ?? {})]).toEqual([400, [field]]);
  }
  expect(await shop.status()).toMatchObject({ status: "inactive", location: null });
  // A clock that is a little ahead is no fault.
  expect((await shop.report({ event: "activated", at: "2026-03-20T00:04:00Z" })).body.applied).toBe(true);
  expect(await shop.status()).toMatchObject({ activated_at: day(20) });
});

test("a report changes no expired eSIM", async () => {
  const shop = await withSupplied();
  await shop.report({ event: "activated", at: "2026-02-01T00:00:00Z" });
  await expireEsims(shop, new AbortController().signal);
  for (const event of ["activated", "suspended", "resumed"]) {
    expect((await shop.report({ event })).body).toEqual({ ok: true, applied: false });
  }
  expect(await shop.status()).toMatchObject({ status: "expired" });
});

test("the eSIM of one traveler is active before the day of another", async () => {
  const shop = await startPlatform();
  const products = await addProducts(shop.store, suppliedProducts);
  const buyer = await shop.caller({ live: true });
  await shop.fund(buyer.partnerId, 100_000);
  const settings = { adapter: "http" as const, url: "http://127.0.0.1:9/x", secret: SHARED_SECRET };
  await shop.store.write(setSupplier, { name: "northwind", settings, actor });
  const who = { product_id: products.PUSH, customer_email: "mia@example.com", customer_name: "Mia Chen" };
  const travelers = ["2026-03-02", "2026-04-02"].map((activation_date) => ({
    ...who,
    activation_date,
    eid_number: "89049032000000000000000000000066",
  }));
  const line_items = [{ product_id: products.PUSH, quantity: 2 }];
  const order = { line_items, activation_requests: travelers };
  const { body: placed } = await buyer.send("POST", "/api/v1/orders", order, { "idempotency-key": "two" });
  const claimed = await shop.store.write(claimItems, { supplier: "northwind", room: 2 });
  expect(claimed).toHaveLength(1);
  const esims = [{ iccid: ICCID, activation_code: "LPA:1$smdp.example.net$N-1" }];
  const done = { reference: claimed[0]?.item.id, outcome: "activated", esims };
  expect((await postSigned(shop, PATH.replace("/esims", ""), done)).body.applied).toBe(true);
  const status = () => buyer.get(`/api/v1/esims/${ICCID}/status`);
  expect((await status()).body).toMatchObject({ status: "inactive", order_id: placed.id });
  expect((await postSigned(shop, PATH, { iccid: ICCID, event: "activated" })).body.applied).toBe(true);
  expect((await status()).body).toMatchObject({ status: "active" });
  expect((await buyer.get(`/api/v1/orders/${placed.id}`)).body.status).toBe("paid");
});
