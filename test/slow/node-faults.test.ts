/** @module-tag slow */
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { requirePartner } from "../../src/core/partners/partner.ts";
import { updateRow } from "../../src/core/store/rows.ts";
import type { Tx } from "../../src/core/store/store.ts";
import { createWebhook } from "../../src/core/webhooks/create.ts";
import { addProducts, suppliedProducts } from "../support/catalog.ts";
import { esimctlJson } from "../support/cli.ts";
import { type Act, type Service, send, someAct } from "../support/client-writes.ts";
import { commitCutter } from "../support/commit-cutter.ts";
import { targetOf } from "../support/daemon.ts";
import { inSnapshot, onDatabase } from "../support/database.ts";
import { eventually } from "../support/hangs.ts";
import { type NodeFleet, startFleet } from "../support/node-fleet.ts";
import type { Reply } from "../support/platform.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { seeded } from "../support/random.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { openShop, type Shop, shopToken, withStoreOf } from "../support/shop.ts";
import { temporaryDirectory } from "../support/store.ts";
import { countingSupplier, useHttpSupplier } from "../support/supplies.ts";

/** NODES_MINUTES and NODES_SEED make a longer run, or repeat one. */
const minutes = Number(process.env.NODES_MINUTES ?? 1);
const seed = Number(process.env.NODES_SEED ?? 1);

const NODES = 3;
const CLIENTS = 6;
/** One of so many COMMITs loses its response. */
const CUT_EACH = 50;
/** A client that waits longer asks another node. */
const WAIT_MS = 5_000;
/** How long PostgreSQL stays away. */
const AWAY_MS = 3_000;
/** Stock of each product: more than is ordered, which was some 1,800 orders of 4 units a minute. */
const STOCK = Math.ceil(20_000 * minutes);
const PRICE_CENTS = 5;
const FUNDS_CENTS = 2_000_000_000;
/** Requests that a node has under way for one supplier, and for one endpoint. */
const SUPPLIES = 16;
const DELIVERIES = 32;

/** After a node was suspended; so long on a machine that is busy, where 10 s is the aim. */
const LONGEST_STILL_MS = 30_000;

/** What the clients did, and what they met on the way. */
interface Written {
  acts: Act[];
  /** When each was confirmed, and at which address. */
  confirmed: { at: number; url: string }[];
  /** How often each status came; `none`: the connection ended, or no response came in time. */
  statuses: Record<string, number>;
}

/** Sends a write to any node until it is confirmed, as a client behind a proxy does. */
async function writeOnce(nodes: Service[], act: Act, random: () => number, written: Written): Promise<void> {
  const { confirmed, statuses } = written;
  for (let attempt = 1; ; attempt++) {
    const node = nodes[Math.floor(random() * nodes.length)];
    if (node === undefined) throw new Error("there is no node");
    const reply = await send(node, act).catch(() => null);
    const status = String(reply?.status ?? "none");
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (reply !== null && isConfirmed(act, reply, attempt)) {
      act.answer = reply.body;
      confirmed.push({ at: performance.now(), url: node.url });
      return;
    }
    await pause(100 + random() * 400);
  }
}

/** Whether the response says that the write is stored; fails for one that must not come. */
function isConfirmed({ kind, name }: Act, { status, body }: Reply, attempt: number): boolean {
  if (status === 503) return false;
  const where = `${kind} ${name}: ${status} ${JSON.stringify(body)}`;
  // An earlier request of the same activation was stored, and its response was lost.
  if (kind === "activation" && attempt > 1) expect([201, 409], where).toContain(status);
  else expect([200, 201], where).toContain(status);
  if (kind === "bulk") {
    const [result] = body.results;
    if (result.error?.code === "unavailable") return false;
    expect(result, where).toMatchObject({ status: "success" });
  }
  if (kind === "passport") expect(body.imported + body.skipped_duplicates, where).toBe(1);
  return true;
}

/** Writes until `isEnough` of what was written. */
async function writeUntil(isEnough: (written: Written) => boolean, nodes: Service[], products: string[]) {
  const written: Written = { acts: [], confirmed: [], statuses: {} };
  const client = async (round: number) => {
    const random = seeded(seed * 1_000_003 + round);
    while (!isEnough(written)) {
      const act = someAct({ products, mostUnits: 6 }, round, random);
      written.acts.push(act);
      await writeOnce(nodes, act, random, written);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, at) => client(at + 1)));
  return written;
}

/** One node was suspended. */
interface Pause {
  url: string | undefined;
  from: number;
  to: number;
}

