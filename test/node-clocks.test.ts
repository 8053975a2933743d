import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { updateProduct } from "../src/core/catalog/import.ts";
import type { Clock } from "../src/core/kernel/clock.ts";
import { randomIds } from "../src/core/kernel/ids.ts";
import { checkNodeClocks, checkServer } from "../src/core/maintenance/state-checks.ts";
import { CLOCK_TOLERANCE_MS } from "../src/core/platform/clock-difference.ts";
import { recordBeat } from "../src/core/platform/serving.ts";
import type { Store } from "../src/core/store/store.ts";
import { createWebhookSender } from "../src/daemon/gateways/webhook-sender.ts";
import { watchClock } from "../src/daemon/serve/clock-watch.ts";
import { startWorkers } from "../src/daemon/workers/all.ts";
import { createDeliveries } from "../src/daemon/workers/deliveries.ts";
import { request } from "./support/activations.ts";
import { testClock } from "./support/clock.ts";
import { deskOf } from "./support/desk.ts";
import { type Platform, startPlatform } from "./support/platform.ts";
import { startReceiver } from "./support/receiver.ts";
import { advance, buy, eventsOf, openShop, report } from "./support/sandbox.ts";
import { openTestStore } from "./support/store.ts";
import { suspendedAfterClaim } from "./support/suspended.ts";
import { startWebhookPlatform } from "./support/webhooks.ts";

const log = { error: (...words: unknown[]) => console.error(...words), warn() {}, info() {} };
const { signal } = new AbortController();

/**
 * A node and a server whose clock is right: how far the node's is ahead (ms), and how long the server takes to look at
 * its own once it is asked (ms).
 */
async function nodeAndServer(aheadMs: number, waitMs: number) {
  const server = testClock();
  const state = { aheadMs, waitMs, exchanges: 0 };
  const clock = { now: () => server.now() + state.aheadMs };
  const { store } = await openTestStore(clock);
  const ping = async () => {
    const pulse = await store.ping();
    server.advance(state.waitMs);
    state.exchanges++;
    return { ...pulse, now: server.now() };
  };
  const logged: unknown[] = [];
  const log = { error: (line: object) => void logged.push(line), info: (line: object) => void logged.push(line) };
  return {
    ping,
    clock,
    logged,
    async watch() {
      // Often, so that the test need not wait.
      const watch = await watchClock({ store: { ping }, clock, log }, 1);
      onTestFinished(() => watch.stop());
      return watch;
    },
    /** Resolves once clocks were compared under other circumstances. */
    async comparedWith(changed: { aheadMs: number; waitMs: number }) {
      Object.assign(state, changed);
      const { exchanges } = state;
      // The first may have begun before.
      await expect.poll(() => state.exchanges).toBeGreaterThan(exchanges + 2);
    },
  };
}

test("a node takes no work until its clock was compared: an exchange of 6 s hides that it is 5 s ahead", async () => {
  const { watch, comparedWith, logged } = await nodeAndServer(5_000, 6_000);
  const seen = await watch();
  expect([seen.isOff(), seen.aheadMs()]).toEqual([true, null]);
  expect(logged).toEqual([{ event: "clock_off", ahead_ms: null }]);
  await comparedWith({ aheadMs: 5_000, waitMs: 0 });
  expect([seen.isOff(), seen.aheadMs()]).toEqual([true, 5_000]);
  await comparedWith({ aheadMs: 0, waitMs: 10 });
  expect([seen.isOff(), seen.aheadMs()]).toEqual([false, 0]);
  expect(logged.slice(1)).toEqual([{ event: "clock_right", ahead_ms: 0 }]);
});

test("after an exchange that took too long the last verdict holds, whether it was right or off", async () => {
  const { watch, comparedWith } = await nodeAndServer(0, 10);
  const seen = await watch();
  expect(seen.isOff()).toBe(false);
  await comparedWith({ aheadMs: 0, waitMs: 6_000 });
  expect(seen.isOff()).toBe(false);
  // However long it took: before the server was asked this clock was beyond what the server's was after that.
  await comparedWith({ aheadMs: 9_000, waitMs: 6_000 });
  expect([seen.isOff(), seen.aheadMs()]).toEqual([true, 3_000]);
  await comparedWith({ aheadMs: 0, waitMs: 6_000 });
  expect(seen.isOff()).toBe(true);
  await comparedWith({ aheadMs: 0, waitMs: 1_500 });
  expect(seen.isOff()).toBe(false);
  await comparedWith({ aheadMs: -2_100, waitMs: 10 });
  expect([seen.isOff(), seen.aheadMs()]).toEqual([true, -2_100]);
});

