import { asc, eq, like, sql } from "drizzle-orm";
import fc from "fast-check";
import { describe, expect } from "vitest";
import { verifyChains } from "../src/core/evidence/verify.ts";
import type { OrderId } from "../src/core/kernel/brand.ts";
import { systemClock } from "../src/core/kernel/clock.ts";
import { minorUnits } from "../src/core/kernel/money.ts";
import { cancelOrder } from "../src/core/orders/cancel.ts";
import { createOrder, type NewOrder } from "../src/core/orders/create.ts";
import { claimOrders, fulfillLeased, waitingOrders } from "../src/core/orders/due.ts";
import { updatePartner } from "../src/core/partners/update.ts";
import { readSetting } from "../src/core/platform/settings.ts";
import { insert } from "../src/core/store/rows.ts";
import type { Read, Store, Tx } from "../src/core/store/store.ts";
import { checkWallets } from "../src/core/wallet/check.ts";
import { creditWallet } from "../src/core/wallet/fund.ts";
import { createWebhook } from "../src/core/webhooks/create.ts";
import { type ClaimedDelivery, dueEndpoints, recordAndClaim } from "../src/core/webhooks/due.ts";
import { enableWebhook } from "../src/core/webhooks/update.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { outcomeOf } from "./support/laned.ts";
import { addOrderersOfSlots, type Orderer, orderOf } from "./support/lanes.ts";
import { seeded } from "./support/random.ts";
import { property } from "./support/rounds.ts";
import { onPostgres, openTestStore } from "./support/store.ts";

const actor = "operator (test)";
const SKUS = ["EU", "US", "JP"];
const FUNDS = 12_000;
/** Endpoints of each partner. */
const ENDPOINTS = [1, 3, 0, 1];

interface Market {
  /** Three nodes on one database. */
  nodes: Store[];
  orderers: Orderer[];
  products: string[];
  random(below: number): number;
  /** Orders that were answered, by the key that they were placed under. */
  placed: Map<string, OrderId>;
  keys: { input: NewOrder }[];
  /** Orders that the worker has to fulfill. */
  open: OrderId[];
  /** Deliveries that are being attempted. */
  claimed: ClaimedDelivery[];
}

async function openMarket(seed: number): Promise<Market> {
  const { store, again } = await openTestStore(systemClock);
  const orderers = await addOrderersOfSlots(store, 4, FUNDS);
  const ids = await addProducts(
    store,
    SKUS.map((sku, at) => ({ sku, price_cents: 10 + at })),
  );
  for (const sku of SKUS) await addStock(store, sku, 150);
  const hook = { url: "https://hooks.example.net/", events: ["*" as const], actor };
  const thresholds = { lowWallet: { currency: "AUD", cents: FUNDS / 2 } };
  for (const [at, { slug, partnerId }] of orderers.entries()) {
    await store.write(updatePartner, { slug, thresholds, actor });
    for (let hooks = 0; hooks < (ENDPOINTS[at] ?? 0); hooks++) {
      await store.write(createWebhook, { ...hook, owner: { partnerId, environment: "production" } });
    }
  }
  const next = seeded(seed);
  return {
    nodes: [store, await again(), await again()],
    orderers,
    products: SKUS.map((sku) => ids[sku] ?? ""),
    random: (below) => Math.floor(next() * below),
    placed: new Map(),
    keys: [],
    open: [],
    claimed: [],
  };
}

function pick<T>({ random }: Market, list: readonly T[]): T {
  const one = list[random(list.length)];
  if (one === undefined) throw new Error("nothing to pick from");
  return one;
}

/** Places an order at either node: a new one, or one whose key was sent before, maybe at this very moment. */
async function placeOne(market: Market): Promise<void> {
  const repeated = market.keys.length > 0 && market.random(5) === 0;
  const input = repeated ? pick(market, market.keys).input : newOrder(market);
  if (!repeated) market.keys.push({ input });
  const { order } = await pick(market, market.nodes).write(createOrder, input, undefined, input);
  const name = `${input.partnerId} ${input.environment} ${input.key.value}`;
  expect(market.placed.get(name) ?? order.id).toBe(order.id);
  market.placed.set(name, order.id);
  if (order.quantity > 10) market.open.push(order.id);
}

