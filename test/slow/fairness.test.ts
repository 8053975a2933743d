/** @module-tag slow */
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { createCredential } from "../../src/core/credentials/create.ts";
import type { ProductId } from "../../src/core/kernel/brand.ts";
import { systemClock } from "../../src/core/kernel/clock.ts";
import { randomIds } from "../../src/core/kernel/ids.ts";
import { minorUnits } from "../../src/core/kernel/money.ts";
import { createPartner } from "../../src/core/partners/create.ts";
import { updatePartner } from "../../src/core/partners/update.ts";
import { prepareDataDirectory } from "../../src/core/platform/data-directory.ts";
import { writeSettings } from "../../src/core/platform/settings.ts";
import { openStore } from "../../src/core/store/open/open.ts";
import { updateRow } from "../../src/core/store/rows.ts";
import { readMasterKey } from "../../src/core/store/sealing/key-files.ts";
import type { Store } from "../../src/core/store/store.ts";
import { creditWallet } from "../../src/core/wallet/fund.ts";
import { createWebhook } from "../../src/core/webhooks/create.ts";
import { prepareStore } from "../../src/daemon/serve/prepare-store.ts";
import { addProducts, addStock } from "../support/catalog.ts";
import { type Served, startDaemon } from "../support/daemon.ts";
import { call } from "../support/platform.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { freshUrl, onPostgres, temporaryDirectory } from "../support/store.ts";

/** Orders of the buyer in each measurement. */
const MEASURED = 100;
/** More than are placed while the other partner is measured. */
const BULKS = 200;
const ENDPOINTS = 100;
const WAITING_ORDERS = 30;
const RATE_LIMIT = 100_000;

interface Credential {
  clientId: string;
  clientSecret: string;
}

async function addPartner(store: Store, slug: string, live: boolean) {
  const { id: partnerId } = await store.write(createPartner, { slug, name: slug, production: true, actor: "test" });
  await store.write(updatePartner, { slug, rateLimit: RATE_LIMIT, actor: "test" });
  const amount = minorUnits(1_000_000);
  await store.write(creditWallet, { partnerId, amount, currency: "AUD", actor: "test" });
  const { client_id, client_secret } = await store.write(createCredential, { partner: slug, live, actor: "test" });
  return { partnerId, credential: { clientId: client_id, clientSecret: client_secret } };
}

/** A data directory with a buyer, an attacker with its endpoints, and a third partner. */
async function prepared(slow: Receiver, quick: Receiver) {
  const { databaseFile: file, keyFile } = prepareDataDirectory(join(temporaryDirectory(), "data"), randomIds());
  const url = await freshUrl();
  const location = url === undefined ? { file, create: true } : { url };
  const masterKey = readMasterKey(keyFile);
  const store = await openStore(location, { clock: systemClock, ids: randomIds(), masterKey });
  await prepareStore(store);
  await store.write(writeSettings, { allow_private_webhooks: "yes" });
  const { EU5 } = await addProducts(store, [{ sku: "EU5", price_cents: 1 }]);
  if (EU5 === undefined) throw new Error("no product");
  await addStock(store, "EU5", 3 * MEASURED);
  const [buyer, attacker, third] = [
    await addPartner(store, "buyer", true),
    await addPartner(store, "attacker", false),
    await addPartner(store, "third", false),
  ];
  const sandbox = "sandbox" as const;
  for (let at = 0; at < ENDPOINTS; at++) {
    const owner = { partnerId: attacker.partnerId, environment: sandbox };
    const events = ["order.created" as const, "order.fulfilled" as const, "esims.ready" as const];
    await store.write(createWebhook, { owner, url: `${slow.url}/${at}`, events, actor: "test" });
  }
  const owner = { partnerId: buyer.partnerId, environment: sandbox };
  const made = await store.write(createWebhook, { owner, url: quick.url, events: ["order.fulfilled"], actor: "test" });
  // Such an endpoint is https; the receiver of this test is not.
  const { id } = made.webhook;
  await store.write((tx) => updateRow(tx, "webhookEndpoints", { id }, { environment: "production" }), null);
  await store.close();
  const served: Served = url === undefined ? { data: join(file, "..") } : { database: url, keyFile };
  return { served, product: EU5, buyer: buyer.credential, attacker: attacker.credential, third: third.credential };
}

/** Requests of one partner. */
type Send = (path: string, body: unknown) => Promise<Awaited<ReturnType<typeof call>>>;

