import { asc } from "drizzle-orm";
import { describe, expect } from "vitest";
import { verifyChains } from "../src/core/evidence/verify.ts";
import type { OrderId } from "../src/core/kernel/brand.ts";
import { systemClock } from "../src/core/kernel/clock.ts";
import { minorUnits } from "../src/core/kernel/money.ts";
import { cancelOrder } from "../src/core/orders/cancel.ts";
import { createOrder, type NewOrder } from "../src/core/orders/create.ts";
import { fulfilStep } from "../src/core/orders/fulfil.ts";
import type { Read, Store } from "../src/core/store/store.ts";
import { checkWallets } from "../src/core/wallet/check.ts";
import { creditWallet } from "../src/core/wallet/fund.ts";
import { createWebhook } from "../src/core/webhooks/create.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { addOrderersOfSlots, type Orderer, orderOf } from "./support/lanes.ts";
import { seeded } from "./support/random.ts";
import { property } from "./support/rounds.ts";
import { onPostgres, openTestStore } from "./support/store.ts";

const actor = "operator (test)";
const SKUS = ["EU", "US", "JP"];
const FUNDS = 12_000;

interface Market {
  /** Two nodes on one database. */
  nodes: Store[];
  orderers: Orderer[];
  products: string[];
  random(below: number): number;
  /** Orders that were answered, by the key that they were placed under. */
  placed: Map<string, OrderId>;
  keys: { input: NewOrder }[];
  /** Orders that the worker has to fulfill. */
  open: OrderId[];
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
  for (const { partnerId } of orderers.slice(0, 2)) {
    await store.write(createWebhook, { ...hook, owner: { partnerId, environment: "production" } });
  }
  const next = seeded(seed);
  return {
    nodes: [store, await again()],
    orderers,
    products: SKUS.map((sku) => ids[sku] ?? ""),
    random: (below) => Math.floor(next() * below),
    placed: new Map(),
    keys: [],
    open: [],
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
  const what = market.random(8);
  if (what === 0) await addStock(node, pick(market, SKUS), 20);
  else if (what === 1) {
    const { partnerId } = pick(market, market.orderers);
    await node.write(creditWallet, { partnerId, amount: minorUnits(100), currency: "AUD", actor });
  } else if (id === undefined) return;
  else if (what === 2) await node.write(cancelOrder, { id, reason: "asked for", actor });
  else await node.write(fulfilStep, id);
}

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
    for (let act = 0; act < 15; act++) {
      await refusable(market.random(4) === 0 ? actAlone(market) : placeOne(market));
    }
  };
  await Promise.all(Array.from({ length: 12 }, caller));
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

/** No number of a feed is missing or twice, and each event of a partner with an endpoint has one delivery. */
function expectFeeds({ feeds, events, deliveries }: Rows, orderers: Orderer[]): void {
  for (const { partner_id, environment, last_no } of feeds) {
    const own = events.filter((event) => event.partner_id === partner_id && event.environment === environment);
    expect(own.map(({ feed_no }) => feed_no)).toEqual(Array.from({ length: last_no }, (_, at) => at + 1));
    const hooked = environment === "production" && orderers.slice(0, 2).some((one) => one.partnerId === partner_id);
    const ids = new Set(own.map(({ id }) => id));
    expect(deliveries.filter(({ event_id }) => ids.has(event_id))).toHaveLength(hooked ? own.length : 0);
  }
}

describe.runIf(onPostgres)("orders of several partners at two nodes, beside everything else", () => {
  property("money, stock, keys, feeds and chains are exact", { few: 1, many: 12 }, async (rounds) => {
    for (let seed = 1; seed <= rounds; seed++) {
      const market = await openMarket(seed);
      await trade(market);
      const [store] = market.nodes;
      if (store === undefined) throw new Error("no node");
      const rows = await store.read(allRows, null);
      expectStock(rows);
      expectMoneyAndKeys(rows, market.placed);
      expectFeeds(rows, market.orderers);
      const wallets = await store.read(checkWallets, { minimum: () => null });
      expect(wallets).toMatchObject({ ok: true, unbalanced: [] });
      expect(await store.read(verifyChains, { keyed: true })).toMatchObject({ ok: true, faults: [] });
      expect(rows.orders.filter(({ environment }) => environment === "sandbox").length).toBeGreaterThan(5);
    }
  });
});
