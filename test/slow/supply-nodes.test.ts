/** @module-tag slow */
import { describe, expect, test } from "vitest";
import { type ProviderAdapter, providerAdapters } from "../../src/core/store/schema/values.ts";
import type { ProviderRequest, SimulatedProvider } from "../../src/daemon/simulators/provider.ts";
import { esimctlJson } from "../support/cli.ts";
import { targetOf } from "../support/daemon.ts";
import { inSnapshot, locationOf } from "../support/database.ts";
import { eventually } from "../support/hangs.ts";
import type { Shop } from "../support/shop.ts";
import { freshPostgres, onPostgres } from "../support/store.ts";
import { openSupplyShop } from "../support/supply-daemon.ts";
import { supplyNodes } from "../support/supply-node.ts";

const NODES = 3;
/** What the provider takes in any second: less than is known of each, so that its own answers have to be heeded. */
const MOST = 4;
/** eSIM Go sells one unit of a plan after the other. */
const unitsANode: Record<ProviderAdapter, number> = { esimaccess: 10, airalo: 10, esimgo: 4 };

/** A provider that refuses what is beyond its limit, and counts. */
function limited() {
  const counted = { taken: 0, refused: 0, tokens: 0 };
  const recent: number[] = [];
  const answer = (provider: SimulatedProvider, request: ProviderRequest) => {
    while (recent.length > 0 && (recent[0] ?? 0) <= request.now - 1_000) recent.shift();
    if (recent.length >= MOST) {
      counted.refused += 1;
      return { status: 429, headers: { "retry-after": "1" }, body: { message: "Too many requests" } };
    }
    recent.push(request.now);
    counted.taken += 1;
    if (request.path === "/token") counted.tokens += 1;
    return provider.answer(request);
  };
  const made = (provider: SimulatedProvider): SimulatedProvider => ({
    ...provider,
    answer: (request) => answer(provider, request),
  });
  return { counted, made };
}

function inspect({ served }: Shop) {
  return inSnapshot(locationOf(served), async (rows) => ({
    orders: await rows<{ id: string; status: string }>("SELECT id, status FROM orders"),
    costs: await rows<{ order_id: string }>("SELECT order_id FROM costs"),
    esims: await rows<{ order_id: string }>("SELECT order_id FROM esims"),
  }));
}

const nodes = supplyNodes();

describe.runIf(onPostgres)("several nodes on one database", () => {
  test.for(providerAdapters)("%s: three nodes that buy at once keep one limit together", async (adapter) => {
    const { url } = await freshPostgres();
    const { counted, made } = limited();
    const { shop, doubles, product } = await openSupplyShop([adapter], url, made);
    const units = unitsANode[adapter];
    const wantedOf = (node: number) => Array.from({ length: units }, (_, at) => ({ key: `${node}-${at}`, product }));
    const started = await Promise.all(Array.from({ length: NODES }, (_, node) => nodes.start(shop, wantedOf(node))));
    const { orders, costs, esims } = await eventually(
      () => inspect(shop),
      (found) => found.orders.every(({ status }) => status !== "paid"),
    );
    for (const node of started) await node.kill();
    console.info(`${adapter}: ${orders.length} units`, counted);
    // Apart from each other they would be refused more often than not.
    expect(counted.refused).toBeLessThanOrEqual(counted.taken);
    expect(counted.tokens).toBeLessThanOrEqual(3);
    expect(orders).toHaveLength(NODES * units);
    expect(new Set(orders.map(({ status }) => status))).toEqual(new Set(["fulfilled"]));
    const ids = orders.map(({ id }) => id).sort();
    expect(costs.map(({ order_id }) => order_id).sort()).toEqual(ids);
    expect(esims.map(({ order_id }) => order_id).sort()).toEqual(ids);
    expect(await doubles[0]?.state()).toMatchObject({ bought: orders.length });
    const { args, env } = targetOf(shop.served);
    expect(await esimctlJson(["wallet", "check", ...args], { env })).toMatchObject({ ok: true });
  });
});