test("doctor does not call a clock right that it could not compare", async () => {
  const slow = await nodeAndServer(5_000, 6_000);
  expect(await checkServer(slow, slow.clock)).toContainEqual({
    check: "database_clock",
    level: "warning",
    message: "The database took too long to respond for its clock to be compared with this machine's.",
    remedy: "Run it again; check the network and the load of the server.",
  });
});

test("status and doctor name a node that could not compare its clock yet", async () => {
  const platform = await startPlatform();
  const { store, clock } = platform;
  const beat = { node: "new", url: "http://new.test", since: clock.now(), alone: false };
  await store.write(recordBeat, { ...beat, clockAheadMs: null });
  const desk = deskOf(platform);
  expect((await desk.run("status")).stdout).toContain("clock off at http://new.test: esimctl doctor");
  const { serving } = JSON.parse((await desk.run("status --json")).stdout);
  expect(serving.nodes).toMatchObject([{ clock_ahead_ms: null }]);
  expect(await store.read(checkNodeClocks, null)).toEqual([
    {
      check: "node_clock",
      level: "fault",
      message: "The node at http://new.test could not compare its clock with the database's yet: it takes no work.",
      remedy: "Check the network between them, and the load of the server.",
    },
  ]);
});

test("a node whose clock is off does nothing by itself, in the sandbox too, until it is right again", async () => {
  const shop = await openShop();
  const { store, clock, partner, products } = shop;
  await shop.endpoint(partner, (await startReceiver()).url, ["product.updated"]);
  const { iccid } = await buy(shop, partner, products.WEEK);
  await report(partner, iccid, { event: "activated" });
  await partner.send("POST", "/api/v1/activations", request({ activation_date: "2026-03-02" }));
  await advance(partner, "P8D");
  await store.write(updateProduct, { sku: "WEEK", price_cents: 200, actor: "test" });
  clock.advance(60_000);
  const done = ["activation.submitted", "product.updated", "esim.expired"];
  const kindsDone = async () =>
    (await eventsOf(shop, "sandbox")).map(({ kind }) => kind).filter((kind) => done.includes(kind));
  let off = true;
  let asked = 0;
  const isClockOff = () => {
    asked++;
    return off;
  };
  const addresses = { publicUrl: "http://esim.test", docsUrl: "http://esim.test" };
  const settings = { allowPrivateWebhooks: true, smtpUrl: undefined, insecure: false };
  const node = { node: "one", alone: false, ids: randomIds(), addresses, log: pino({ level: "error" }), isClockOff };
  const workers = startWorkers({ store, clock, ...node, ...settings });
  onTestFinished(() => workers.stop());
  // Each worker has looked, some of them twice.
  await expect.poll(() => asked).toBeGreaterThan(12);
  expect(await kindsDone()).toEqual([]);
  off = false;
  await expect.poll(async () => (await kindsDone()).sort()).toEqual([...done].sort());
});

/** A node on the same database whose clock is as far ahead of the platform's as those of two nodes may be apart. */
async function nodeAhead({ clock, again }: Platform) {
  const own = { now: () => clock.now() + 2 * CLOCK_TOLERANCE_MS };
  return { clock: own, store: await again(own) };
}

test("a webhook is sent once where a node 2 s ahead takes it over from one 2 s behind", async () => {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller();
  const receiver = await startReceiver();
  await platform.endpoint(caller, receiver.url);
  await platform.trigger(caller);
  const workerOn = ({ store, clock }: { store: Store; clock: Clock }) => {
    const sender = createWebhookSender({ allowPrivate: true });
    onTestFinished(() => sender.close());
    return createDeliveries({ store, clock, sender, publicUrl: "http://esim.test", log });
  };
  const suspended = suspendedAfterClaim(platform.store);
  const behind = workerOn({ ...platform, store: suspended.store });
  const ahead = workerOn(await nodeAhead(platform));
  const stepping = behind.step(signal);
  await suspended.claimed;
  platform.clock.advance(30_000 - 2 * CLOCK_TOLERANCE_MS);
  expect(await ahead.step(signal)).toBe(1);
  await ahead.idle();
  suspended.resume();
  await stepping;
  await behind.idle();
  expect(receiver.received).toHaveLength(1);
});
