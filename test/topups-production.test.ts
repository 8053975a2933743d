import { beforeEach, describe, expect, test } from "vitest";
import { costOf } from "../src/core/kernel/cost.ts";
import { checkOrderMoney, checkTopupMoney } from "../src/core/orders/check-money.ts";
import { pauseOrders } from "../src/core/orders/pause.ts";
import { insert, updateRow } from "../src/core/store/rows.ts";
import { circuitOf, noteFault } from "../src/core/supply/circuit.ts";
import { claimTopups, waitingTopups } from "../src/core/topups/due.ts";
import { applyTopupStep } from "../src/core/topups/step.ts";
import { checkWallets } from "../src/core/wallet/check.ts";
import { buy, eventsOf, openShop, type Shop } from "./support/sandbox.ts";
import {
  makeSupplied,
  plan,
  setUpProvider,
  startTopupProvider,
  type TopupProvider,
  work,
} from "./support/topup-provider.ts";

const key = (name = crypto.randomUUID()) => ({ "idempotency-key": name });
const MINUTE_MS = 60_000;
/** 2.28 USD × 1.52 × 1.35, in cents of AUD. */
const PRICE = 468;

interface Selling {
  shop: Shop;
  provider: TopupProvider;
  iccid: string;
  orderId: string;
}

/** A shop whose partner has one eSIM of a provider that has one top-up for it. */
async function selling(): Promise<Selling> {
  const shop = await openShop();
  const provider = await startTopupProvider();
  provider.plans = [plan({ plan: "TOP3" })];
  await setUpProvider(shop, provider);
  await rate(shop, "1.52");
  const { iccid, id: orderId } = await buy(shop, shop.live, shop.products.EU5);
  await makeSupplied(shop, iccid);
  return { shop, provider, iccid, orderId };
}

async function rate({ store }: Shop, value: string, day = "2026-03-01") {
  const pair = { from_currency: "USD", to_currency: "AUD" };
  await store.write((tx) => insert(tx, "fxRates", [{ ...pair, day, rate: value, created_at: tx.now }]), null);
}

async function listed({ shop, iccid }: Pick<Selling, "shop" | "iccid">) {
  const { body } = await shop.live.get(`/api/v1/esims/${iccid}/topup-products`);
  return body.data as { id: string; sku: string; price_cents: number; currency: string; name: string }[];
}

const post = ({ shop, iccid }: Pick<Selling, "shop" | "iccid">, body: object, headers: object = key()) =>
  shop.live.send("POST", `/api/v1/esims/${iccid}/topups`, body, { ...headers });

async function first(selling: Selling): Promise<string> {
  const [product] = await listed(selling);
  if (product === undefined) throw new Error("nothing is listed");
  return product.id;
}

const show = async ({ shop }: Selling, id: string) => (await shop.live.get(`/api/v1/topups/${id}`)).body;

const movements = async ({ shop }: Selling) =>
  (await shop.live.get("/api/v1/wallet/transactions")).body.data
    .map(({ kind, amount_cents, reference }: Record<string, unknown>) => [kind, amount_cents, reference])
    .filter(([kind]: string[]) => kind === "topup" || kind === "refund");

const topupEvents = async ({ shop }: Selling) =>
  (await eventsOf(shop, "production")).filter(({ kind }) => kind.startsWith("esim.top"));

const bought = ({ provider }: Selling) => provider.calls.filter((call) => call.startsWith("buy"));

async function expectSoundMoney({ shop: { store } }: Selling) {
  expect(await store.read(checkOrderMoney, null)).toEqual({ orders: [], transactions: [] });
  expect(await store.read(checkTopupMoney, null)).toEqual([]);
  expect((await store.read(checkWallets, { minimum: () => null })).ok).toBe(true);
}

