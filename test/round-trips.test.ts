import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createCredential } from "../src/core/credentials/create.ts";
import type { ProductId } from "../src/core/kernel/brand.ts";
import { systemClock } from "../src/core/kernel/clock.ts";
import { randomIds } from "../src/core/kernel/ids.ts";
import { minorUnits } from "../src/core/kernel/money.ts";
import { createOrder } from "../src/core/orders/create.ts";
import { createPartner } from "../src/core/partners/create.ts";
import { readSetting } from "../src/core/platform/settings.ts";
import { openStore } from "../src/core/store/open/open.ts";
import { creditWallet } from "../src/core/wallet/fund.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { HANG_MS } from "./support/hangs.ts";
import { onPostgres, openTestStore } from "./support/store.ts";
import { type TripCounter, tripCounter } from "./support/trip-counter.ts";

/** A partner with money, stock, and a store that counts its round trips. */
async function counted() {
  const { store, location, masterKey } = await openTestStore(systemClock);
  if (!("url" in location)) throw new Error("round trips are PostgreSQL's");
  const actor = "test";
  const { id: partnerId } = await store.write(createPartner, { slug: "acme", name: "Acme", production: true, actor });
  await store.write(creditWallet, { partnerId, amount: minorUnits(1_000_000), currency: "AUD", actor });
  const { client_id: credential } = await store.write(createCredential, { partner: "acme", live: true, actor });
  const { EU } = await addProducts(store, [{ sku: "EU", price_cents: 100 }]);
  await addStock(store, "EU", 500);
  const counter = await tripCounter(Number(new URL(location.url).port));
  const counting = await openStore(
    { url: counter.urlOf(location.url) },
    { clock: systemClock, ids: randomIds(), masterKey },
  );
  onTestFinished(() => counting.close());
  const order = () => {
    const key = { space: "single", value: crypto.randomUUID() } as const;
    const lines = [{ product_id: EU as ProductId, quantity: 1 }];
    const owner = { partnerId, environment: "production" } as const;
    const input = {
      ...owner,
      key,
      payloadHash: key.value,
      lines,
      metadata: {},
      activationRequests: [],
      customer: null,
    };
    return counting.write(createOrder, { ...input, credential }, undefined, owner);
  };
  // The first one prepares the statements, and opens the feed.
  await order();
  return { counter, counting, order };
}

/** Holds for one run of `work` at least: a machine that stalls splits batches, and what is sent at once. */
const takes = (trips: number, counter: TripCounter, work: () => Promise<unknown>) =>
  vi.waitFor(async () => expect(await counter.during(work)).toBe(trips), HANG_MS);

describe.runIf(onPostgres)("round trips to PostgreSQL", () => {
  test("an order from stock takes three: what it looks up, what it writes, and the commit", async () => {
    const { counter, order } = await counted();
    await takes(3, counter, order);
  });

  test("orders that are written together take no more than one of them", async () => {
    const { counter, order } = await counted();
    await takes(3, counter, () => Promise.all(Array.from({ length: 10 }, order)));
  });

  test("a read takes two", async () => {
    const { counter, counting } = await counted();
    await takes(2, counter, () => counting.read(readSetting, "public_url"));
  });
});
