import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createCredential } from "../src/core/credentials/create.ts";
import { updateCredential } from "../src/core/credentials/update.ts";
import type { OrderId, PartnerId, ProductId } from "../src/core/kernel/brand.ts";
import { minorUnits } from "../src/core/kernel/money.ts";
import { Problem } from "../src/core/kernel/problem.ts";
import { cancelOrder } from "../src/core/orders/cancel.ts";
import { createOrder } from "../src/core/orders/create.ts";
import { pauseOrders, resumeOrders } from "../src/core/orders/pause.ts";
import { createPartner } from "../src/core/partners/create.ts";
import { updatePartner } from "../src/core/partners/update.ts";
import { walletBalances } from "../src/core/wallet/balances.ts";
import { checkCredit, checkWallets } from "../src/core/wallet/check.ts";
import { creditWallet, debitWallet } from "../src/core/wallet/fund.ts";
import { addProducts } from "./support/catalog.ts";
import { guardedShop, key, refusalOf } from "./support/guarded-shop.ts";
import { type Platform, startPlatform } from "./support/platform.ts";
import { property } from "./support/rounds.ts";
import { onPostgres } from "./support/store.ts";

describe("credit lines", () => {
  test("orders draw what the balance lacks; a credit and a refund repay it first; the ledger balances", async () => {
    const { platform, live, desk, order, balance } = await guardedShop();
    await desk.json("partners update acme --credit-line 10.00 --currency AUD");
    await platform.fund(live.partnerId, 300);
    const bought = await order(live, 5);
    expect(bought.body).toMatchObject({ status: "paid", wallet_balance_after_cents: 0 });
    expect(await balance()).toMatchObject({
      balance_cents: 0,
      credit: { limit_cents: 1_000, used_cents: 200, available_cents: 800 },
    });
    const short = await order(live, 9);
    expect(refusalOf(short)).toEqual([402, "insufficient_balance"]);
    expect(short.body).toMatchObject({
      balance_cents: 0,
      available_credit_cents: 800,
      required_cents: 900,
      shortfall_cents: 100,
    });
    expect((await order(live, 8)).status).toBe(201);
    const credited = await desk.json("wallet credit --partner acme --amount 4.00 --currency AUD");
    expect(credited).toMatchObject({ amount_cents: 400, balance_after_cents: 0 });
    await desk.json(`orders cancel ${bought.body.order_number} --reason x --yes`);
    expect(await balance()).toMatchObject({ balance_cents: 0, credit: { used_cents: 100 } });
    await desk.json("wallet credit --partner acme --amount 3.00 --currency AUD");
    expect(await balance()).toMatchObject({ balance_cents: 200, credit: { used_cents: 0, available_cents: 1_000 } });
    const { data } = await desk.json("wallet ledger --partner acme --all");
    expect(data.map(({ kind }: { kind: string }) => kind)).toEqual(
      [
        "credit",
        "draw",
        "charge",
        "draw",
        "charge",
        "credit",
        "repayment",
        "refund",
        "repayment",
        "credit",
        "repayment",
      ].toReversed(),
    );
    expect(data.find(({ kind }: { kind: string }) => kind === "draw").postings).toContainEqual({
      account: "house:credit",
      amount_cents: -800,
    });
    expect(await desk.json("wallet check")).toMatchObject({ ok: true, wrong_credit: [] });
    expect(await desk.json("audit verify")).toMatchObject({ ok: true });
    // A debit does not draw; a lower line leaves what is drawn as it is; other currencies have none.
    const debit = await desk.refusal("wallet debit --partner acme --amount 3.00 --currency AUD");
    expect(debit.code).toBe("insufficient_balance");
    expect((await order(live, 5)).status).toBe(201);
    await desk.json("partners update acme --credit-line 1.00 --currency AUD");
    expect(await balance()).toMatchObject({ credit: { limit_cents: 100, used_cents: 300, available_cents: 0 } });
    expect((await order(live, 1)).status).toBe(402);
    expect(refusalOf(await order(live, 1, key(), "YEN"))).toEqual([402, "insufficient_balance"]);
    const { credit_lines } = await desk.json("partners update acme --credit-line none --currency AUD");
    expect(credit_lines).toEqual([{ currency: "AUD", limit_cents: 0, used_cents: 300, available_cents: 0 }]);
  });

  test("64 parallel orders never draw more than the line", async () => {
    const { live, desk, order, balance } = await guardedShop();
    await desk.json("partners update acme --credit-line 20.00 --currency AUD");
    const replies = await Promise.all(Array.from({ length: 64 }, () => order(live, 3)));
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(6);
    expect(await balance()).toMatchObject({ balance_cents: 0, credit: { used_cents: 1_800 } });
    expect(await desk.json("wallet check")).toMatchObject({ ok: true });
  });
});