describe("a top-up in production", () => {
  let one: Selling;
  beforeEach(async () => {
    one = await selling();
  });

  test("64 same-key requests at once are one charge, one look at the plans and one purchase", async () => {
    const { shop, provider, orderId, iccid } = one;
    const product_id = await first(one);
    shop.clock.advance(5 * MINUTE_MS);
    provider.calls.length = 0;
    const once = key();
    const replies = await Promise.all(Array.from({ length: 64 }, () => post(one, { product_id }, once)));
    expect(replies.map(({ status }) => status).sort()).toEqual([...new Array(63).fill(200), 201]);
    expect(new Set(replies.map(({ body }) => body.id)).size).toBe(1);
    const id = replies[0]?.body.id;
    await work(shop);
    expect(provider.calls).toEqual([`list ${iccid}`, `buy ${id}`]);
    expect(await movements(one)).toEqual([["topup", -PRICE, id]]);
    expect(await show(one, id)).toMatchObject({
      status: "applied",
      product_sku: "P-TOP3",
      price_cents: PRICE,
      currency: "AUD",
      wallet_balance_after_cents: 1_000_000 - 100 - PRICE,
      failure_reason: null,
    });
    const [event] = await topupEvents(one);
    const usage = { total_mb: 5120, used_mb: 0, remaining_mb: 5120 };
    expect([event?.kind, event?.data]).toEqual([
      "esim.topped_up",
      { iccid, order_id: orderId, topup_id: id, product_sku: "P-TOP3", data_usage: usage },
    ]);
    await expectSoundMoney(one);
  });

  test("a refusal refunds exactly, once, and says nothing of the operator's account", async () => {
    const { shop, provider } = one;
    const product_id = await first(one);
    provider.next = ["refuse", "refuse account"];
    const { body: refused } = await post(one, { product_id });
    await work(shop);
    shop.clock.advance(1);
    const { body: poor } = await post(one, { product_id });
    await work(shop);
    expect(await show(one, refused.id)).toMatchObject({
      status: "failed",
      applied_at: null,
      failure_reason: "the supplier refused: the plan was withdrawn",
    });
    expect((await show(one, poor.id)).failure_reason).toBe("the supplier cannot sell it at present");
    expect(await movements(one)).toEqual([
      ["refund", PRICE, poor.id],
      ["topup", -PRICE, poor.id],
      ["refund", PRICE, refused.id],
      ["topup", -PRICE, refused.id],
    ]);
    const { body } = await shop.live.get("/api/v1/balance");
    expect(body.balances[0].balance_cents).toBe(1_000_000 - 100);
    expect((await topupEvents(one)).map(({ kind }) => kind)).toEqual(["esim.topup_failed", "esim.topup_failed"]);
    shop.clock.advance(60 * MINUTE_MS);
    await work(shop);
    expect(bought(one)).toHaveLength(2);
    await expectSoundMoney(one);
  });

  test("is priced from the plan's cost, the last markup and the rate of the day", async () => {
    const { shop, provider } = one;
    expect(await listed(one)).toMatchObject([
      { sku: "P-TOP3", price_cents: PRICE, currency: "AUD", name: "More TOP3" },
    ]);
    const read = () => shop.store.read(async (q) => (await q.db.select().from(q.t.products)).length, null);
    const count = await read();
    // What is unchanged writes nothing; a plan whose currency has no rate is left out.
    provider.plans = [
      plan({ plan: "TOP3" }),
      plan({ plan: "YEN", currency: "JPY" }),
      plan({ plan: "AUD1", currency: "AUD" }),
    ];
    expect(await listed(one)).toMatchObject([
      { sku: "P-AUD1", price_cents: 308 },
      { sku: "P-TOP3", price_cents: PRICE },
    ]);
    expect(await read()).toBe(count + 1);
    const product_id = await first({ ...one });
    provider.plans = [plan({ plan: "AUD1", currency: "AUD", cost: costOf(30_000) })];
    // The answer of the last minute serves for what is bought after it; after it the supplier is asked again.
    shop.clock.advance(2 * MINUTE_MS);
    const dearer = await post(one, { product_id, max_total_cents: 308 });
    expect(dearer.body).toMatchObject({ status: 409, total_price_cents: 405, max_total_cents: 308 });
    expect((await post(one, { product_id, max_total_cents: 405 })).body.price_cents).toBe(405);
    // What the supplier no longer has for this eSIM is refused.
    provider.plans = [];
    shop.clock.advance(2 * MINUTE_MS);
    expect((await post(one, { product_id })).body.errors).toHaveProperty("product_id");
    expect((await shop.live.get("/api/v1/products")).body.data.map(({ sku }: { sku: string }) => sku)).not.toContain(
      "P-AUD1",
    );
  });

  test("is refused as an order is, for an eSIM from stock, and while its supplier is away", async () => {
    const { shop, provider } = one;
    const product_id = await first(one);
    const slug = async (reply: ReturnType<typeof post>) => {
      const { status, body } = await reply;
      return [status, body.type.split("/").at(-1)];
    };
    const stocked = await buy(shop, shop.live, shop.products.EU5);
    const fromStock = { ...one, iccid: stocked.iccid };
    expect(await listed(fromStock)).toEqual([]);
    expect((await post(fromStock, { product_id })).body).toMatchObject({ status: 409, reason: "not_supported" });
    const { clientId: client_id } = shop.live;
    const caps = [{ currency: "AUD", per_order: "4.00", per_day: null }];
    await shop.store.write((tx) => updateRow(tx, "credentials", { client_id }, { spend_caps: caps }), null);
    expect(await slug(post(one, { product_id }))).toEqual([403, "spend_cap_exceeded"]);
    await shop.store.write((tx) => updateRow(tx, "credentials", { client_id }, { spend_caps: null }), null);
    const { partnerId: partner_id } = shop.live;
    await shop.store.write(async (tx) => {
      const { wallets } = tx.t;
      await tx.db.update(wallets).set({ balance_cents: PRICE - 1 });
    }, null);
    const poor = await post(one, { product_id });
    expect(poor.body).toMatchObject({
      status: 402,
      required_cents: PRICE,
      balance_cents: PRICE - 1,
      shortfall_cents: 1,
    });
    expect(partner_id).toBe(shop.partner.partnerId);
    await shop.store.write(pauseOrders, { reason: "maintenance", actor: "test" });
    expect(await slug(post(one, { product_id }))).toEqual([503, "paused"]);
    await provider.stop();
    shop.clock.advance(2 * MINUTE_MS);
    const away = await post(one, { product_id });
    expect([away.status, away.body.type.split("/").at(-1), away.headers.get("retry-after")]).toEqual([
      503,
      "supplier_unreachable",
      "10",
    ]);
    expect(await movements(one)).toEqual([]);
  });

  test("is asked for again while no connection is made; then the money goes back", async () => {
    const { shop, provider } = one;
    const { body } = await post(one, { product_id: await first(one) });
    await provider.stop();
    for (const minutes of [0, 1, 2, 4, 8]) {
      shop.clock.advance(minutes * MINUTE_MS);
      await work(shop);
      expect((await show(one, body.id)).status).toBe("paid");
    }
    shop.clock.advance(16 * MINUTE_MS);
    await work(shop);
    expect(await show(one, body.id)).toMatchObject({
      status: "failed",
      failure_reason: "the supplier could not be reached",
    });
    expect(await movements(one)).toEqual([
      ["refund", PRICE, body.id],
      ["topup", -PRICE, body.id],
    ]);
    await expectSoundMoney(one);
  });

  test("waits while its supplier's circuit is open; then one proves that it works, before the others", async () => {
    const { shop } = one;
    const { store, clock } = shop;
    const fault = { supplier: "prov", probe: null, reason: "no answer" };
    for (let nth = 0; nth < 5; nth++) await store.write(noteFault, fault);
    const product_id = await first(one);
    for (let nth = 0; nth < 2; nth++) await post(one, { product_id });
    await work(shop);
    expect(bought(one)).toEqual([]);
    clock.advance(30_000);
    await work(shop);
    expect(bought(one)).toHaveLength(1);
    expect(await store.read(circuitOf, "prov")).toMatchObject({ circuit: "closed" });
    clock.advance(30_000);
    await work(shop);
    expect(bought(one)).toHaveLength(2);
  });

  test("is looked up, never bought again, when the answer was lost", async () => {
    const { shop, provider } = one;
    provider.next = ["busy", "lose", "drop"];
    const { body } = await post(one, { product_id: await first(one) });
    await work(shop);
    shop.clock.advance(2_000);
    await work(shop);
    expect((await show(one, body.id)).status).toBe("paid");
    shop.clock.advance(10_000);
    await work(shop);
    expect((await show(one, body.id)).status).toBe("applied");
    expect(bought(one)).toEqual([`buy ${body.id}`, `buy ${body.id}`]);
    // The request of this one never came to the supplier's books: people decide.
    const { body: other } = await post(one, { product_id: await first(one) });
    for (let looks = 0; looks < 4; looks++) {
      await work(shop);
      shop.clock.advance(10_000);
    }
    expect(await show(one, other.id)).toMatchObject({ status: "paid", failure_reason: null });
    expect(await shop.store.read(waitingTopups, null)).toEqual({ due: [], waitMs: null });
    expect(bought(one)).toHaveLength(3);
  });
});