function newOrder(market: Market): NewOrder {
  const { random, products } = market;
  const orderer = pick(market, market.orderers);
  const line = () => ({ product_id: pick(market, products), quantity: random(5) === 0 ? 11 : 1 });
  const lines = Array.from({ length: 1 + random(2) }, line);
  // Placed by the operator: then the audit trail has it, in the same chain for both environments.
  const by = random(4) === 0 ? { credential: null, actor } : {};
  const environment = random(4) === 0 ? "sandbox" : "production";
  return { ...orderOf(orderer), lines, environment, ...by };
}

/** Something that runs alone, amid the orders. */
async function actAlone(market: Market): Promise<void> {
  const node = pick(market, market.nodes);
  const id = market.open.shift();
  const what = market.random(4);
  if (what === 0) await addStock(node, pick(market, SKUS), 20);
  else if (what === 1) {
    const { partnerId } = pick(market, market.orderers);
    await node.write(creditWallet, { partnerId, amount: minorUnits(100), currency: "AUD", actor });
  } else if (what === 2) {
    const [endpoint] = await node.read(disabledEndpoints, null);
    if (endpoint !== undefined) await node.write(enableWebhook, { id: endpoint.id, actor });
  } else if (id !== undefined) await node.write(cancelOrder, { id, reason: "asked for", actor });
}

function disabledEndpoints({ db, t }: Read, _input: null) {
  return db.select().from(t.webhookEndpoints).where(eq(t.webhookEndpoints.status, "disabled"));
}

/** What the worker of either node does for a partner's orders. */
async function fulfillSome(market: Market): Promise<void> {
  const { due } = await pick(market, market.nodes).read(waitingOrders, null);
  if (due.length === 0) return;
  const room = 1 + market.random(4);
  const leases = await pick(market, market.nodes).write(claimOrders, { ...pick(market, due), room });
  await Promise.all(leases.map((lease) => pick(market, market.nodes).write(fulfillLeased, lease, undefined, lease)));
}

/** A turn of the worker that sends webhooks; one in forty attempts finds its endpoint gone. */
async function sendSome(market: Market): Promise<void> {
  const { due } = await pick(market, market.nodes).read(dueEndpoints, { full: new Set<string>(), limit: 10 });
  const rooms = due.map(({ id: endpointId }) => ({ endpointId, room: 1 + market.random(8) }));
  const ended = market.claimed.splice(0, market.random(market.claimed.length + 1));
  const outcomes = ended.map((one) =>
    outcomeOf(one, pick(market, market.random(10) === 0 ? [410, 503, 500, 500] : [200])),
  );
  if (rooms.length + outcomes.length === 0) return;
  market.claimed.push(...(await pick(market, market.nodes).write(recordAndClaim, { outcomes, rooms })));
}

const acts = [actAlone, fulfillSome, sendSome, sendSome, placeOne, placeOne, placeOne, placeOne, placeOne];

/** A refusal is an outcome as any other. */
async function refusable(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof Error && error.name === "Problem")) throw error;
  }
}

/** Callers that each do one act after the other. */
async function trade(market: Market): Promise<void> {
  const caller = async () => {
    for (let act = 0; act < 20; act++) await refusable(pick(market, acts)(market));
  };
  await Promise.all(Array.from({ length: 12 }, caller));
  // What is under way arrives.
  const outcomes = market.claimed.splice(0).map((one) => outcomeOf(one, 200));
  await pick(market, market.nodes).write(recordAndClaim, { outcomes, rooms: [] });
}