const amount = fc.integer({ min: 1, max: 30 });
const capAmount = fc.option(fc.integer({ min: 1, max: 40 }), { freq: 3 });
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("order" as const), units: fc.integer({ min: 1, max: 15 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("credit" as const), units: amount }) },
  fc.record({ kind: fc.constant("debit" as const), units: amount }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("cancel" as const), which: fc.nat(20) }) },
  fc.record({ kind: fc.constant("line" as const), units: fc.integer({ min: 0, max: 40 }) }),
  fc.record({ kind: fc.constant("caps" as const), perOrder: capAmount, perDay: capAmount }),
  fc.record({ kind: fc.constant("pause" as const), on: fc.boolean() }),
  fc.record({ kind: fc.constant("midnight" as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** What a partner has by the rules alone: `net` is the balance, or below zero what is drawn on credit. */
interface Model {
  net: number;
  limit: number;
  perOrder: number | null;
  perDay: number | null;
  spent: number;
  paused: boolean;
}

const UNIT = 100;

/** What becomes of an order by the rules: the slug of its refusal, or that it is placed. */
function foreseen({ net, limit, perOrder, perDay, spent, paused }: Model, total: number): string {
  if (paused) return "paused";
  if (perOrder !== null && total > perOrder) return "spend_cap_exceeded";
  if (perDay !== null && spent + total > perDay) return "spend_cap_exceeded";
  return total <= Math.max(0, net) || net + limit >= total ? "placed" : "insufficient_balance";
}

const outcomeOf = (work: Promise<unknown>) =>
  work.then(
    () => "placed",
    (error: unknown) => {
      if (error instanceof Problem) return error.slug;
      throw error;
    },
  );

const actor = "test";

interface World extends Pick<Platform, "store" | "clock"> {
  SIM: ProductId;
  slug: string;
  partnerId: PartnerId;
  clientId: string;
  model: Model;
  orders: { id: OrderId; total: number }[];
}

let worlds = 0;

/** A partner of its own on the shared platform. */
async function newWorld(platform: Platform, SIM: ProductId): Promise<World> {
  const slug = `world-${++worlds}`;
  const { id: partnerId } = await platform.store.write(createPartner, { slug, name: slug, production: true, actor });
  const { client_id } = await platform.store.write(createCredential, { partner: slug, live: true, actor });
  const model: Model = { net: 0, limit: 0, perOrder: null, perDay: null, spent: 0, paused: false };
  const { store, clock } = platform;
  return { store, clock, SIM, slug, partnerId, clientId: client_id, model, orders: [] };
}

async function order({ store, partnerId, clientId: credential, SIM, model, orders }: World, units: number) {
  const total = units * UNIT;
  const wanted = foreseen(model, total);
  const named = { key: { space: "single" as const, value: crypto.randomUUID() }, payloadHash: "x" };
  const lines = [{ product_id: SIM, quantity: units }];
  const rest = { environment: "production" as const, metadata: {}, activationRequests: [], customer: null };
  const placing = store.write(createOrder, {
    partnerId,
    credential,
    actor: `client:${credential}`,
    lines,
    ...named,
    ...rest,
  });
  expect(await outcomeOf(placing)).toBe(wanted);
  if (wanted !== "placed") return;
  orders.push({ id: (await placing).order.id, total });
  Object.assign(model, { net: model.net - total, spent: model.spent + total });
}

async function fund({ store, partnerId, model }: World, kind: "credit" | "debit", units: number) {
  const funding = { partnerId, currency: "AUD", actor, amount: minorUnits(units * UNIT) };
  const covered = kind === "credit" || funding.amount <= Math.max(0, model.net);
  const moving = kind === "credit" ? store.write(creditWallet, funding) : store.write(debitWallet, funding);
  expect(await outcomeOf(moving)).toBe(covered ? "placed" : "insufficient_balance");
  if (covered) model.net += kind === "credit" ? funding.amount : -funding.amount;
}

async function cap({ store, clientId, model }: World, perOrder: number | null, perDay: number | null) {
  const decimal = (units: number | null) => (units === null ? null : `${units}.00`);
  const caps = { perOrder: decimal(perOrder), perDay: decimal(perDay) };
  await store.write(updateCredential, { clientId, ...caps, actor });
  model.perOrder = perOrder === null ? null : perOrder * UNIT;
  model.perDay = perDay === null ? null : perDay * UNIT;
}

async function perform(world: World, act: Step): Promise<void> {
  const { store, clock, slug, model, orders } = world;
  switch (act.kind) {
    case "order":
      return order(world, act.units);
    case "credit":
    case "debit":
      return fund(world, act.kind, act.units);
    case "caps":
      return cap(world, act.perOrder, act.perDay);
    case "cancel": {
      const [gone] = orders.splice(act.which % Math.max(1, orders.length), 1);
      if (gone === undefined) return;
      await store.write(cancelOrder, { id: gone.id, reason: "x", actor });
      model.net += gone.total;
      return;
    }
    case "line":
      model.limit = act.units * UNIT;
      return void (await store.write(updatePartner, {
        slug,
        creditLine: { currency: "AUD", cents: model.limit },
        actor,
      }));
    case "pause":
      model.paused = act.on;
      await (act.on ? store.write(pauseOrders, { reason: "x", actor }) : store.write(resumeOrders, { actor }));
      return;
    case "midnight":
      clock.advance(24 * 3_600_000);
      model.spent = 0;
  }
}

async function expectAsForeseen({ store, partnerId, model }: World): Promise<void> {
  const [held] = (await store.read(walletBalances, partnerId)).balances;
  expect(held?.balance_cents ?? 0).toBe(Math.max(0, model.net));
  expect(held?.credit?.used_cents ?? 0).toBe(Math.max(0, -model.net));
}

const MIX = "over any mix of orders, refunds, caps, lines and pauses the rules decide, and the ledger balances";

property(MIX, onPostgres ? { few: 2, many: 4 } : { few: 8, many: 20 }, async (numRuns) => {
  const platform = await startPlatform();
  const { store } = platform;
  const shipped = { product_type: "physical_sim", delivery_method: "shipping" } as const;
  const { SIM } = await addProducts(store, [{ sku: "SIM", price_cents: UNIT, ...shipped }]);
  if (SIM === undefined) throw new Error("no product");
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const world = await newWorld(platform, SIM);
      for (const act of steps) {
        await perform(world, act);
        await expectAsForeseen(world);
      }
      await store.write(resumeOrders, { actor });
      expect(await store.read(checkWallets, { minimum: () => null })).toMatchObject({ ok: true, unbalanced: [] });
      expect(await store.read(checkCredit, null)).toEqual([]);
    }),
    { numRuns, interruptAfterTimeLimit: 15_000, markInterruptAsFailure: false },
  );
});