describe("a top-up whose supplier keeps no reference", () => {
  async function noting() {
    const one = await selling();
    await setUpProvider(one.shop, one.provider, { notes: true, lookUps: 2 });
    return one;
  }

  test("is noted before it is bought, and looked up by the next worker where the first one died", async () => {
    const one = await noting();
    const { shop, provider } = one;
    const { body } = await post(one, { product_id: await first(one) });
    const [claimed] = await shop.store.write(claimTopups, { supplier: "prov", room: 1 });
    if (claimed === undefined) throw new Error("nothing is due");
    const { lease } = claimed;
    const step = { kind: "note", memory: { looked: 0 }, hold: "TOP3" } as const;
    expect(await shop.store.write(applyTopupStep, { lease, probe: null, step })).toBe("again");
    // It bought, and died before it wrote that down.
    provider.bought.set(body.id, "TOP3");
    await work(shop);
    expect(bought(one)).toEqual([]);
    shop.clock.advance(121_000);
    await work(shop);
    expect((await show(one, body.id)).status).toBe("applied");
    expect(bought(one)).toEqual([]);
    // What the first one still has to say changes nothing.
    const refused = { kind: "refused", code: "1", message: "late", because: "plan" } as const;
    expect(await shop.store.write(applyTopupStep, { lease, probe: null, step: refused })).toBe("ended");
    expect((await show(one, body.id)).status).toBe("applied");
  });

  test("waits for another purchase of its plan", async () => {
    const one = await noting();
    const { shop, provider } = one;
    const product_id = await first(one);
    provider.next = ["lose"];
    const { body: ahead } = await post(one, { product_id });
    await work(shop);
    const { body: behind } = await post(one, { product_id });
    await work(shop);
    expect(bought(one)).toEqual([`buy ${ahead.id}`]);
    shop.clock.advance(10_000);
    await work(shop);
    expect((await show(one, ahead.id)).status).toBe("applied");
    shop.clock.advance(10_000);
    await work(shop);
    expect((await show(one, behind.id)).status).toBe("applied");
    expect(bought(one)).toEqual([`buy ${ahead.id}`, `buy ${behind.id}`]);
  });

  test("is forgotten to be noted where nothing was sent", async () => {
    const one = await noting();
    const { shop, provider } = one;
    provider.next = ["busy"];
    const { body } = await post(one, { product_id: await first(one) });
    await work(shop);
    shop.clock.advance(2_000);
    await work(shop);
    expect((await show(one, body.id)).status).toBe("applied");
    expect(provider.calls.filter((call) => call.startsWith("find"))).toEqual([]);
  });
});

