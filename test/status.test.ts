import { expect, test } from "vitest";
import { lastCronRuns } from "../src/core/insight/cron-runs.ts";
import { KEPT_MINUTES, requestCounts } from "../src/core/insight/rates.ts";
import { platformStatus } from "../src/core/insight/status.ts";
import { recordBeat } from "../src/core/platform/serving.ts";
import { createMetrics } from "../src/daemon/metrics/metrics.ts";
import { countRequests } from "../src/daemon/metrics/request-records.ts";
import { registerQueueGauges } from "../src/daemon/metrics/store-gauges.ts";
import { cronRun } from "../src/daemon/workers/cron.ts";
import { addProducts } from "./support/catalog.ts";
import { testClock } from "./support/clock.ts";
import { deskOf } from "./support/desk.ts";
import { startPlatform } from "./support/platform.ts";
import { openTestStore } from "./support/store.ts";

const MINUTE_MS = 60_000;
const silent = { warn: () => undefined };

test("requests are counted by the minute, of all daemons together, and kept for a day", async () => {
  const clock = testClock("2026-03-02T01:00:30.000Z");
  const { store, again } = await openTestStore(clock);
  const daemons = [store, await again()].map((each) => countRequests({ store: each, clock, log: silent }));
  const [one, other] = daemons;
  for (const status of [200, 404, 503]) one?.record({ route: "/api/v1/orders", status });
  one?.record({ route: "/healthz", status: 200 });
  // A pause is the operator's decision.
  one?.record({ route: "/api/v1/orders", status: 503, refusal: "paused" });
  await one?.flush();
  other?.record({ route: "/api/v1/orders", status: 500 });
  await other?.flush();
  clock.advance(MINUTE_MS);
  one?.record({ route: "/qr/:token", status: 200 });
  await one?.flush();
  const { requests } = await store.read(platformStatus, null);
  expect(requests).toMatchObject({ total: 6, failed: 2 });
  expect(requests.per_minute.slice(-2)).toEqual([5, 1]);

  clock.advance(KEPT_MINUTES * MINUTE_MS);
  one?.record({ route: "/api/v1/orders", status: 200 });
  await Promise.all(daemons.map((daemon) => daemon.stop()));
  expect((await store.read(requestCounts, 0)).map(({ requests: many }) => many)).toEqual([1, 1]);
  expect((await store.read(platformStatus, null)).requests).toMatchObject({ total: 1, failed: 0 });
});

test("status and doctor name a node whose clock is far behind, which looks lost", async () => {
  const platform = await startPlatform();
  const beat = { node: "slow", url: "http://slow.test", since: platform.clock.now(), alone: false };
  // The times it records are its own: long ago for the terminal.
  await platform.store.write(recordBeat, { ...beat, clockAheadMs: -60_000 });
  const desk = deskOf(platform);
  const { stdout } = await desk.run("status");
  expect(stdout).toMatch(
    /not serving, ended without a stop .*: esimctl serve {2}clock off at http:\/\/slow\.test: esimctl doctor$/m,
  );
  const { findings } = JSON.parse((await desk.run("doctor --json")).stdout);
  expect(findings).toContainEqual({
    check: "node_clock",
    level: "fault",
    message: "The clock of the node at http://slow.test is 60 s behind the database's: it takes no work.",
    remedy: "Set it, and keep it right with NTP.",
  });
});

test("counts that cannot be written are kept for later, and reported once", async () => {
  const clock = testClock();
  const { store, again } = await openTestStore(clock);
  const warned: unknown[] = [];
  const lost = await again();
  await lost.close();
  let reachable = false;
  const counting = countRequests({
    store: { ...store, write: (...asked) => (reachable ? store : lost).write(...asked) },
    clock,
    log: { warn: (...words: unknown[]) => void warned.push(words) },
  });
  for (let sent = 0; sent < 3; sent++) {
    counting.record({ route: "/api/v1/orders", status: 200 });
    await counting.flush();
  }
  expect(warned).toHaveLength(1);
  reachable = true;
  await counting.stop();
  expect(await store.read(requestCounts, 0)).toMatchObject([{ requests: 3 }]);
});

test("the last run of each cron job is kept: time, duration, count, and error", async () => {
  const clock = testClock("2026-03-02T01:00:00.000Z");
  const { store } = await openTestStore(clock);
  expect(await store.read(lastCronRuns, null)).toEqual([]);
  await cronRun(store, "webhook_retention", async () => 12);
  await cronRun(store, "esim_expiry", async () => 3);
  clock.advance(MINUTE_MS);
  const broken = new Error("Failed query: update esims\nparams: 8944500102198304826");
  await expect(cronRun(store, "esim_expiry", () => Promise.reject(broken))).rejects.toBe(broken);
  const runs = await store.read(lastCronRuns, null);
  expect(runs).toMatchObject([
    { job: "esim_expiry", done: 0, error: "Failed query: update esims" },
    { job: "webhook_retention", done: 12, error: null },
  ]);
  const [failed, dropped] = runs.map(({ started_at, took_ms }) => Date.parse(started_at) + took_ms);
  expect([failed, dropped]).toEqual([clock.now(), clock.now() - MINUTE_MS]);
});

test("/metrics has the length and age of each queue, read from the store at the scrape", async () => {
  const platform = await startPlatform();
  const { registry } = createMetrics();
  const errors: unknown[] = [];
  const store = await platform.again();
  registerQueueGauges(registry, {
    store,
    clock: platform.clock,
    log: { error: (words: unknown) => errors.push(words) },
  });
  const metric = async (name: string, queue: string) => {
    const line = new RegExp(`^esimctl_queue_${name}\\{queue="${queue}"\\} (.+)$`, "m").exec(await registry.metrics());
    return line === null ? null : Number(line[1]);
  };
  expect(await metric("waiting", "deliveries_held")).toBe(0);
  expect(await metric("oldest_seconds", "orders_review")).toBe(0);
  const partner = await platform.caller({ live: true });
  await platform.fund(partner.partnerId, 1000);
  const { EMPTY } = await addProducts(platform.store, [{ sku: "EMPTY", price_cents: 1 }]);
  const body = { line_items: [{ product_id: EMPTY, quantity: 1 }] };
  expect((await partner.send("POST", "/api/v1/orders", body, { "idempotency-key": "one" })).status).toBe(201);
  await platform.fulfill();
  platform.clock.advance(90_000);
  expect(await metric("waiting", "orders_review")).toBe(1);
  expect(await metric("oldest_seconds", "orders_review")).toBe(90);

  await store.close();
  expect(await metric("waiting", "orders_review")).toBeNull();
  expect(await registry.metrics()).toMatch(/^process_resident_memory_bytes/m);
  expect(errors.length).toBeGreaterThan(0);
});