async function allRows({ db, t }: Read, _input: null) {
  return {
    orders: await db.select().from(t.orders),
    lines: await db.select().from(t.orderLines),
    esims: await db.select().from(t.esims),
    pools: await db.select().from(t.stockPools),
    keys: await db.select().from(t.idempotencyKeys),
    ledger: await db.select().from(t.ledgerTransactions),
    events: await db.select().from(t.events).orderBy(asc(t.events.feed_no)),
    deliveries: await db.select().from(t.deliveries),
    attempts: await db.select().from(t.deliveryAttempts),
    endpoints: await db.select().from(t.webhookEndpoints),
    feeds: await db.select().from(t.eventFeeds),
    wallets: await db.select().from(t.wallets),
  };
}

type Rows = Awaited<ReturnType<typeof allRows>>;

/** Each unit of stock is free, reserved or sold once; the pool counts the free ones that are not reserved. */
function expectStock({ orders, lines, esims, pools }: Rows): void {
  const production = new Map(orders.filter((row) => row.environment === "production").map((row) => [row.id, row]));
  for (const line of lines) {
    const own = esims.filter((esim) => esim.line_id === line.id);
    expect(own.every((esim) => esim.order_id === line.order_id && esim.product_id === line.product_id)).toBe(true);
    if (production.has(line.order_id)) expect(own.length).toBe(line.status === "cancelled" ? 0 : line.assigned);
    if (production.has(line.order_id) && line.status === "fulfilled") expect(line.assigned).toBe(line.quantity);
  }
  for (const { product_id, available } of pools) {
    const free = esims.filter((esim) => esim.product_id === product_id && esim.order_id === null).length;
    const reserved = lines
      .filter((line) => line.product_id === product_id && line.status === "pending")
      .filter((line) => production.get(line.order_id)?.reserved === true)
      .reduce((sum, line) => sum + line.quantity - line.assigned, 0);
    expect(available).toBe(free - reserved);
    expect(available).toBeGreaterThanOrEqual(0);
  }
}

/** Each production order is charged once, and refunded what it says; each key is one order. */
function expectMoneyAndKeys({ orders, ledger, keys }: Rows, placed: Market["placed"]): void {
  for (const order of orders) {
    const own = ledger.filter(({ order_id }) => order_id === order.id);
    const sum = (kind: string) =>
      own.filter((row) => row.kind === kind).reduce((all, row) => all + row.amount_cents, 0);
    expect(sum("charge")).toBe(order.environment === "production" ? order.total_cents : 0);
    expect(sum("refund")).toBe(order.refunded_cents);
  }
  expect(keys.map(({ order_id }) => order_id).sort()).toEqual(orders.map(({ id }) => id).sort());
  expect([...placed.values()].sort()).toEqual(orders.map(({ id }) => id).sort());
}

/** No number of a feed is missing or twice, and each event has one delivery for each endpoint of its partner. */
function expectFeeds({ feeds, events, deliveries }: Rows, orderers: Orderer[]): void {
  for (const { partner_id, environment, last_no } of feeds) {
    const own = events.filter((event) => event.partner_id === partner_id && event.environment === environment);
    expect(own.map(({ feed_no }) => feed_no)).toEqual(Array.from({ length: last_no }, (_, at) => at + 1));
    const at = orderers.findIndex((one) => one.partnerId === partner_id);
    const endpoints = environment === "production" ? (ENDPOINTS[at] ?? 0) : 0;
    const ids = new Set(own.map(({ id }) => id));
    expect(deliveries.filter(({ event_id }) => ids.has(event_id))).toHaveLength(own.length * endpoints);
  }
}

/**
 * Each attempt is recorded once; nothing waits for an endpoint that is not active, and one that is active is looked at
 * no later than its first delivery is due.
 */