test("a supplier without a list of top-ups is asked for products that cover the same countries", async () => {
  const one = await selling();
  const { shop, provider } = one;
  provider.plans = null;
  provider.fitting = ["BUNDLE"];
  const { store, products } = shop;
  await store.write(async (tx) => {
    for (const [sku, plan] of [
      ["API", "BUNDLE"],
      ["WEEK", "OTHER"],
    ] as const) {
      // The ids are those of products.
      const product_id = products[sku] as Parameters<typeof updateRow<"products">>[2]["id"];
      const source = { supplier: "prov", supplier_sku: plan, days: null, priority: 1, cost: 10_000, currency: "USD" };
      const moments = { synced: true, status: "active", created_at: tx.now, updated_at: tx.now } as const;
      await insert(tx, "productSources", [{ product_id, ...source, ...moments }]);
    }
  }, null);
  expect((await listed(one)).map(({ sku }) => sku)).toEqual(["API"]);
  expect((await post(one, { product_id: products.WEEK })).body.errors).toHaveProperty("product_id");
  const { body } = await post(one, { product_id: products.API });
  await work(shop);
  expect(await show(one, body.id)).toMatchObject({ status: "applied", product_sku: "API", price_cents: 200 });
  expect(provider.bought.get(body.id)).toBe("BUNDLE");
});