/** Each minute one node is killed and another one suspended, at moments that the seed chooses; `pauses` gets these. */
async function disturbNodes(fleet: NodeFleet, until: number, pauses: Pause[]): Promise<void> {
  const random = seeded(seed);
  while (performance.now() < until - 50_000) {
    const minute = pause(60_000);
    const victim = Math.floor(random() * NODES);
    await pause(4_000 + random() * 10_000);
    await fleet.kill(victim);
    await pause(2_000 + random() * 10_000);
    const other = (victim + 1 + Math.floor(random() * 2)) % NODES;
    const from = performance.now();
    await fleet.suspend(other, 5_000 + random() * 15_000);
    pauses.push({ url: fleet.urls[other], from, to: performance.now() });
    await minute;
  }
}

/** The writes of other nodes that were confirmed after a pause began, and the first one after it ended. */
function writesBeside({ confirmed }: Written, { url, from, to }: Pause) {
  const others = confirmed.filter((write) => write.url !== url && write.at > from).map(({ at }) => at);
  return { others, first: others.findIndex((at) => at > to) };
}

/** How long (ms) at most no write of the other nodes was confirmed, from the start of a pause to the first after it. */
function longestStill(written: Written, pause: Pause): number {
  const { others, first } = writesBeside(written, pause);
  const moments = [pause.from, ...others.slice(0, first + 1)];
  return Math.max(...moments.slice(1).map((at, index) => at - (moments[index] ?? at)));
}

/** Killed at a third of the time, stopped in order at two thirds; back after some seconds. */
async function disturbServer(server: PostgresServer, ms: number): Promise<void> {
  for (const end of [server.kill, server.stop]) {
    await pause(ms / 3 - AWAY_MS);
    await end();
    await pause(AWAY_MS);
    await server.start();
  }
}

/** A shop of an agent with a supplier's product, and an endpoint that gets its fulfilled orders. */
async function shopOn(url: string, receiver: Receiver, supplierUrl: string): Promise<Shop> {
  const stock = { EU5: STOCK, JP10: STOCK };
  const folder = temporaryDirectory();
  const shop = await openShop({ folder, url, stock, priceCents: PRICE_CENTS, fundsCents: FUNDS_CENTS });
  const { args, env } = targetOf(shop.served);
  await esimctlJson(["partners", "update", "acme", "--agent", ...args], { env });
  const supplied = await withStoreOf(shop, async (store) => {
    await useHttpSupplier(store, "northwind", supplierUrl);
    const owner = { partnerId: (await store.read(requirePartner, "acme")).id, environment: "production" } as const;
    const { webhook } = await store.write(createWebhook, {
      owner,
      url: "https://hooks.example.com/esim",
      events: ["order.fulfilled"],
      actor: "test",
    });
    // Endpoints of production are https; the receiver is on this machine.
    await store.write((tx: Tx) => updateRow(tx, "webhookEndpoints", { id: webhook.id }, { url: receiver.url }), null);
    return addProducts(store, suppliedProducts);
  });
  if (supplied.API === undefined) throw new Error("the supplier's product is missing");
  return { ...shop, products: { ...shop.products, API: supplied.API } };
}

/** What the database holds, in one snapshot. */
function inspect(url: string) {
  return inSnapshot({ url }, async (all) => {
    const one = async (sql: string) => Number(Object.values((await all(sql))[0] ?? {})[0]);
    const ids = async (sql: string) => (await all<{ id: string }>(sql)).map(({ id }) => id);
    return {
      orders: new Set(await ids("SELECT id FROM orders")),
      keys: await one("SELECT count(*) FROM idempotency_keys"),
      ordered: await one("SELECT coalesce(sum(total_cents), 0) FROM orders"),
      activations: await one("SELECT count(*) FROM activations"),
      passports: await one("SELECT count(*) FROM passports"),
      sold: await all<{ sku: string; count: number }>(SOLD),
      chargedWrong: await all(CHARGED_WRONG),
      deliveredWrong: await all(DELIVERED_WRONG),
      iccidsTwice: await all("SELECT iccid FROM esims GROUP BY iccid HAVING count(*) > 1"),
      openTwice: await all("SELECT iccid FROM activations WHERE status <> 'cancelled' GROUP BY 1 HAVING count(*) > 1"),
      eventsTwice: await all("SELECT subject_id FROM events GROUP BY subject_id, kind HAVING count(*) > 1"),
      events: await ids("SELECT id FROM events WHERE kind = 'order.fulfilled'"),
      items: await all<Item>(ITEMS),
    };
  });
}