function expectDeliveries({ deliveries, attempts, endpoints }: Rows): void {
  const made = Map.groupBy(attempts, ({ delivery_id }) => delivery_id);
  // A failed attempt of what is held since is recorded and not counted.
  for (const { id, attempts: ended } of deliveries.filter(({ status }) => status !== "held")) {
    expect(made.get(id)?.length ?? 0).toBe(ended);
  }
  for (const { id, status, due_at } of endpoints) {
    const waiting = deliveries.filter((one) => one.endpoint_id === id && one.status === "pending");
    if (status !== "active") expect(waiting).toEqual([]);
    else if (waiting.length > 0) expect(due_at).toBeLessThanOrEqual(Math.min(...waiting.map((one) => one.due_at)));
  }
  expect(attempts.length).toBeGreaterThan(20);
}

describe.runIf(onPostgres)(
  "orders, fulfillment and webhooks of several partners at three nodes, beside the rest",
  () => {
    property("money, stock, keys, feeds, deliveries and chains are exact", { few: 1, many: 3 }, async (rounds) => {
      for (let seed = 1; seed <= rounds; seed++) {
        const market = await openMarket(seed);
        await trade(market);
        const [store] = market.nodes;
        if (store === undefined) throw new Error("no node");
        const rows = await store.read(allRows, null);
        expectStock(rows);
        expectMoneyAndKeys(rows, market.placed);
        expectFeeds(rows, market.orderers);
        expectDeliveries(rows);
        const wallets = await store.read(checkWallets, { minimum: () => null });
        expect(wallets).toMatchObject({ ok: true, unbalanced: [] });
        expect(await store.read(verifyChains, { keyed: true })).toMatchObject({ ok: true, faults: [] });
        expect(rows.orders.filter(({ environment }) => environment === "sandbox").length).toBeGreaterThan(5);
      }
    });
  },
);

/** A write that adds one to a counter. */
interface Counting {
  key: string;
  counter: string;
  isRead: boolean;
  fails: boolean;
}

describe.runIf(onPostgres)("writes of several lanes and nodes", () => {
  property("any mix of writes that meet on rows is answered, and done once", { few: 10, many: 40 }, async (numRuns) => {
    const { store, again } = await openTestStore(systemClock);
    const nodes = [store, await again()];
    const lanes = (await addOrderersOfSlots(store, 3, 1_000)).map(({ partnerId }) => partnerId);
    const counters = ["count a", "count b", "count c"];
    const count = async ({ db, t }: Tx, { counter, isRead, fails }: Counting) => {
      const value = sql`(${t.settings.value}::int + 1)::text`;
      const counted = db.update(t.settings).set({ value }).where(eq(t.settings.key, counter));
      await (isRead ? counted.returning() : counted);
      // Longer than a write waits that is not the first of a batch which is made again.
      for (let looks = 0; isRead && looks < 20; looks++) await db.select().from(t.settings);
      if (fails) throw new Error("refused");
    };
    const lane = ({ key }: Counting) => ({ kind: "orders" as const, key });
    const command = Object.assign(count, { lane, prefetch: [] });
    const counting = fc.record({
      node: fc.constantFrom(...nodes),
      key: fc.constantFrom(...lanes),
      counter: fc.constantFrom(...counters),
      isRead: fc.boolean(),
      fails: fc.constantFrom(false, false, false, true),
    });
    const rule = fc.asyncProperty(fc.array(counting, { minLength: 1, maxLength: 60 }), async (asked) => {
      await store.write(
        async ({ db, t }: Tx) => void (await db.delete(t.settings).where(like(t.settings.key, "count %"))),
        null,
      );
      for (const key of counters) await store.write((tx: Tx) => insert(tx, "settings", [{ key, value: "0" }]), null);
      const ended = await Promise.allSettled(asked.map((each) => each.node.write(command, each)));
      expect(ended.map(({ status }) => status)).toEqual(asked.map(({ fails }) => (fails ? "rejected" : "fulfilled")));
      for (const key of counters) {
        const done = asked.filter(({ counter, fails }) => counter === key && !fails).length;
        expect(await store.read(readSetting, key as "public_url")).toBe(String(done));
      }
    });
    await fc.assert(rule, { numRuns });
  });
});