async function caller(url: string, { clientId, clientSecret }: Credential): Promise<Send> {
  const grant = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
  const json = { "content-type": "application/json" };
  const issued = await call(`${url}/api/v1/oauth/token`, {
    method: "POST",
    headers: json,
    body: JSON.stringify(grant),
  });
  const authorization = `Bearer ${issued.body.access_token}`;
  return (path, body) => {
    const headers = { ...json, authorization, "idempotency-key": crypto.randomUUID() };
    return call(url + path, { method: "POST", headers, body: JSON.stringify(body) });
  };
}

interface Delays {
  placed: number[];
  delivered: number[];
}

/** Places orders one after the other; how long (ms) each answer and each event took. */
async function measured(send: Send, product: ProductId, quick: Receiver): Promise<Delays> {
  const before = quick.received.length;
  const sentAt = new Map<string, number>();
  const placed: number[] = [];
  for (let count = 0; count < MEASURED; count++) {
    const at = Date.now();
    const { status, body } = await send("/api/v1/orders", { line_items: [{ product_id: product, quantity: 1 }] });
    expect(status).toBe(201);
    placed.push(Date.now() - at);
    sentAt.set(body.id, at);
    await pause(20);
  }
  await quick.got(before + MEASURED);
  const arrivals = new Map(quick.received.map(({ json, arrivedAt }) => [json.data.id, arrivedAt]));
  return { placed, delivered: [...sentAt].map(([id, at]) => (arrivals.get(id) ?? Number.NaN) - at) };
}

/** As a line: by nearest rank, the first by itself. */
function percentiles(delays: number[]): string {
  const sorted = delays.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1];
  return `median ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms, the first ${delays[0]} ms`;
}

/** Sends all bulk requests at a time; how many were answered so far, and all of their ends. */
function sendBulks(send: Send, product: ProductId) {
  const sent = { answered: 0, ends: Promise.resolve<unknown>(null) };
  const customer = { email: "mia@example.com", name: "Mia Chen" };
  const line_items = [{ product_id: product, quantity: 1 }];
  const requests = Array.from({ length: BULKS }, async (_, at) => {
    const orders = Array.from({ length: 100 }, (__, each) => ({
      external_order_id: `${at}-${each}`,
      customer,
      line_items,
    }));
    await send("/api/v1/orders/bulk", { orders });
    sent.answered += 1;
  });
  sent.ends = Promise.allSettled(requests);
  return sent;
}

const attack = "100 endpoints that answer in 9.5 s and 30 sandbox orders";
const attacks = [
  [attack, null],
  [`${attack}, and 200 bulk requests of 100 sandbox orders of a third partner`, "third"],
  [`${attack}, and 200 bulk requests of 100 sandbox orders of the partner with the endpoints`, "attacker"],
] as const;

// On PostgreSQL only the one that asks most of it.
test.each(onPostgres ? attacks.slice(-1) : attacks)(
  "%s delay no production order of another partner, and no SIGTERM beyond 30 s",
  async (name, bulk) => {
    const slow = await startReceiver((_, response) => void setTimeout(() => response.end(), 9_500));
    const quick = await startReceiver();
    const { served, product, ...partners } = await prepared(slow, quick);
    const daemon = await startDaemon({ ...served, flags: ["--allow-private-webhooks"] });
    const buyer = await caller(daemon.url, partners.buyer);
    const attacker = await caller(daemon.url, partners.attacker);
    const quiet = await measured(buyer, product, quick);
    const line_items = [{ product_id: product, quantity: 1 }];
    for (let at = 0; at < WAITING_ORDERS; at++) await attacker("/api/v1/orders", { line_items });
    await slow.got(64);
    const many = bulk === null ? null : sendBulks(await caller(daemon.url, partners[bulk]), product);
    const attacked = await measured(buyer, product, quick);
    console.log(`${name}; ${many?.answered ?? 0} bulk requests answered meanwhile`);
    for (const [what, delays] of Object.entries({ quiet, attacked })) {
      console.log(`${what}: placed: ${percentiles(delays.placed)}; delivered: ${percentiles(delays.delivered)}`);
    }
    if (many !== null) expect(many.answered).toBeLessThan(BULKS);
    // Thousands of deliveries wait for endpoints that never answer again, and thousands of orders for their write.
    slow.answers(() => undefined);
    const began = performance.now();
    const { exitCode } = await daemon.stop();
    const took = performance.now() - began;
    console.log(`stopped after ${Math.round(took)} ms`);
    expect(exitCode).toBe(0);
    expect(took).toBeLessThan(30_000);
    await many?.ends;
  },
);
