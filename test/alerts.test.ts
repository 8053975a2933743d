import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { listAlerts } from "../src/core/alerts/list.ts";
import { setAlertTarget } from "../src/core/alerts/targets.ts";
import { changeProduct } from "../src/core/catalog/change.ts";
import { findProductBySku } from "../src/core/catalog/product.ts";
import { updatePartner } from "../src/core/partners/update.ts";
import { endOutage, recordFailure } from "../src/core/platform/outages.ts";
import { writeSettings } from "../src/core/platform/settings.ts";
import type { AlertKind } from "../src/core/store/schema/values.ts";
import { parseSignatureHeader, signature } from "../src/core/webhooks/signature.ts";
import { createMailer } from "../src/daemon/gateways/mailer.ts";
import { createWebhookSender } from "../src/daemon/gateways/webhook-sender.ts";
import { createAlerts } from "../src/daemon/workers/alerts.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { startDaemon } from "./support/daemon.ts";
import { newData } from "./support/installation.ts";
import { startPlatform } from "./support/platform.ts";
import { startReceiver } from "./support/receiver.ts";
import { smtpServer } from "./support/smtp.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl } from "./support/warm.ts";

const actor = "test";
const log = { error: (...words: unknown[]) => console.error(...words) };

/** A platform with the step of its alerts, by as many nodes as are asked for. */
async function watched({ smtpUrl }: { smtpUrl?: string } = {}) {
  const platform = await startPlatform();
  const { store, clock } = platform;
  await store.write(writeSettings, { allow_private_webhooks: "yes" });
  const mailer = createMailer(smtpUrl);
  const sender = createWebhookSender({ allowPrivate: true });
  onTestFinished(async () => {
    mailer.close();
    await sender.close();
  });
  const off = new Set<string>();
  const node = (name: string) => {
    const host = { name, isClockOff: () => off.has(name) };
    const step = createAlerts({ store, clock, log, mailer, sender, now: clock.now, host });
    return () => step(new AbortController().signal);
  };
  const raised = async () =>
    (await store.read(listAlerts, { limit: 0 })).alerts.map(({ kind, subject }) => `${kind} ${subject}`);
  const target = async (url: string, kinds: AlertKind[] | null = null) =>
    store.write(setAlertTarget, { channel: "webhook", address: url, kinds, actor });
  return { platform, store, clock, node, step: node("alpha"), off, raised, target };
}

test("low stock is raised once and over once, signed, whatever number of nodes looks", async () => {
  const { store, step, node, target, raised } = await watched();
  const receiver = await startReceiver();
  const { secret } = await target(receiver.url);
  await addProducts(store, [{ sku: "EU5" }]);
  await addStock(store, "EU5", 3);
  await store.write(changeProduct, { sku: "EU5", fields: null, rule: { low_stock: 5 }, actor });
  const other = node("beta");
  await Promise.all([step(), other()]);
  await step();
  expect(await raised()).toEqual(["stock.low EU5"]);
  expect(receiver.received).toHaveLength(1);
  const [first] = receiver.received;
  expect(first?.json).toMatchObject({ kind: "stock.low", subject: "EU5", state: "raised", detail: expect.any(String) });
  const parts = parseSignatureHeader(first?.headers["x-webhook-signature"] ?? "");
  expect(parts?.hex).toBe(signature(secret ?? "", parts?.timestamp ?? 0, first?.body ?? ""));
  expect(first?.headers["x-webhook-id"]).toBe(first?.json.id);

  await addStock(store, "EU5", 2);
  await Promise.all([step(), other()]);
  await other();
  expect(receiver.received.map(({ json }) => json.state)).toEqual(["raised", "over"]);
  expect(await raised()).toEqual([]);
});

test("each kind is raised by what it is about, and a target gets the kinds that it wants", async () => {
  const { platform, store, clock, step, off, target, raised } = await watched();
  const receiver = await startReceiver();
  await target(receiver.url, ["wallet.low", "clock.off"]);
  const { partnerId } = await platform.caller({ live: true, slug: "acme" });
  await platform.fund(partnerId, 500);
  const thresholds = { lowWallet: { currency: "AUD", cents: 1_000 } };
  const change = { slug: "acme", thresholds, actor };
  await store.write(updatePartner, change);
  await store.write(recordFailure, { kind: "supplier", name: "northwind", error: "status 500" });
  off.add("alpha");
  await step();
  expect(await raised()).toEqual(["clock.off alpha", "wallet.low acme AUD"]);
  // A single fault is retried soon: it is alerted of once it lasts.
  clock.advance(60_000);
  await step();
  expect(await raised()).toEqual(["clock.off alpha", "supplier.failing northwind", "wallet.low acme AUD"]);
  expect(receiver.received.map(({ json }) => json.kind).toSorted()).toEqual(["clock.off", "wallet.low"]);

  off.clear();
  await store.write(endOutage, { kind: "supplier", name: "northwind" });
  await platform.fund(partnerId, 500);
  await step();
  expect(await raised()).toEqual([]);
  expect(receiver.received).toHaveLength(4);
});

