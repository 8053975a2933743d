import { describe, expect, test } from "vitest";
import { activationStatusOf, esimTransitions } from "../src/core/esims/esim.ts";
import { expireDueEsims } from "../src/core/esims/expire.ts";
import { activateEsim, suspendEsim } from "../src/core/esims/life.ts";
import { checkUsageRow, recordUsage, type UsageReport } from "../src/core/esims/usage.ts";
import { canMove } from "../src/core/kernel/state-machine.ts";
import type { Read } from "../src/core/store/store.ts";
import { expireEsims } from "../src/daemon/workers/cron.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { deliverEsim } from "./support/esims.ts";
import { type Caller, call, type Platform, startPlatform } from "./support/platform.ts";

const ICCID = "8944590004463637008";
const OTHER = "8944590004463637016";
const DAY_MS = 86_400_000;
const actor = "test";

interface Shop extends Platform {
  caller: Platform["caller"];
  partner: Caller;
  orderId: string;
}

/** A platform on which one partner holds one delivered eSIM of a 30-day, 5 GB plan. */
async function withEsim(): Promise<Shop> {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [
    { sku: "EU5", name: "Europe", activation_policy: "On first use" },
  ]);
  const partner = await platform.caller({ live: true });
  await platform.fund(partner.partnerId, 100_000);
  const { orderId } = await deliverEsim(platform, partner, { sku: "EU5", product: products.EU5, iccid: ICCID });
  return { ...platform, partner, orderId };
}

const statusOf = (caller: Caller, iccid = ICCID) => caller.get(`/api/v1/esims/${iccid}/status`);

/** The same of the shop's eSIM, by a token of now: the clock moves on by days. */
async function statusNow(shop: Shop) {
  return (await statusOf(await shop.credential("partner-1", { live: true }))).body;
}

/** The events of a kind, oldest first, as they are sent. */
async function eventsOf(platform: Platform, kind: string) {
  const query = (q: Read, _input: null) => q.db.select().from(q.t.events).orderBy(q.t.events.id);
  return (await platform.store.read(query, null)).filter((event) => event.kind === kind);
}

function report(fields: Partial<UsageReport> = {}): UsageReport {
  return { iccid: ICCID, used_mb: 100, total_mb: null, country: null, network: null, at: null, ...fields };
}

