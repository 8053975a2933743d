import { expect, test } from "vitest";
import { systemClock } from "../src/core/kernel/clock.ts";
import { minorUnits } from "../src/core/kernel/money.ts";
import { createOrder, type NewOrder } from "../src/core/orders/create.ts";
import { createPartner } from "../src/core/partners/create.ts";
import type { Tx } from "../src/core/store/store.ts";
import { walletBalances } from "../src/core/wallet/balances.ts";
import { checkWallets } from "../src/core/wallet/check.ts";
import { creditWallet } from "../src/core/wallet/fund.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { openTestStore } from "./support/store.ts";

const actor = "test";

/** A partner with 10.00 AUD, a product of 1.00 with ten eSIMs in stock, and one of 50.00 with as many. */
async function openShop() {
  const { store } = await openTestStore(systemClock);
  const { id: partnerId } = await store.write(createPartner, { slug: "acme", name: "Acme", production: true, actor });
  await store.write(creditWallet, { partnerId, amount: minorUnits(1_000), currency: "AUD", actor });
  const { CHEAP, DEAR } = await addProducts(store, [
    { sku: "CHEAP", price_cents: 100 },
    { sku: "DEAR", price_cents: 5_000 },
  ]);
  if (CHEAP === undefined || DEAR === undefined) throw new Error("the products were not added");
  for (const sku of ["CHEAP", "DEAR"]) await addStock(store, sku, 10);
  let runs = 0;
  /** Creates an order; how often it did counts in `runs`. */
  async function counted(tx: Tx, input: NewOrder) {
    runs += 1;
    return createOrder(tx, input);
  }
  function order(product_id: string): Promise<unknown> {
    const key = { space: "single", value: crypto.randomUUID() } as const;
    const owner = { partnerId, environment: "production" } as const;
    const asked = { lines: [{ product_id, quantity: 1 }], metadata: {}, activationRequests: [], customer: null };
    return store.write(counted, { ...owner, key, payloadHash: key.value, ...asked }, undefined, owner);
  }
  return { store, partnerId, order, CHEAP, DEAR, runs: () => runs };
}

test("an order that the wallet cannot pay writes nothing: orders committed with it are made once", async () => {
  const { store, partnerId, order, CHEAP, DEAR, runs } = await openShop();
  const asked = [CHEAP, DEAR, CHEAP, DEAR, DEAR, CHEAP];
  const outcomes = await Promise.allSettled(asked.map(order));
  expect(outcomes.map(({ status }) => status === "fulfilled")).toEqual(asked.map((product) => product === CHEAP));
  for (const outcome of outcomes) {
    if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ slug: "insufficient_balance" });
  }
  expect(runs()).toBe(asked.length);
  expect(await store.read(walletBalances, partnerId)).toMatchObject({ balances: [{ balance_cents: 700 }] });
  expect(await store.read(checkWallets, { minimum: () => null })).toMatchObject({ ok: true });
});

test("the last money goes to the order that comes first, in one batch too", async () => {
  const { store, partnerId, order, CHEAP, runs } = await openShop();
  const outcomes = await Promise.allSettled(Array.from({ length: 13 }, () => order(CHEAP)));
  expect(outcomes.map(({ status }) => status === "fulfilled")).toEqual([...Array(10).fill(true), false, false, false]);
  expect(runs()).toBe(13);
  expect(await store.read(walletBalances, partnerId)).toMatchObject({ balances: [{ balance_cents: 0 }] });
  expect(await store.read(checkWallets, { minimum: () => null })).toMatchObject({ ok: true });
});