test("a node ends what it saw of itself alone", async () => {
  const { node, off, raised } = await watched();
  off.add("alpha");
  await node("alpha")();
  await node("beta")();
  expect(await raised()).toEqual(["clock.off alpha"]);
  off.clear();
  await node("beta")();
  expect(await raised()).toEqual(["clock.off alpha"]);
  await node("alpha")();
  expect(await raised()).toEqual([]);
});

test("an order in review is alerted of after so many minutes, and no more once it is decided", async () => {
  const { platform, store, clock, step, raised } = await watched();
  const { SHORT } = await addProducts(store, [{ sku: "SHORT", price_cents: 100 }]);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 1_000);
  const headers = { "idempotency-key": "one" };
  const asked = { line_items: [{ product_id: SHORT, quantity: 1 }] };
  const { body: order } = await caller.send("POST", "/api/v1/orders", asked, headers);
  await platform.fulfill();
  clock.advance(29 * 60_000);
  await step();
  expect(await raised()).toEqual([]);
  clock.advance(2 * 60_000);
  await step();
  expect(await raised()).toEqual([`order.review ${order.order_number}`]);
});

test("a target that fails is tried again under the same ids, in order, and shows that it fails", async () => {
  const { store, clock, step, off, target } = await watched();
  const receiver = await startReceiver(500);
  await target(receiver.url);
  off.add("alpha");
  await step();
  off.clear();
  await step();
  expect(receiver.received).toHaveLength(1);
  const failing = async () => (await store.read(listAlerts, { limit: 0 })).targets;
  expect(await failing()).toMatchObject([{ failed_attempts: 1, last_error: "status 500", last_sent_at: null }]);
  receiver.answers(200);
  clock.advance(10_000);
  await step();
  const [tried, again, over] = receiver.received.map(({ json }) => json);
  expect(again).toEqual(tried);
  expect([tried.state, over.state]).toEqual(["raised", "over"]);
  expect(await failing()).toMatchObject([{ failed_attempts: 0, last_error: null, last_sent_at: expect.any(String) }]);
});

test("mail joins what waits, and what cannot be sent is kept", async () => {
  const smtp = await smtpServer();
  const { store, clock, step, off } = await watched({ smtpUrl: smtp.url });
  await store.write(setAlertTarget, { channel: "email", address: "ops@esim.test", kinds: null, actor });
  smtp.state.refuse = true;
  off.add("alpha");
  await step();
  off.clear();
  await step();
  expect(smtp.mails).toHaveLength(0);
  smtp.state.refuse = false;
  clock.advance(60_000);
  await step();
  expect(smtp.mails).toMatchObject([{ to: ["ops@esim.test"] }]);
  expect(smtp.mails[0]?.text).toMatch(/raised: clock\.off alpha[\s\S]+over: clock\.off alpha/);
});

test("a product that follows its stock goes off sale when it ends, and back when it is refilled", async () => {
  const { store, step } = await watched();
  await addProducts(store, [{ sku: "EU5" }, { sku: "US5" }]);
  const rule = { when_short: "out_of_stock" } as const;
  await store.write(changeProduct, { sku: "EU5", fields: null, rule, actor });
  const status = async (sku: string) => (await store.read(findProductBySku, sku))?.status;
  await step();
  expect([await status("EU5"), await status("US5")]).toEqual(["out_of_stock", "active"]);
  await addStock(store, "EU5", 1);
  await step();
  expect(await status("EU5")).toBe("active");
});

test("an operator sets, tests, lists and removes targets while serve runs", { tags: ["slow"] }, async () => {
  const folder = temporaryDirectory();
  const data = join(folder, "data");
  await newData(folder);
  await startDaemon({ data, flags: ["--allow-private-webhooks"] });
  const receiver = await startReceiver();
  const json = async (line: string, exitCode = 0) => {
    const ended = await esimctl([...line.split(" "), "--data", data, "--json"]);
    expect(ended, line).toMatchObject({ exitCode });
    return JSON.parse(ended.stdout);
  };
  const set = await json(`alerts set --webhook ${receiver.url}?token=hidden --review-minutes 15`);
  expect(set).toMatchObject({ channel: "webhook", kinds: null, secret: expect.stringMatching(/^whsec_/) });
  expect(await json(`alerts set --webhook ${receiver.url}?token=hidden --kinds stock.low`)).toMatchObject({
    id: set.id,
    kinds: ["stock.low"],
  });
  await json("alerts test");
  await receiver.got(1);
  expect(receiver.received[0]).toMatchObject({ path: "/hooks?token=hidden", json: { kind: "test" } });
  const listed = await json("alerts list");
  expect(listed).toMatchObject({ review_minutes: 15, targets: [{ address: new URL(receiver.url).origin }] });
  expect(JSON.stringify(listed)).not.toContain("hidden");
  expect((await json("alerts set --email nowhere", 1)).error.code).toBe("validation");
  await json("alerts set --kinds stock.high --email ops@esim.test", 2);
  await json(`alerts remove --webhook ${receiver.url}?token=hidden`);
  await json(`alerts remove --webhook ${receiver.url}?token=hidden`, 1);
  await json("alerts test", 1);
});
