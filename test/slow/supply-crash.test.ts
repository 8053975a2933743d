/** @module-tag slow */
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { systemClock } from "../../src/core/kernel/clock.ts";
import { randomIds } from "../../src/core/kernel/ids.ts";
import { openStore } from "../../src/core/store/open/open.ts";
import type { ProviderAdapter } from "../../src/core/store/schema/values.ts";
import { readMasterKey } from "../../src/core/store/sealing/key-files.ts";
import { esimctlJson } from "../support/cli.ts";
import { type Daemon, startDaemon, targetOf } from "../support/daemon.ts";
import { endLeases, inSnapshot, locationOf } from "../support/database.ts";
import { call } from "../support/platform.ts";
import { repeated } from "../support/rounds.ts";
import { openShop, type Shop, shopToken } from "../support/shop.ts";
import { freshUrl, onPostgres, temporaryDirectory } from "../support/store.ts";
import { addSources, type Double, startDouble } from "../support/supply.ts";

/** `ROUNDS=20` makes them 200 of each. */
const ROUNDS = repeated(onPostgres ? 4 : 10);
const UNITS_A_ROUND = 3;
/** How long the provider takes for an answer: the daemon is killed meanwhile. */
const ANSWER_MS = 300;
const END_MS = 480_000;

interface Case {
  adapters: readonly [ProviderAdapter, ...ProviderAdapter[]];
  /** Every so many orders the first provider refuses one; null: none. */
  refuses: number | null;
}

const cases: Case[] = [
  { adapters: ["esimaccess"], refuses: null },
  { adapters: ["airalo"], refuses: null },
  { adapters: ["esimgo"], refuses: null },
  { adapters: ["esimaccess", "airalo", "esimgo"], refuses: 2 },
];

/** A shop whose product JP1 these providers sell. */
async function openSupplyShop(adapters: readonly ProviderAdapter[], url: string | undefined) {
  const folder = temporaryDirectory();
  const shop = await openShop({ folder, url, stock: {}, priceCents: 1_000, fundsCents: 100_000_000 });
  const doubles: Double[] = [];
  for (const adapter of adapters) doubles.push(await startDouble(adapter, Date.now));
  const { served } = shop;
  const keyFile = "keyFile" in served ? served.keyFile : `${served.data}/esimctl.key`;
  const masterKey = readMasterKey(keyFile);
  const store = await openStore(locationOf(served), { clock: systemClock, ids: randomIds(), masterKey });
  const product = await addSources(store, adapters, doubles);
  await store.close();
  return { shop, doubles, product };
}

interface Found {
  id: string;
  status: string;
  reason: string | null;
}

function inspect({ served }: Shop) {
  return inSnapshot(locationOf(served), async (rows) => ({
    orders: await rows<Found>("SELECT id, status, reason FROM orders"),
    costs: await rows<{ item_id: string; supplier: string }>("SELECT item_id, supplier FROM costs"),
    esims: await rows<{ iccid: string; order_id: string }>("SELECT iccid, order_id FROM esims"),
    // What three look-ups have not found is looked for minutes longer, and left to people then.
    undecided: (
      await rows<{ looked: string | null }>(
        "SELECT memory AS looked FROM order_items JOIN orders ON orders.id = order_id WHERE orders.status = 'paid'",
      )
    ).filter(({ looked }) => (JSON.parse(looked ?? "{}").looks ?? 0) < 3).length,
    charged: await rows<{ cents: number }>(
      "SELECT coalesce(sum(CASE WHEN kind = 'charge' THEN amount_cents ELSE 0 - amount_cents END), 0) AS cents " +
        "FROM ledger_transactions WHERE kind IN ('charge', 'refund')",
    ),
  }));
}

/** Orders so many units one by one, and kills the daemon while the provider has the first of them in hand. */
async function crash(daemon: Daemon, token: string, round: number, { doubles, product, refuses }: Selling) {
  const [first] = doubles;
  const count = async () =>
    (await Promise.all(doubles.map((one) => one.state()))).reduce((n, { by }) => n + (by.order ?? 0), 0);
  for (const one of doubles) await one.steer({ on: "order", outcome: "delay", count: 10, delay_ms: ANSWER_MS });
  if (refuses !== null && round % refuses === 0) await first?.steer({ on: "order", outcome: "refuse", count: 1 });
  const before = await count();
  for (let unit = 0; unit < UNITS_A_ROUND; unit++) {
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "idempotency-key": `round-${round}-${unit}`,
    };
    const body = JSON.stringify({ line_items: [{ product_id: product, quantity: 1 }] });
    expect((await call(`${daemon.url}/api/v1/orders`, { method: "POST", headers, body })).status).toBe(201);
  }
  const deadline = Date.now() + 60_000;
  while ((await count()) === before) {
    expect(Date.now()).toBeLessThan(deadline);
    await pause(5);
  }
  await daemon.kill();
}

interface Selling extends Pick<Case, "refuses"> {
  doubles: Double[];
  product: string;
}

test.for(cases)(
  "kill -9 between request and answer: $adapters",
  { timeout: 900_000 },
  async ({ adapters, refuses }) => {
    const url = await freshUrl();
    const { shop, doubles, product } = await openSupplyShop(adapters, url);
    let daemon = await startDaemon(shop.served);
    const { port } = daemon;
    for (let round = 0; round < ROUNDS; round++) {
      await crash(daemon, await shopToken(shop, daemon.url), round, { doubles, product, refuses });
      // On SQLite the next daemon has the database to itself, and ends them.
      if (url !== undefined) await endLeases(url);
      daemon = await startDaemon({ ...shop.served, port });
    }
    const deadline = Date.now() + END_MS;
    while ((await inspect(shop)).undecided > 0) {
      expect(Date.now()).toBeLessThan(deadline);
      await pause(500);
    }
    const { orders, costs, esims, charged } = await inspect(shop);
    const states = await Promise.all(doubles.map((one) => one.state()));
    const bought = states.reduce((sum, one) => sum + one.bought, 0);
    const review = orders.filter(({ status }) => status === "waiting_review" || status === "paid").length;
    const failed = orders.filter(({ status }) => status === "failed").length;
    console.info(
      `${adapters.join(" > ")}: ${ROUNDS} kills, ${orders.length} units, ${review} for review, ${failed} failed`,
    );
    expect(orders).toHaveLength(ROUNDS * UNITS_A_ROUND);
    const fulfilled = orders.length - review - failed;
    // Nothing is lost and nothing is bought twice outside of review; each unit that is bought costs once.
    expect({ esims: esims.length, costs: costs.length }).toEqual({ esims: fulfilled, costs: fulfilled });
    expect(new Set(costs.map(({ item_id }) => item_id)).size).toBe(costs.length);
    expect(new Set(esims.map(({ order_id }) => order_id)).size).toBe(esims.length);
    expect(bought).toBeGreaterThanOrEqual(fulfilled);
    expect(bought).toBeLessThanOrEqual(fulfilled + review);
    expect(charged[0]?.cents).toBe((fulfilled + review) * 1_000);
    await daemon.stop();
    const { args, env } = targetOf(shop.served);
    expect(await esimctlJson(["wallet", "check", ...args], { env })).toMatchObject({ ok: true });
  },
);
