import { expect, test } from "vitest";
import type { TopupId } from "../src/core/kernel/brand.ts";
import { checkTopupMoney } from "../src/core/orders/check-money.ts";
import { decideTopup } from "../src/core/topups/operator.ts";
import { deskOf } from "./support/desk.ts";
import { buy, openShop } from "./support/sandbox.ts";
import { makeSupplied, plan, setUpProvider, startTopupProvider, work } from "./support/topup-provider.ts";

/** A partner's eSIM, and a desk at its operator. */
async function setUp() {
  const shop = await openShop();
  const provider = await startTopupProvider();
  provider.plans = [plan({ plan: "TOP3", currency: "AUD" })];
  await setUpProvider(shop, provider, { notes: false, lookUps: 1 });
  const { iccid } = await buy(shop, shop.live, shop.products.EU5);
  await makeSupplied(shop, iccid);
  const desk = deskOf(shop);
  // The partner asks at the server, where the provider of this test is known.
  return { shop, provider, iccid, desk, partner: desk.at(shop.live) };
}

test("a top-up that may have been bought waits for the operator, who completes, fails or looks again", async () => {
  const { shop, provider, iccid, desk, partner } = await setUp();
  const { data: fitting } = await partner.json(`esims topup ${iccid}`);
  expect(fitting).toMatchObject([{ sku: "P-TOP3", price_cents: 308, currency: "AUD" }]);
  provider.next = ["drop", "drop", "lose"];
  const ids: string[] = [];
  for (const no of [1, 2, 3]) {
    const asked = `--product P-TOP3 --max-total 3.08 --idempotency-key no-${no}`;
    const made = await partner.json(`esims topup ${iccid} ${asked}`);
    expect(made).toMatchObject({ status: "paid", price_cents: 308 });
    ids.push(made.id);
    await work(shop);
    shop.clock.advance(10_000);
    await work(shop);
  }
  const [first, second, third] = ids;
  // The third one was found by its look-up.
  const { data: stuck } = await desk.json("topups list");
  const row = { partner: "partner-1", iccid, supplier: "prov", supplier_sku: "TOP3", reason: "it has no such order" };
  expect(stuck).toMatchObject([
    { id: first, ...row },
    { id: second, ...row },
  ]);
  const queueOf = async () => {
    const { queues } = await desk.json("status");
    return queues.find(({ queue }: { queue: string }) => queue === "topups_stuck").waiting;
  };
  expect(await queueOf()).toBe(2);
  expect((await desk.run("status")).stdout).toMatch(/^top-ups to decide +you +2 /m);
  expect(await desk.json(`topups complete ${first}`)).toMatchObject({ status: "applied" });
  provider.bought.set(String(second), "TOP3");
  expect(await desk.json(`topups retry ${second}`)).toMatchObject({ status: "paid", failure_reason: null });
  // The terminal's clock is the machine's, months ahead of the platform's.
  await shop.store.write(decideTopup, { id: second as TopupId, verdict: { verb: "retry" }, actor: "operator (test)" });
  await work(shop);
  expect((await shop.live.get(`/api/v1/topups/${second}`)).body.status).toBe("applied");
  expect(await queueOf()).toBe(0);
  const ended = await desk.run(`topups fail ${third} --reason "not there"`);
  expect([ended.exitCode, ended.stderr]).toEqual([1, expect.stringContaining("The top-up is applied and stays so.")]);
  expect(await shop.store.read(checkTopupMoney, null)).toEqual([]);
});

test("a top-up that the operator fails is refunded once", async () => {
  const { shop, provider, iccid, desk, partner } = await setUp();
  provider.next = ["drop"];
  const { id } = await partner.json(`esims topup ${iccid} --product P-TOP3`);
  await work(shop);
  shop.clock.advance(10_000);
  await work(shop);
  const before = (await shop.live.get("/api/v1/balance")).body.balances[0].balance_cents;
  const failed = await desk.json(`topups fail ${id} --reason "the supplier has no such order"`);
  expect(failed).toMatchObject({ status: "failed", failure_reason: "the supplier has no such order" });
  expect((await desk.run(`topups fail ${id} --reason again`)).exitCode).toBe(1);
  expect((await shop.live.get("/api/v1/balance")).body.balances[0].balance_cents).toBe(before + 308);
  expect(await shop.store.read(checkTopupMoney, null)).toEqual([]);
});