describe("status", () => {
  test("of a new eSIM is not activated and without usage", async () => {
    const { partner, orderId } = await withEsim();
    const { status, body } = await statusOf(partner);
    expect(status).toBe(200);
    expect(body).toEqual({
      iccid: ICCID,
      order_id: orderId,
      status: "inactive",
      activation_status: "not_activated",
      activation_policy: "On first use",
      activated_at: null,
      expires_at: null,
      data_usage: { total_mb: 5120, used_mb: 0, remaining_mb: 5120, updated_at: null },
      location: null,
    });
  });

  test("needs read:esims", async () => {
    const { url, credential } = await withEsim();
    expect((await call(`${url}/api/v1/esims/${ICCID}/status`)).status).toBe(401);
    const reader = await credential("partner-1", { live: true, scopes: ["read:orders"] });
    expect((await statusOf(reader)).body.type).toMatch(/insufficient_scope$/);
  });

  test.each(["123", "894459000446363700", "894459000446363700812", "89445900044636370x8"])(
    "of %s is no question: an ICCID has 19 or 20 digits",
    async (iccid) => {
      const { partner } = await withEsim();
      const { status, body } = await statusOf(partner, iccid);
      expect([status, body.type]).toEqual([400, "http://esim.test/docs/errors/invalid_iccid"]);
    },
  );

  test("of another partner's eSIM is a 403; of an unknown or unsold one a 404", async () => {
    const shop = await withEsim();
    const [unsold = ""] = await addStock(shop.store, "EU5", 1);
    const other = await shop.caller({ live: true });
    const forbidden = await statusOf(other);
    expect([forbidden.status, forbidden.body.type]).toEqual([403, "http://esim.test/docs/errors/esim_forbidden"]);
    expect(JSON.stringify(forbidden.body)).not.toContain(shop.orderId);
    for (const iccid of [OTHER, unsold]) {
      expect((await statusOf(shop.partner, iccid)).status).toBe(404);
      expect((await statusOf(other, iccid)).status).toBe(404);
    }
  });

  test("of an eSIM whose order is not delivered yet is a 404", async () => {
    const shop = await withEsim();
    const products = await addProducts(shop.store, [{ sku: "BIG" }]);
    const iccids = await addStock(shop.store, "BIG", 501);
    const line_items = [{ product_id: products.BIG, quantity: 501 }];
    const headers = { "idempotency-key": "big" };
    await shop.fund(shop.partner.partnerId, 10_000_000);
    const { body } = await shop.partner.send("POST", "/api/v1/orders", { line_items }, headers);
    const { fulfillStep } = await import("../src/core/orders/fulfill.ts");
    expect(await shop.store.write(fulfillStep, body.id)).toBe("more");
    expect((await statusOf(shop.partner, iccids[0])).status).toBe(404);
    await shop.fulfill();
    expect((await statusOf(shop.partner, iccids[0])).status).toBe(200);
  });

  test("is separate for each environment", async () => {
    const shop = await withEsim();
    const sandbox = await shop.credential("partner-1", {});
    expect((await statusOf(sandbox)).status).toBe(404);
    const { EU5 } = await addProducts(shop.store, [{ sku: "EU5", name: "Europe" }]);
    const line_items = [{ product_id: EU5, quantity: 1 }];
    const order = await sandbox.send("POST", "/api/v1/orders", { line_items }, { "idempotency-key": "test" });
    await shop.fulfill();
    const { body } = await sandbox.get(`/api/v1/orders/${order.body.id}/esims`);
    const iccid = body.esims[0].iccid;
    expect((await statusOf(sandbox, iccid)).body).toMatchObject({ iccid, status: "inactive", is_test: true });
    expect((await statusOf(shop.partner, iccid)).status).toBe(404);
    expect((await statusOf(await shop.caller({ live: false }), iccid)).status).toBe(403);
    // They cannot be activated on a device.
    await expect(shop.store.write(activateEsim, { iccid, actor })).rejects.toMatchObject({ slug: "not_found" });
  });
});

describe("activation", () => {
  test("begins the product's validity and emits an event", async () => {
    const shop = await withEsim();
    shop.clock.set("2026-03-10T08:00:00.000Z");
    await shop.store.write(activateEsim, { iccid: ICCID, actor });
    const moments = { activated_at: "2026-03-10T08:00:00.000Z", expires_at: "2026-04-09T08:00:00.000Z" };
    expect(await statusNow(shop)).toMatchObject({
      status: "active",
      activation_status: "activated",
      ...moments,
    });
    const events = await eventsOf(shop, "esim.activated");
    expect(events).toMatchObject([{ partner_id: shop.partner.partnerId, environment: "production" }]);
    expect(events[0]?.data).toEqual({
      iccid: ICCID,
      order_id: shop.orderId,
      status: "active",
      activated_at: moments.activated_at,
      product: { name: "Europe", sku: "EU5", validity_days: 30 },
      expires_at: moments.expires_at,
    });
    const again = await shop.credential("partner-1", { live: true });
    const { body } = await again.get(`/api/v1/orders/${shop.orderId}/esims`);
    expect(body.esims[0]).toMatchObject({ status: "active", activated_at: moments.activated_at });
  });

  test("a second time changes nothing and emits nothing", async () => {
    const shop = await withEsim();
    await shop.store.write(activateEsim, { iccid: ICCID, actor });
    const before = await statusNow(shop);
    shop.clock.advance(DAY_MS);
    await shop.store.write(activateEsim, { iccid: ICCID, actor });
    expect(await statusNow(shop)).toEqual(before);
    expect(await eventsOf(shop, "esim.activated")).toHaveLength(1);
  });

  test("ends a suspension, and the validity stays as it was", async () => {
    const shop = await withEsim();
    const { expires_at } = await shop.store.write(activateEsim, { iccid: ICCID, actor });
    await shop.store.write(suspendEsim, { iccid: ICCID, actor });
    expect(await statusNow(shop)).toMatchObject({ status: "suspended", activation_status: "suspended" });
    shop.clock.advance(DAY_MS);
    expect(await shop.store.write(activateEsim, { iccid: ICCID, actor })).toMatchObject({
      status: "active",
      expires_at,
    });
    expect(await eventsOf(shop, "esim.activated")).toHaveLength(1);
  });

  test("of an eSIM suspended before its first use is its first activation", async () => {
    const shop = await withEsim();
    await shop.store.write(suspendEsim, { iccid: ICCID, actor });
    const active = await shop.store.write(activateEsim, { iccid: ICCID, actor });
    expect(active.expires_at).not.toBeNull();
    expect(await eventsOf(shop, "esim.activated")).toHaveLength(1);
  });

  test("of an expired, unsold or unknown eSIM is refused, and its suspension too", async () => {
    const shop = await withEsim();
    const [unsold = ""] = await addStock(shop.store, "EU5", 1);
    for (const move of [activateEsim, suspendEsim]) {
      await expect(shop.store.write(move, { iccid: unsold, actor })).rejects.toMatchObject({ slug: "not_found" });
    }
    await shop.store.write(activateEsim, { iccid: ICCID, actor });
    shop.clock.advance(30 * DAY_MS);
    await shop.store.write(expireDueEsims, null);
    for (const move of [activateEsim, suspendEsim]) {
      await expect(shop.store.write(move, { iccid: ICCID, actor })).rejects.toMatchObject({ slug: "conflict" });
    }
  });
});

