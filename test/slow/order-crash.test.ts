/** @module-tag slow */
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { esimctlJson } from "../support/cli.ts";
import { type Daemon, startDaemon, targetOf } from "../support/daemon.ts";
import { endLeases, inSnapshot, locationOf } from "../support/database.ts";
import { answerCount, eventually } from "../support/hangs.ts";
import { call, type Reply } from "../support/platform.ts";
import { seeded } from "../support/random.ts";
import { repeated } from "../support/rounds.ts";
import { openShop, type Shop, shopToken } from "../support/shop.ts";
import { freshUrl, onPostgres, temporaryDirectory } from "../support/store.ts";

const ROUNDS = repeated(onPostgres ? 3 : 6);
const AT_ONCE = 32;
/** A round ends at most so many answers after its first one, … */
const LATEST_KILL = 3 * AT_ONCE;
/** … and so long after the answer that ends it. */
const KILL_WITHIN_MS = 20;
const FUNDS_CENTS = 100_000_00;

/** One order as its client sees it. */
interface Placed {
  key: string;
  body: string;
  /** What was answered before the crash; null: the connection broke first. */
  answer: { id: string; order_number: string } | null;
}

interface Service {
  url: string;
  token: string;
}

function post({ url, token }: Service, { key, body }: Pick<Placed, "key" | "body">): Promise<Reply> {
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "idempotency-key": key,
  };
  return call(`${url}/api/v1/orders`, { method: "POST", headers, body });
}

function someOrder(products: string[], random: () => number): string {
  const count = 1 + Math.floor(random() * products.length);
  const line_items = products.slice(0, count).map((product_id) => ({
    product_id,
    quantity: 1 + Math.floor(random() * 3),
  }));
  return JSON.stringify({ line_items, metadata: { reseller_reference: Math.floor(random() * 1e9) } });
}

/** One client: places orders one after the other until the daemon is killed. */
async function orderUntilCut(service: Service, next: () => Placed, answered: () => void): Promise<Placed[]> {
  const placed: Placed[] = [];
  for (;;) {
    const order = next();
    placed.push(order);
    // Only a broken connection is expected to throw; any answer that is no 201 fails below.
    const reply = await post(service, order).catch(() => null);
    if (reply === null) return placed;
    expect(reply).toMatchObject({ status: 201, body: { status: "paid" } });
    order.answer = { id: reply.body.id, order_number: reply.body.order_number };
    answered();
  }
}

/** 32 clients order at once; the daemon is killed at an answer chosen by the seed, with 32 requests in flight. */
async function crash(daemon: Daemon, service: Service, products: string[], round: number): Promise<Placed[]> {
  const random = seeded(round);
  const { answered, due } = answerCount(1 + Math.floor(random() * LATEST_KILL));
  let made = 0;
  const next = () => ({ key: `round-${round}-${++made}`, body: someOrder(products, random), answer: null });
  const clients = Array.from({ length: AT_ONCE }, () => orderUntilCut(service, next, answered));
  await due();
  // Not always amid the commit that this answer came from.
  await pause(random() * KILL_WITHIN_MS);
  await daemon.kill();
  return (await Promise.all(clients)).flat();
}

/** Repeats every key of a round, 32 at a time: the stored order is as it was answered, and each key is one order. */
async function repeatAll(service: Service, placed: Placed[]): Promise<void> {
  const waiting = [...placed];
  const repeat = async () => {
    for (let order = waiting.pop(); order !== undefined; order = waiting.pop()) {
      const [first, second] = [await post(service, order), await post(service, order)];
      const { id, order_number } = first.body;
      if (order.answer === null) expect([200, 201]).toContain(first.status);
      else expect({ status: first.status, id, order_number }).toEqual({ status: 200, ...order.answer });
      expect(second).toMatchObject({ status: 200, body: { id, order_number } });
      order.answer = { id, order_number };
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, repeat));
}

