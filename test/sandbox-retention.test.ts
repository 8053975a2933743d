import { count } from "drizzle-orm";
import { expect, test } from "vitest";
import { listAudit } from "../src/core/audit/list.ts";
import { deliveredEsims } from "../src/core/esims/delivered.ts";
import { makeActive } from "../src/core/esims/life.ts";
import { purgeSandboxStep } from "../src/core/orders/purge-sandbox.ts";
import { writeSettings } from "../src/core/platform/settings.ts";
import type { TableName } from "../src/core/store/schema/tables.ts";
import { purgeSandboxOrders } from "../src/daemon/workers/cron.ts";
import { addProducts, addStock, suppliedProducts } from "./support/catalog.ts";
import type { Caller, Platform } from "./support/platform.ts";
import { runStatements } from "./support/store.ts";
import { startWebhookPlatform } from "./support/webhooks.ts";

const DAY_MS = 86_400_000;
const running = new AbortController().signal;

const tables = [
  "orders",
  "orderLines",
  "orderItems",
  "itemAttempts",
  "idempotencyKeys",
  "esims",
  "events",
  "deliveries",
  "deliveryAttempts",
] as const satisfies TableName[];

/** How many rows each table of orders has. */
function rows({ store }: Platform): Promise<Record<string, number>> {
  return store.read(async (q) => {
    const found: Record<string, number> = {};
    for (const name of tables) {
      const [row] = await q.db.select({ many: count() }).from(q.t[name]);
      found[name] = row?.many ?? 0;
    }
    return found;
  }, null);
}

async function bought(platform: Platform, caller: Caller, key: string, product_id: string | undefined, quantity = 2) {
  const line_items = [{ product_id, quantity }];
  const { status, body } = await caller.send("POST", "/api/v1/orders", { line_items }, { "idempotency-key": key });
  expect(status).toBe(201);
  await platform.fulfill();
  return body.id as string;
}

/** A platform with one product, in stock, and an endpoint that is never reached. */
async function shop() {
  const platform = await startWebhookPlatform();
  const { EU5, PUSH } = await addProducts(platform.store, [{ sku: "EU5", price_cents: 1 }, ...suppliedProducts]);
  await addStock(platform.store, "EU5", 10);
  const partner = await platform.caller();
  await platform.fund(partner.partnerId, 1_000);
  return { ...platform, partner, EU5, PUSH };
}

test("orders older than 90 days are deleted with their records; newer ones and those of production stay", async () => {
  const platform = await shop();
  const { store, partner, EU5, clock } = platform;
  await platform.endpoint(partner, "http://127.0.0.1:9009/hook");
  const old = await bought(platform, partner, "old", EU5);
  await platform.deliver();
  const { iccid } = (await partner.get(`/api/v1/orders/${old}/esims`)).body.esims[0];
  const [known] = await store.read(deliveredEsims, iccid);
  if (known !== undefined) await store.write((tx) => makeActive(tx, known, { actor: "test", at: tx.now }), null);
  expect(await rows(platform)).toMatchObject({ orders: 1, esims: 11, deliveries: 1, deliveryAttempts: 1 });
  const live = await platform.credential("partner-1", { live: true });
  const kept = await bought(platform, live, "kept", EU5);

  clock.advance(90 * DAY_MS);
  expect(await purgeSandboxOrders(platform, running)).toBe(0);
  const token = await platform.credential("partner-1", {});
  const young = await bought(platform, token, "young", EU5);
  clock.advance(1);
  expect(await purgeSandboxOrders(platform, running)).toBe(1);
  expect(await purgeSandboxOrders(platform, running)).toBe(0);

  for (const path of [`/api/v1/orders/${old}`, `/api/v1/orders/${old}/esims`, `/api/v1/esims/${iccid}/status`]) {
    expect((await token.get(path)).status, path).toBe(404);
  }
  expect((await token.get(`/api/v1/orders/${young}`)).status).toBe(200);
  const production = await platform.credential("partner-1", { live: true });
  expect((await production.get(`/api/v1/orders/${kept}/esims`)).body.count).toBe(2);
  const audited = await store.read(listAudit, { limit: 100 });
  expect(audited.filter(({ action }) => action === "orders.purge")).toMatchObject([
    { actor: "worker", note: "1 sandbox order from before 2026-03-02T01:00:00.001Z" },
  ]);
  // Its key can be used again, and its numbers are not.
  const again = await bought(platform, token, "old", EU5);
  expect(
    (await token.get(`/api/v1/orders/${again}/esims`)).body.esims.map((esim: { iccid: string }) => esim.iccid),
  ).not.toContain(iccid);

  clock.advance(91 * DAY_MS);
  expect(await purgeSandboxOrders(platform, running)).toBe(2);
  const ofOne = { orders: 1, orderLines: 1, idempotencyKeys: 1, esims: 10 };
  expect(await rows(platform)).toMatchObject({ ...ofOne, deliveries: 0, deliveryAttempts: 0 });
  const events = await store.read(async (q) => q.db.select().from(q.t.events), null);
  const [activated, ...left] = events.map(({ kind, subject_id }) => [kind, subject_id]);
  expect(activated?.[0]).toBe("esim.activated");
  expect(new Set(left.map(([, subject]) => subject))).toEqual(new Set([kept]));
});

test("one transaction deletes at most 500 rows, and an interrupted run is continued", async () => {
  const platform = await shop();
  const { store, partner, EU5, PUSH, clock, location } = platform;
  const activation_requests = Array.from({ length: 600 }, (_, at) => ({
    product_id: PUSH,
    customer_email: `traveler-${at}@example.com`,
    customer_name: "Mia Chen",
    activation_date: "2026-04-01",
    eid_number: "89049032000000000000000000000024",
  }));
  const body = { line_items: [{ product_id: PUSH, quantity: 600 }], activation_requests };
  expect((await partner.send("POST", "/api/v1/orders", body, { "idempotency-key": "items" })).status).toBe(201);
  const stored = await bought(platform, partner, "stored", EU5, 1);
  // From before eSIMs were computed.
  await runStatements(location, [
    `INSERT INTO esims (id, iccid, product_id, order_id, line_id, partner_id, environment, status, created_at,
      assigned_at)
      WITH RECURSIVE n(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < 1200)
      SELECT substr(id, 1, 31) || (100000 + at), '8999' || at, product_id, order_id, id, partner_id, environment,
      'inactive', 1, 1 FROM order_lines, n WHERE order_id = '${stored}'`,
  ]);
  clock.advance(91 * DAY_MS);
  const steps: number[] = [];
  let orders = 0;
  for (let step = await store.write(purgeSandboxStep, null); step.rows > 0; ) {
    steps.push(step.rows);
    orders += step.orders;
    // Another daemon on the same database works at it too.
    step = await (await platform.again()).write(purgeSandboxStep, null);
  }
  expect(Math.max(...steps)).toBe(500);
  expect(orders).toBe(2);
  expect(await rows(platform)).toMatchObject({ orders: 0, orderLines: 0, orderItems: 0, esims: 10, events: 0 });
});

test("the operator sets the retention", async () => {
  const platform = await shop();
  const { store, partner, EU5, clock } = platform;
  await bought(platform, partner, "one", EU5);
  await store.write(writeSettings, { sandbox_days: "7" });
  clock.advance(7 * DAY_MS);
  expect(await purgeSandboxOrders(platform, running)).toBe(0);
  clock.advance(1);
  expect(await purgeSandboxOrders(platform, running)).toBe(1);
});
