/** @module-tag slow */
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import type { ProviderAdapter } from "../../src/core/store/schema/values.ts";
import { esimctlJson } from "../support/cli.ts";
import { startDaemon, targetOf } from "../support/daemon.ts";
import { inSnapshot, locationOf } from "../support/database.ts";
import { repeated } from "../support/rounds.ts";
import type { Shop } from "../support/shop.ts";
import { freshUrl, onPostgres } from "../support/store.ts";
import { granting, openSupplyShop } from "../support/supply-daemon.ts";
import { supplyNodes } from "../support/supply-node.ts";

/** `ROUNDS=25` makes them 200 of each on SQLite; at the dearest provider the account's 1,000 USD pay for 333 units. */
const ROUNDS = repeated(onPostgres ? 4 : 8);
const END_MS = 300_000;

interface Case {
  adapters: readonly [ProviderAdapter, ...ProviderAdapter[]];
  /** Requests that buy one unit. */
  requests: number;
  /** In every so many rounds the first provider refuses one; null: none. */
  refuses: number | null;
}

const cases: Case[] = [
  { adapters: ["esimaccess"], requests: 1, refuses: null },
  { adapters: ["airalo"], requests: 1, refuses: null },
  // An order for the inventory, and the apply from there.
  { adapters: ["esimgo"], requests: 2, refuses: null },
  { adapters: ["esimaccess", "airalo", "esimgo"], requests: 1, refuses: 2 },
];

interface Found {
  id: string;
  status: string;
  reason: string | null;
  memory: string | null;
  supplier: string;
}

function inspect({ served }: Shop) {
  return inSnapshot(locationOf(served), async (rows) => ({
    units: await rows<Found>(
      "SELECT orders.id, orders.status, orders.reason, memory, supplier " +
        "FROM orders JOIN order_items ON order_id = orders.id",
    ),
    costs: await rows<{ item_id: string }>("SELECT item_id FROM costs"),
    esims: await rows<{ order_id: string }>("SELECT order_id FROM esims"),
    charged: await rows<{ cents: number }>(
      "SELECT coalesce(sum(CASE WHEN kind = 'charge' THEN amount_cents ELSE 0 - amount_cents END), 0) AS cents " +
        "FROM ledger_transactions WHERE kind IN ('charge', 'refund')",
    ),
  }));
}

/** What three look-ups have not found is looked for minutes longer, and left to people then. */
const isOpen = ({ status, memory }: Found) => status === "paid" && (JSON.parse(memory ?? "{}").looks ?? 0) < 3;

/** How many there are of each reason, names and numbers left out. */
function reasonsOf(units: readonly Found[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { supplier, reason } of units) {
    const words = `${supplier}: ${(reason ?? "looked for still").replaceAll(/\d+/g, "…")}`;
    counts[words] = (counts[words] ?? 0) + 1;
  }
  return counts;
}

const nodes = supplyNodes();

test.for(cases)(
  "kill -9 between request and answer: $adapters",
  { timeout: 3_600_000 },
  async ({ adapters, requests, refuses }) => {
    const { shop, doubles, product } = await openSupplyShop(adapters, await freshUrl(), granting);
    await nodes.killInHand({
      ...{ shop, doubles, on: "order", requests, rounds: ROUNDS },
      wanted: (key) => ({ key, product }),
      refuses: (round) => refuses !== null && round % refuses === 0,
    });
    const daemon = await startDaemon(shop.served);
    const deadline = Date.now() + END_MS;
    while ((await inspect(shop)).units.some(isOpen)) {
      expect(Date.now()).toBeLessThan(deadline);
      await pause(500);
    }
    await daemon.stop();
    const { units, costs, esims, charged } = await inspect(shop);
    const states = await Promise.all(doubles.map((one) => one.state()));
    const bought = states.reduce((sum, one) => sum + one.bought, 0);
    const of = (...wanted: string[]) => units.filter(({ status }) => wanted.includes(status));
    const [fulfilled, review, failed] = [of("fulfilled"), of("waiting_review", "paid"), of("failed")];
    console.info(
      `${adapters.join(" > ")}: ${ROUNDS} kills, ${units.length} units, ${bought} bought, ` +
        `${fulfilled.length} fulfilled, ${review.length} for review, ${failed.length} failed`,
      reasonsOf(review),
    );
    // Nothing is lost and nothing is bought twice outside of review; each unit that is bought costs once.
    expect(units).toHaveLength(fulfilled.length + review.length + failed.length);
    expect(esims.map(({ order_id }) => order_id).sort()).toEqual(fulfilled.map(({ id }) => id).sort());
    expect(new Set(costs.map(({ item_id }) => item_id)).size).toBe(costs.length);
    expect(costs).toHaveLength(fulfilled.length);
    expect(bought).toBeGreaterThanOrEqual(fulfilled.length);
    expect(bought).toBeLessThanOrEqual(fulfilled.length + review.length);
    expect(charged[0]?.cents).toBe((fulfilled.length + review.length) * 1_000);
    const { args, env } = targetOf(shop.served);
    expect(await esimctlJson(["wallet", "check", ...args], { env })).toMatchObject({ ok: true });
  },
);