/** Looks at the database itself, beside the daemon. */
function inspect({ served }: Shop) {
  return inSnapshot(locationOf(served), async (rows) => {
    const one = async (sql: string) => Number(Object.values((await rows(sql))[0] ?? {})[0]);
    return {
      orders: await one("SELECT count(*) FROM orders"),
      keys: await one("SELECT count(*) FROM idempotency_keys"),
      unfulfilled: await one("SELECT count(*) FROM orders WHERE status <> 'fulfilled'"),
      ordersOfNoKey: await rows("SELECT id FROM orders EXCEPT SELECT order_id FROM idempotency_keys"),
      charged: await one("SELECT sum(amount_cents) FROM ledger_transactions WHERE kind = 'charge'"),
      ordered: await one("SELECT sum(total_cents) FROM orders"),
      // An order is charged once, by its total.
      chargedWrong: await rows(
        `SELECT id FROM orders WHERE total_cents IS DISTINCT FROM (SELECT sum(amount_cents) FROM ledger_transactions
         WHERE order_id = orders.id AND kind = 'charge')`,
      ),
      iccidsTwice: await rows("SELECT iccid FROM esims GROUP BY iccid HAVING count(*) > 1"),
      linesWithOthersCount: await rows(
        `SELECT id FROM order_lines WHERE assigned <> (SELECT count(*) FROM esims WHERE line_id = order_lines.id)
         OR assigned > quantity OR (status = 'fulfilled' AND assigned <> quantity)`,
      ),
      // What is reserved but not handed out yet is still unassigned, and no longer in the pool.
      poolsOff: await rows(
        `SELECT product_id FROM stock_pools WHERE available <>
         (SELECT count(*) FROM esims WHERE product_id = stock_pools.product_id AND order_id IS NULL) -
         (SELECT coalesce(sum(order_lines.quantity - assigned), 0) FROM order_lines
          JOIN orders ON orders.id = order_lines.order_id
          WHERE order_lines.product_id = stock_pools.product_id AND orders.reserved = 1)`,
      ),
      eventsPerOrder: await rows(
        "SELECT DISTINCT kind, count(*) AS times FROM events GROUP BY subject_id, kind HAVING count(*) <> 1",
      ),
    };
  });
}

async function expectSound(shop: Shop, orders: number): Promise<void> {
  const found = await inspect(shop);
  expect(found).toMatchObject({ orders, keys: orders, ordersOfNoKey: [], chargedWrong: [], charged: found.ordered });
  expect(found).toMatchObject({ iccidsTwice: [], linesWithOthersCount: [], poolsOff: [], eventsPerOrder: [] });
  const balance_cents = FUNDS_CENTS - found.ordered;
  const { args, env } = targetOf(shop.served);
  expect(await esimctlJson(["wallet", "check", ...args], { env })).toMatchObject({
    ok: true,
    unbalanced: [],
    wallets: [{ partner: "acme", currency: "AUD", balance_cents, ledger_cents: balance_cents, ok: true }],
  });
}

/** Work that a killed daemon had leased is taken over once the lease of a minute expires. */
async function untilAllFulfilled(shop: Shop): Promise<void> {
  await eventually(
    () => inspect(shop),
    ({ unfulfilled }) => unfulfilled === 0,
  );
}

/** Every eSIM of every order, as its partner fetches them: none is delivered twice. */
async function expectDelivered({ url, token }: Service, placed: Placed[]): Promise<void> {
  const seen = new Set<string>();
  let delivered = 0;
  for (const { answer, body } of placed) {
    const headers = { authorization: `Bearer ${token}` };
    const reply = await call(`${url}/api/v1/orders/${answer?.id}/esims`, { headers });
    const lines: { quantity: number }[] = JSON.parse(body).line_items;
    expect(reply).toMatchObject({ status: 200, body: { count: lines.reduce((sum, line) => sum + line.quantity, 0) } });
    for (const { iccid } of reply.body.esims) seen.add(iccid);
    delivered += reply.body.count;
  }
  expect(seen.size).toBe(delivered);
}

test(`kill -9 amid 32 concurrent orders, ${ROUNDS} times: none confirmed is lost, none is placed twice`, async () => {
  const stock = { EU5: 12_000, JP10: 12_000 };
  const url = await freshUrl();
  const shop = await openShop({ folder: temporaryDirectory(), url, stock, priceCents: 250, fundsCents: FUNDS_CENTS });
  // The same public address throughout: a token outlives the process that issued it.
  const start = () => startDaemon({ ...shop.served, flags: ["--public-url", "http://esim.test"] });
  let daemon = await start();
  const token = await shopToken(shop, daemon.url);
  const products = Object.values(shop.products);

  const all: Placed[] = [];
  let answered = 0;
  for (let round = 1; round <= ROUNDS; round++) {
    const placed = await crash(daemon, { url: daemon.url, token }, products, round);
    answered += placed.filter(({ answer }) => answer !== null).length;
    // On SQLite they expire by themselves below.
    if (url !== undefined) await endLeases(url);
    daemon = await start();
    await repeatAll({ url: daemon.url, token }, placed);
    all.push(...placed);
    await expectSound(shop, all.length);
  }
  // Both kinds are there to be checked: orders answered in time, and orders whose outcome the client did not see.
  expect(answered).toBeGreaterThan(0);
  expect(all.length - answered).toBe(ROUNDS * AT_ONCE);
  await untilAllFulfilled(shop);
  await expectSound(shop, all.length);
  await expectDelivered({ url: daemon.url, token }, all);
  expect(await daemon.stop()).toMatchObject({ exitCode: 0 });
});
