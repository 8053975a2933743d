import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import type { PlatformStatus } from "../src/core/insight/status.ts";
import { startDaemon } from "./support/daemon.ts";
import { openShop } from "./support/shop.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl, esimctlJson } from "./support/warm.ts";

/** A shop with EU5 (1) and US1 (50) in stock, and one order of two EU5 waiting for a worker. */
async function busyShop() {
  const shop = { stock: { EU5: 1, US1: 50 }, priceCents: 100, fundsCents: 350 };
  const { data } = await openShop({ folder: temporaryDirectory(), ...shop });
  const order = ["orders", "create", "--product", "EU5", "--quantity", "2", "--partner", "acme", "--data", data];
  await esimctlJson(order);
  return {
    data,
    /** Brings about by hand what would take hours. */
    byHand(statement: string) {
      const connection = new Database(join(data, "esimctl.db"));
      connection.exec(statement);
      connection.close();
    },
    status: async () => (await esimctlJson(["status", "--data", data])) as PlatformStatus,
  };
}

test("status counts events and queues, and names what is low or fails", async () => {
  const { data, status, byHand } = await busyShop();
  const quiet = await status();
  expect(quiet.orders.total).toBe(1);
  expect(quiet.orders.per_minute).toHaveLength(60);
  expect(quiet.orders.per_minute.slice(-2)).toContain(1);
  const depths = Object.fromEntries(quiet.queues.map(({ queue, waiting }) => [queue, waiting]));
  expect(depths).toMatchObject({ orders_due: 1, orders_review: 0, activations_manual: 0, deliveries_pending: 0 });
  expect(quiet.queues.find(({ queue }) => queue === "orders_due")?.oldest_at).toMatch(/^\d{4}-/);
  // Charged 2.00 in the last seven days, and 1.50 left.
  expect(quiet.low_wallets).toEqual([{ partner: "acme", currency: "AUD", balance_cents: 150, charged_7d_cents: 200 }]);
  const line = ["partners", "update", "acme", "--credit-line", "0.50", "--currency", "AUD", "--data", data];
  await esimctlJson(line);
  expect((await status()).low_wallets).toEqual([]);
  expect(quiet.low_stock).toEqual([{ sku: "EU5", available: expect.any(Number) }]);
  expect(quiet.failing_endpoints).toEqual([]);

  byHand(`INSERT INTO webhook_endpoints (id, partner_id, environment, url, events, status, secret_sealed,
      consecutive_failures, last_status_code, last_at, created_at, updated_at)
      SELECT 'hook', id, 'production', 'https://hooks.example.net/x', '[]', 'active', '', 3, 500, 1, 1, 1 FROM partners;
    INSERT INTO events (id, kind, partner_id, environment, subject_id, occurred_at, data)
      SELECT 'event', 'order.created', id, 'production', 'x', 0, '{}' FROM partners;
    INSERT INTO deliveries
      VALUES ('0198f0a3-d000-7000-8000-000000000000', 'event', 'hook', 'held', 0, 1, null, 1, 0, null);
    UPDATE orders SET status = 'waiting_review', due_at = null`);
  const troubled = await status();
  expect(troubled.failing_endpoints).toMatchObject([{ id: "hook", partner: "acme", last_status_code: 500 }]);
  const waiting = troubled.queues.filter((queue) => queue.waiting > 0).map(({ queue }) => queue);
  expect(waiting).toEqual(["orders_review", "deliveries_held"]);
  const held = troubled.queues.find(({ queue }) => queue === "deliveries_held");
  expect(held?.oldest_at).toBe(new Date(0x0198f0a3d000).toISOString());
});

test("status shows the daemon's requests, and when cron jobs ran", { tags: ["slow"] }, async () => {
  const { data, status } = await busyShop();
  expect(await status()).toMatchObject({ requests: { total: 0, failed: 0 }, cron_runs: [] });
  const daemon = await startDaemon({ data });
  for (let sent = 0; sent < 3; sent++) await fetch(`${daemon.url}/api/v1/orders`);
  await fetch(`${daemon.url}/readyz`);
  await expect.poll(async () => (await status()).cron_runs.length).toBe(7);
  expect((await status()).serving).toMatchObject({ serving: true, nodes: [{ url: daemon.url, state: "serving" }] });
  await daemon.stop();
  const { requests, cron_runs, serving } = await status();
  expect(serving).toMatchObject({ serving: false, nodes: [{ url: daemon.url, state: "stopped" }] });
  expect(requests.total).toBe(3);
  expect(cron_runs.map(({ job }) => job)).toEqual([
    "activation_calendar",
    "esim_expiry",
    "esim_notices",
    "head_signing",
    "passport_notices",
    "sandbox_retention",
    "webhook_retention",
  ]);
  // The shop's rows were never signed before.
  expect(cron_runs.find(({ job }) => job === "head_signing")?.done).toBeGreaterThan(0);
  for (const run of cron_runs.filter(({ job }) => job !== "head_signing"))
    expect(run).toMatchObject({ done: 0, error: null, took_ms: expect.any(Number) });
  const shown = await esimctl(["status", "--data", data]);
  expect(shown.stdout).toMatch(/^\d.*Z {2}not serving, stopped \d+ s ago: esimctl serve$/m);
  expect(shown.stdout).toMatch(/^requests +[·▁-█]{60} 3 an hour, \d a minute$/m);
  expect(shown.stdout).toMatch(/^activation calendar +\d+ s ago +\d+ ms +0 due$/m);
});

test("status is one screen with a chart; --watch requires a terminal", async () => {
  const { data } = await busyShop();
  const shown = await esimctl(["status", "--data", data]);
  expect(shown).toMatchObject({ exitCode: 0, stderr: "" });
  expect(shown.stdout).toMatch(/^orders +[·█]{60} 1 an hour, [01] a minute$/m);
  expect(shown.stdout).toMatch(/^orders due +daemon +1 +\d+ s ago$/m);
  expect(shown.stdout).toMatch(/^EU5 +\d$/m);
  expect(shown.stdout.split("\n").length).toBeLessThan(30);
  for (const flags of [["--watch"], ["--watch", "--json"]]) {
    expect((await esimctl(["status", ...flags, "--data", data])).exitCode).toBe(2);
  }
});
