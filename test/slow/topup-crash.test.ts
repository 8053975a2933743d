/** @module-tag slow */
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { providerAdapters } from "../../src/core/store/schema/values.ts";
import { esimctlJson } from "../support/cli.ts";
import { type Daemon, startDaemon, targetOf } from "../support/daemon.ts";
import { endLeases, inSnapshot, locationOf } from "../support/database.ts";
import { eventually } from "../support/hangs.ts";
import { call } from "../support/platform.ts";
import { repeated } from "../support/rounds.ts";
import { type Shop, shopToken } from "../support/shop.ts";
import { freshUrl, onPostgres } from "../support/store.ts";
import type { Double } from "../support/supply.ts";
import { granting, openSupplyShop } from "../support/supply-daemon.ts";
import { supplyNodes } from "../support/supply-node.ts";

/** `ROUNDS=20` makes them 160 of each on SQLite, which the accounts' 1,000 USD pay for at the dearest provider. */
const ROUNDS = repeated(onPostgres ? 4 : 8);
/** At eSIM Go one top-up of a plan follows the other, each after seconds. */
const END_MS = 1_200_000;
/** eSIM Access takes ten for an eSIM. */
const TOPUPS_AN_ESIM = 8;
/** In one of so many rounds the provider refuses a top-up, and the process may not live to read it. */
const REFUSED_EVERY = 4;

interface Found {
  id: string;
  status: string;
  due_at: number | null;
  price_cents: number;
  cost: number;
  memory: string | null;
  reason: string | null;
}

function inspect({ served }: Shop) {
  return inSnapshot(locationOf(served), async (rows) => ({
    topups: await rows<Found>("SELECT id, status, due_at, price_cents, cost, memory, reason FROM topups ORDER BY id"),
    costs: await rows<{ topup_id: string; cost: number }>("SELECT topup_id, cost FROM costs WHERE kind = 'topup'"),
    // A refund of a top-up is of no order.
    moved: await rows<{ kind: string; amount_cents: number }>(
      "SELECT kind, amount_cents FROM ledger_transactions " +
        "WHERE kind = 'topup' OR (kind = 'refund' AND order_id IS NULL) ORDER BY id",
    ),
    esims: await rows<{ iccid: string }>("SELECT iccid FROM esims"),
  }));
}

/** What three look-ups have not found is looked for minutes longer, and left to people then. */
const isOpen = ({ status, due_at, memory }: Found) =>
  status === "paid" && due_at !== null && (JSON.parse(memory ?? "{}").looks ?? 0) < 3;

const nodes = supplyNodes();

/** Buys as many eSIMs of the provider as all rounds need; answers their ICCIDs. */
async function delivered(shop: Shop, product: string): Promise<string[]> {
  const count = Math.ceil((2 * ROUNDS) / TOPUPS_AN_ESIM);
  const orders = Array.from({ length: count }, (_, at) => ({ key: `esim-${at}`, product }));
  const node = await nodes.start(shop, orders);
  const { esims } = await eventually(
    () => inspect(shop),
    ({ esims }) => esims.length === count,
    END_MS,
  );
  await node.kill();
  if ("database" in shop.served) await endLeases(shop.served.database);
  return esims.map(({ iccid }) => iccid);
}

/** Asks the daemon for a top-up that the provider refuses; answers how it ended. */
async function refused(daemon: Daemon, shop: Shop, { double, iccid }: { double: Double; iccid: string }) {
  await double.release();
  await double.steer({ on: "topup", outcome: "refuse" });
  const headers = { authorization: `Bearer ${await shopToken(shop, daemon.url)}`, "content-type": "application/json" };
  const esim = `${daemon.url}/api/v1/esims/${iccid}`;
  const [offered] = (await call(`${esim}/topup-products`, { headers })).body.data;
  const body = JSON.stringify({ product_id: offered.id });
  const keyed = { ...headers, "idempotency-key": "refused" };
  const { id } = (await call(`${esim}/topups`, { method: "POST", headers: keyed, body })).body;
  return eventually(
    async () => (await inspect(shop)).topups.find((one) => one.id === id)?.status,
    (status) => status !== "paid",
  );
}

/** What was spent at the provider since, in 1/10,000 of its currency. */
const spent = async (double: Double, before: string) =>
  Math.round((Number(before) - Number((await double.state()).balance)) * 10_000);

const sumOf = (rows: readonly { cost: number }[]) => rows.reduce((sum, { cost }) => sum + Number(cost), 0);

test.for(providerAdapters)("%s: kill -9 while a top-up is at the provider", { timeout: 3_600_000 }, async (adapter) => {
  const { shop, doubles, product } = await openSupplyShop([adapter], await freshUrl(), granting);
  const [double] = doubles as [Double]; // one for each adapter
  const iccids = await delivered(shop, product);
  const esimOf = (at: number) => iccids[Math.floor(at / TOPUPS_AN_ESIM)] ?? "";
  const { balance } = await double.state();
  await nodes.killInHand({
    ...{ shop, doubles, on: "topup", requests: 1, rounds: ROUNDS },
    wanted: (key, at) => ({ key, iccid: esimOf(at) }),
    // At eSIM Go a refusal that was not read holds its plan for all minutes in which it might be found.
    refuses: (round) => adapter !== "esimgo" && round % REFUSED_EVERY === REFUSED_EVERY - 1,
  });
  const daemon = await startDaemon(shop.served);
  const deadline = Date.now() + END_MS;
  while ((await inspect(shop)).topups.some(isOpen)) {
    expect(Date.now()).toBeLessThan(deadline);
    await pause(500);
  }
  expect(await refused(daemon, shop, { double, iccid: iccids.at(-1) ?? "" })).toBe("failed");
  await daemon.stop();
  const { topups, costs, moved } = await inspect(shop);
  const of = (status: string) => topups.filter((one) => one.status === status);
  const [applied, failed, open] = [of("applied"), of("failed"), of("paid")];
  console.info(
    `${adapter}: ${ROUNDS} kills, ${topups.length} top-ups, ${applied.length} applied, ` +
      `${open.length} in doubt, ${failed.length} failed`,
    [...new Set(open.map(({ reason }) => reason))],
  );
  // Each that is applied costs once; what the provider took is what was posted, beside what people decide.
  expect(costs.map(({ topup_id }) => topup_id).sort()).toEqual(applied.map(({ id }) => id).sort());
  const taken = await spent(double, balance);
  expect(taken).toBeGreaterThanOrEqual(sumOf(costs));
  expect(taken).toBeLessThanOrEqual(sumOf(costs) + sumOf(open));
  // One charge each; a refusal gives back exactly its price.
  const prices = (rows: readonly Found[]) => rows.map(({ price_cents }) => Number(price_cents)).sort();
  const amounts = (kind: string) =>
    moved
      .filter((one) => one.kind === kind)
      .map((one) => Number(one.amount_cents))
      .sort();
  expect(amounts("topup")).toEqual(prices(topups));
  expect(amounts("refund")).toEqual(prices(failed));
  const { args, env } = targetOf(shop.served);
  expect(await esimctlJson(["wallet", "check", ...args], { env })).toMatchObject({ ok: true });
});