/** An item of a supplier: how often nodes claimed it, and its attempts on record. */
interface Item {
  id: string;
  claims: number;
  delivered: number;
  /** Those that are on record, and delivered nothing. */
  faults: number;
  /** When (ms) it was recorded first that it is delivered. */
  delivered_at: number;
}

const ITEMS = `
  SELECT i.id, i.lease_no AS claims, min(a.at) FILTER (WHERE a.outcome = 'activated') AS delivered_at,
    count(*) FILTER (WHERE a.outcome = 'activated') AS delivered,
    count(*) FILTER (WHERE a.outcome <> 'activated') AS faults
  FROM order_items i LEFT JOIN item_attempts a ON a.item_id = i.id GROUP BY i.id, i.lease_no`;
const SOLD = `
  SELECT p.sku, count(*) FROM esims e JOIN products p ON p.id = e.product_id WHERE e.order_id IS NOT NULL GROUP BY 1`;
const CHARGED_WRONG = `
  SELECT id FROM orders WHERE total_cents IS DISTINCT FROM
    (SELECT sum(amount_cents) FROM ledger_transactions WHERE order_id = orders.id AND kind = 'charge')`;
const DELIVERED_WRONG = `
  SELECT id, quantity FROM orders WHERE status = 'fulfilled' AND quantity <>
    (SELECT count(*) FROM esims WHERE esims.order_id = orders.id)`;

/** Units that the writes ordered, by product. */
function unitsOf(acts: Act[], products: Record<string, string>): Record<string, number> {
  const units: Record<string, number> = {};
  for (const { kind, body } of acts) {
    const lines = kind === "order" ? Object(body).line_items : kind === "bulk" ? Object(body).orders[0].line_items : [];
    for (const { product_id, quantity } of lines) {
      const [sku = ""] = Object.entries(products).find(([, id]) => id === product_id) ?? [];
      units[sku] = (units[sku] ?? 0) + quantity;
    }
  }
  return units;
}

const idOf = ({ kind, answer }: Act): string => (kind === "bulk" ? answer.results[0].service_order_id : answer.id);
const countOf = (acts: Act[], kind: Act["kind"]) => acts.filter((act) => act.kind === kind).length;

/**
 * Leases that were taken half a minute ago end at once, and what a fault postponed is due. Nothing on this machine
 * takes so long: their holders are gone.
 */
const OLD_LEASES_END = ["order_items", "orders"]
  .map((table) => {
    const left = (table === "orders" ? 60_000 : 120_000) - 30_000;
    const isPostponed = `leased_until IS NULL AND due_at BETWEEN ${msFromNow(5_000)} AND ${msFromNow(70_000)}`;
    return `UPDATE ${table} SET due_at = 1, leased_until = 1 WHERE leased_until < ${msFromNow(left)};
      UPDATE ${table} SET due_at = 1 WHERE ${isPostponed}`;
  })
  .join(";");

function msFromNow(ms: number): string {
  return `extract(epoch FROM now())::bigint * 1000 + ${ms}`;
}

const UNDER_WAY = `
  SELECT 'orders' AS what, status, reason, count(*) FROM orders WHERE status <> 'fulfilled' GROUP BY 2, 3
  UNION ALL SELECT 'deliveries', status, NULL, count(*) FROM deliveries WHERE status <> 'delivered' GROUP BY 2`;

/** Waits until nothing is under way any more. */
async function settled(url: string): Promise<void> {
  await eventually(
    async () => {
      await onDatabase({ url }, OLD_LEASES_END);
      return inSnapshot({ url }, (rows) => rows(UNDER_WAY));
    },
    (rows) => rows.length === 0,
  );
}

type Found = Awaited<ReturnType<typeof inspect>>;

/** Every confirmed write is there once, and nothing else is. */
function expectAllWritten(found: Found, acts: Act[], products: Record<string, string>): void {
  const ordering = acts.filter(({ kind }) => kind === "order" || kind === "bulk");
  expect(new Set(ordering.map(idOf))).toEqual(found.orders);
  expect(found.keys).toBe(ordering.length);
  expect(found.activations).toBe(countOf(acts, "activation"));
  expect(found.passports).toBe(countOf(acts, "passport"));
  const sold = found.sold.map(({ sku, count }) => [sku, count]);
  expect(Object.fromEntries(sold)).toEqual(unitsOf(acts, products));
  const nothing = { chargedWrong: [], deliveredWrong: [], iccidsTwice: [], openTwice: [], eventsTwice: [] };
  expect(found).toMatchObject(nothing);
}