describe("expiry", () => {
  test("happens when the validity ends, once, with the last usage", async () => {
    const shop = await withEsim();
    await shop.store.write(activateEsim, { iccid: ICCID, actor });
    await shop.store.write(recordUsage, { reports: [report({ used_mb: 6000, total_mb: 5500 })], actor });
    shop.clock.advance(30 * DAY_MS - 1);
    expect(await shop.store.write(expireDueEsims, null)).toBe(0);
    shop.clock.advance(1);
    expect(await shop.store.write(expireDueEsims, null)).toBe(1);
    expect(await shop.store.write(expireDueEsims, null)).toBe(0);
    expect(await statusNow(shop)).toMatchObject({ status: "expired", activation_status: "expired" });
    expect((await eventsOf(shop, "esim.expired")).map(({ data }) => data)).toEqual([
      {
        iccid: ICCID,
        order_id: shop.orderId,
        status: "expired",
        expired_at: new Date(shop.clock.now()).toISOString(),
        data_usage: { total_mb: 5500, used_mb: 6000, remaining_mb: 0 },
      },
    ]);
  });

  test("makes it inactive in the list of its order, and expired everywhere else", async () => {
    const shop = await withEsim();
    await shop.store.write(activateEsim, { iccid: ICCID, actor });
    shop.clock.advance(30 * DAY_MS);
    await shop.store.write(expireDueEsims, null);
    const partner = await shop.credential("partner-1", { live: true });
    const path = `/api/v1/orders/${shop.orderId}/esims`;
    for (const query of ["", "?limit=1"]) {
      const { body } = await partner.get(path + query);
      expect(body.esims).toMatchObject([{ iccid: ICCID, status: "inactive", activated_at: expect.any(String) }]);
    }
    expect((await partner.get("/api/v1/esims")).body.data).toMatchObject([{ iccid: ICCID, status: "expired" }]);
    expect((await statusOf(partner)).body.status).toBe("expired");
  });

  test("happens late after downtime, with the time it was due, and to suspended eSIMs too", async () => {
    const shop = await withEsim();
    const { expires_at } = await shop.store.write(activateEsim, { iccid: ICCID, actor });
    await shop.store.write(suspendEsim, { iccid: ICCID, actor });
    shop.clock.advance(90 * DAY_MS);
    await expireEsims(shop, new AbortController().signal);
    const [event] = await eventsOf(shop, "esim.expired");
    expect(event?.data).toMatchObject({ expired_at: expires_at, data_usage: { total_mb: 5120, used_mb: 0 } });
  });

  test("of many eSIMs runs in steps, each eSIM once", async () => {
    const shop = await withEsim();
    const products = await addProducts(shop.store, [{ sku: "MANY", validity_days: 1, price_cents: 1 }]);
    const iccids = await addStock(shop.store, "MANY", 510);
    const line_items = [{ product_id: products.MANY, quantity: 510 }];
    await shop.partner.send("POST", "/api/v1/orders", { line_items }, { "idempotency-key": "many" });
    await shop.fulfill();
    for (const iccid of iccids) await shop.store.write(activateEsim, { iccid, actor });
    shop.clock.advance(2 * DAY_MS);
    expect(await shop.store.write(expireDueEsims, null)).toBe(500);
    await Promise.all([shop, shop].map((each) => expireEsims(each, new AbortController().signal)));
    const events = await eventsOf(shop, "esim.expired");
    expect(new Set(events.map(({ data }) => data.iccid))).toEqual(new Set(iccids));
    expect(events).toHaveLength(510);
  });
});