/**
 * Every item was delivered by one attempt on record, and was asked for under its reference alone: by each claim once at
 * most, and never after that attempt. So each repetition follows an attempt whose outcome is not on record, or was a
 * fault. A fault need not have reached the supplier: a node suspended as it connects wakes after its time-out. How many
 * items were asked for again.
 */
function askedTwice({ items }: Found, references: Map<string, number[]>): number {
  expect(new Set(references.keys())).toEqual(new Set(items.map(({ id }) => id)));
  let twice = 0;
  for (const { id, claims, delivered, faults, delivered_at } of items) {
    const asked = references.get(id) ?? [];
    const where = JSON.stringify({ id, claims, faults, delivered_at, asked });
    expect(delivered, where).toBe(1);
    expect(asked.length, where).toBeLessThanOrEqual(claims);
    expect(Math.max(...asked), where).toBeLessThanOrEqual(delivered_at);
    if (asked.length > 1) twice += 1;
  }
  return twice;
}

/** Every event arrived; how many arrived again. */
function arrivedTwice({ events }: Found, { received }: Receiver): number {
  expect(new Set(received.map(({ json }) => json.event_id))).toEqual(new Set(events));
  return received.length - events.length;
}

test("nodes killed and suspended, PostgreSQL restarted, COMMITs cut: confirmed writes are stored once", async () => {
  const server = await startPostgres();
  onTestFinished(() => server.remove());
  const [receiver, supplier] = [await startReceiver(), await countingSupplier()];
  const shop = await shopOn(server.url, receiver, supplier.url);
  const cutter = await commitCutter(server.port);
  const flags = ["--public-url", "http://esim.test", "--allow-private-webhooks", "--log-level", "error"];
  const options = { ...shop.served, database: cutter.urlOf(server.url), flags };
  const fleet = await startFleet(Array.from({ length: NODES }, () => options));
  const token = await shopToken(shop, fleet.urls[0] ?? "");
  const nodes = fleet.urls.map((url) => ({ url, token, waitMs: WAIT_MS }));

  cutter.cut(CUT_EACH);
  const ms = minutes * 60_000;
  const until = performance.now() + ms;
  const pauses: Pause[] = [];
  let disturbing = 2;
  const over = () => void disturbing--;
  const isEnough = (written: Written) => {
    if (disturbing > 0 || performance.now() < until) return false;
    return pauses.every((each) => writesBeside(written, each).first !== -1);
  };
  const [written] = await Promise.all([
    writeUntil(isEnough, nodes, Object.values(shop.products)),
    disturbNodes(fleet, until, pauses).finally(over),
    disturbServer(server, ms).finally(over),
  ]);
  const { acts, statuses } = written;
  cutter.cut(0);
  await settled(server.url);
  const found = await inspect(server.url);

  expectAllWritten(found, acts, shop.products);
  const faults = 2 * pauses.length;
  const lost = faults + 2 * NODES + cutter.count();
  const [asked, arrived] = [askedTwice(found, supplier.references), arrivedTwice(found, receiver)];
  expect(asked).toBeLessThanOrEqual(lost * SUPPLIES);
  expect(arrived).toBeLessThanOrEqual(lost * DELIVERIES);
  const still = pauses.map((each) => Math.round(longestStill(written, each)));
  expect(Math.max(...still)).toBeLessThan(LONGEST_STILL_MS);
  const { args, env } = targetOf(shop.served);
  const balance = FUNDS_CENTS - found.ordered;
  expect(await esimctlJson(["wallet", "check", ...args], { env })).toMatchObject({
    ok: true,
    wallets: [{ partner: "acme", balance_cents: balance, ledger_cents: balance }],
  });
  await esimctlJson(["audit", "verify", ...args], { env });
  await esimctlJson(["doctor", ...args], { env });
  expect(await fleet.stop()).toEqual([0, 0, 0]);
  console.info(`seed ${seed}, ${minutes} min: ${acts.length} writes, responses ${JSON.stringify(statuses)}`);
  console.info(
    `${faults} faults of nodes, ${cutter.count()} COMMITs cut, ${found.items.length} items, ${asked} asked again`,
  );
  console.info(`longest time without a write of the others, for each pause: ${still.join(", ")} ms`);
  console.info(
    `${found.events.length} events, ${arrived} arrived again; errors ${JSON.stringify(fleet.errors(), null, 1)}`,
  );
}, 3_600_000);