describe("usage", () => {
  test("is in the status with the location of the eSIM", async () => {
    const shop = await withEsim();
    const at = Date.parse("2026-03-01T10:00:00.000Z");
    const first = report({ used_mb: 1922, country: "DE", network: "Alpenfunk", at });
    expect(await shop.store.write(recordUsage, { reports: [first], actor })).toEqual(["imported"]);
    const updated_at = "2026-03-01T10:00:00.000Z";
    expect(await statusNow(shop)).toMatchObject({
      data_usage: { total_mb: 5120, used_mb: 1922, remaining_mb: 3198, updated_at },
      location: { country: "DE", network: "Alpenfunk", updated_at },
    });
    const second = report({ used_mb: 2000, total_mb: 6000, at: at + 60_000 });
    expect(await shop.store.write(recordUsage, { reports: [second], actor })).toEqual(["updated"]);
    // No place was reported this time: the last known one stays, with its own moment.
    expect(await statusNow(shop)).toMatchObject({
      data_usage: { total_mb: 6000, used_mb: 2000, remaining_mb: 4000, updated_at: "2026-03-01T10:01:00.000Z" },
      location: { country: "DE", network: "Alpenfunk", updated_at },
    });
  });

  test("that is older, repeated, in the future, or of an unknown eSIM changes nothing", async () => {
    const shop = await withEsim();
    const at = shop.clock.now() - 1000;
    await shop.store.write(recordUsage, { reports: [report({ at })], actor });
    const [unsold = ""] = await addStock(shop.store, "EU5", 1);
    const reports = [
      report({ at, used_mb: 200 }),
      report({ at: at - 1, used_mb: 50 }),
      report(),
      report({ at: shop.clock.now() + 1 }),
      report({ iccid: OTHER }),
      report({ iccid: unsold }),
    ];
    const outcomes = await shop.store.write(recordUsage, { reports, actor });
    expect(outcomes.slice(0, 3)).toEqual(["duplicate", "duplicate", "duplicate"]);
    expect(outcomes.slice(3)).toEqual([
      { rejected: expect.stringMatching(/future/) },
      { rejected: expect.stringMatching(/no delivered eSIM/) },
      { rejected: expect.stringMatching(/no delivered eSIM/) },
    ]);
    expect((await statusNow(shop)).data_usage.used_mb).toBe(100);
  });

  test("rows name their faults", () => {
    expect(checkUsageRow({ iccid: ICCID, used_mb: "1922", at: "2026-11-18T23:14:00.000Z" })).toEqual({
      ok: { ...report({ used_mb: 1922, at: Date.parse("2026-11-18T23:14:00.000Z") }) },
    });
    const bad = { iccid: "12", used_mb: "-1", total_mb: "1.5", country: "x".repeat(101), at: "2026-13-40T00:00Z" };
    expect(checkUsageRow(bad)).toEqual({
      problems: [
        expect.stringMatching(/^iccid /),
        expect.stringMatching(/^used_mb /),
        expect.stringMatching(/^total_mb /),
        expect.stringMatching(/^at /),
        expect.stringMatching(/^country /),
      ],
    });
  });
});

test("transitions follow their table, and each state has its activation status", () => {
  const moves = Object.entries(esimTransitions).flatMap(([from, to]) => to.map((state) => `${from} → ${state}`));
  expect(moves).toEqual([
    "inactive → active",
    "inactive → suspended",
    "inactive → expired",
    "active → suspended",
    "active → expired",
    "suspended → active",
    "suspended → expired",
  ]);
  expect(canMove(esimTransitions, "expired", "active")).toBe(false);
  expect(Object.values(activationStatusOf)).toEqual(["not_activated", "activated", "suspended", "expired"]);
});
