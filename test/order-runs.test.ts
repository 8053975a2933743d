import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { importProducts } from "../src/core/catalog/import.ts";
import { verifyChains } from "../src/core/evidence/verify.ts";
import type { PartnerId } from "../src/core/kernel/brand.ts";
import { minorUnits } from "../src/core/kernel/money.ts";
import { Problem } from "../src/core/kernel/problem.ts";
import { checkStock } from "../src/core/maintenance/data-checks.ts";
import { createOrder, type NewOrder } from "../src/core/orders/create.ts";
import { createPartner } from "../src/core/partners/create.ts";
import { updatePartner } from "../src/core/partners/update.ts";
import type { Read, Store, Tx } from "../src/core/store/store.ts";
import { checkWallets } from "../src/core/wallet/check.ts";
import { creditWallet, debitWallet } from "../src/core/wallet/fund.ts";
import { createWebhook } from "../src/core/webhooks/create.ts";
import { addProducts, addStock, product } from "./support/catalog.ts";
import { testClock } from "./support/clock.ts";
import { addOrderer, orderOf as paidOrder } from "./support/lanes.ts";
import { property } from "./support/rounds.ts";
import { onPostgres, openTestStore } from "./support/store.ts";

const actor = "operator";
const PARTNERS = ["acme", "globex"] as const;
const SKUS = ["STOCK", "NONE"] as const;

type Act =
  | { kind: "order" | "failing" | "putOff"; partner: number; sku: (typeof SKUS)[number]; key: number; sandbox: boolean }
  | { kind: "credit" | "debit" | "threshold" | "creditLine"; partner: number; cents: number }
  | { kind: "price"; sku: (typeof SKUS)[number]; cents: number }
  | { kind: "endpoint"; partner: number };

const [partner, sku] = [fc.nat(1), fc.constantFrom(...SKUS)];
const cents = fc.integer({ min: 1, max: 3_000 });

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant("order" as const),
      partner,
      sku,
      // Few: some are replays, and some conflicts.
      key: fc.nat(60),
      sandbox: fc.nat(5).map((one) => one === 0),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom("failing" as const, "putOff" as const),
      partner,
      sku,
      key: fc.nat(60),
      sandbox: fc.constant(false),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom("credit" as const, "debit" as const, "threshold" as const, "creditLine" as const),
      partner,
      cents,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("price" as const), sku, cents: fc.nat(900) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("endpoint" as const), partner }) },
);

/** Fails after it has written, as an order of another kind. */
async function failing(tx: Tx, input: NewOrder): Promise<never> {
  await createOrder(tx, input);
  throw new Problem("conflict", "It failed.");
}

const inLane = { lane: createOrder.lane };

/** The same, with a memory of its own. */
const putOff = Object.assign(async (tx: Tx, input: NewOrder) => failing(tx, input), {
  ...inLane,
  prefetch: [],
});

interface Shop {
  store: Store;
  partners: PartnerId[];
  products: Record<string, string>;
}

async function openShop({ pending }: { pending?: number } = {}): Promise<Shop> {
  const { store } = await openTestStore(testClock());
  const partners: PartnerId[] = [];
  for (const slug of PARTNERS) {
    const { id } = await store.write(createPartner, { slug, name: slug, production: true, actor });
    await store.write(creditWallet, { partnerId: id, amount: minorUnits(5_000), currency: "AUD", actor });
    if (pending !== undefined)
      await store.write(updatePartner, { slug, bounds: { max_pending_deliveries: pending }, actor });
    partners.push(id);
  }
  const products = await addProducts(
    store,
    SKUS.map((each) => ({ sku: each, price_cents: 250 })),
  );
  await addStock(store, "STOCK", 15);
  return { store, partners, products };
}

/** What a write came to. No write has an owner: all are made in the order in which they are asked for. */
async function perform({ store, partners, products }: Shop, step: Act): Promise<string> {
  const partnerId = partners["partner" in step ? step.partner : 0] ?? ("" as PartnerId);
  const slug = PARTNERS["partner" in step ? step.partner : 0] ?? "";
  const made = async (work: Promise<unknown>) => {
    await work;
    return "done";
  };
  switch (step.kind) {
    case "order":
    case "failing":
    case "putOff": {
      const command = { order: createOrder, failing: Object.assign(failing, inLane), putOff }[step.kind];
      const { order, replayed } = await store.write(command, orderOf({ partnerId, products }, step));
      return `${order.status} ${order.total_price_cents} ${order.wallet_balance_after_cents} ${replayed}`;
    }
    case "credit":
    case "debit": {
      const command = step.kind === "credit" ? creditWallet : debitWallet;
      return made(store.write(command, { partnerId, amount: minorUnits(step.cents), currency: "AUD", actor }));
    }
    case "threshold": {
      const lowWallet = { currency: "AUD", cents: step.cents };
      return made(store.write(updatePartner, { slug, thresholds: { lowWallet }, actor }));
    }
    case "creditLine":
      return made(store.write(updatePartner, { slug, creditLine: { currency: "AUD", cents: step.cents }, actor }));
    case "price": {
      const changed = product({ sku: step.sku, price_cents: step.cents });
      return made(store.write(importProducts, { products: [changed], actor }));
    }
    case "endpoint": {
      const owner = { partnerId, environment: "production" } as const;
      return made(store.write(createWebhook, { owner, url: "https://hooks.example.net/in", events: ["*"], actor }));
    }
  }
}

type Ordering = Extract<Act, { kind: "order" | "failing" | "putOff" }>;

function orderOf({ partnerId, products }: Pick<Shop, "products"> & { partnerId: PartnerId }, step: Ordering): NewOrder {
  return {
    partnerId,
    environment: step.sandbox ? "sandbox" : "production",
    key: { space: "single", value: `key-${step.key}` },
    payloadHash: step.sku,
    lines: [{ product_id: products[step.sku] ?? "", quantity: 1 + (step.key % 3) }],
    metadata: {},
    activationRequests: [],
    customer: null,
  };
}

/** Everything of it but IDs, which differ from one shop to the next. */
async function picture(q: Read) {
  const { wallets, ledgerTransactions, events, eventFeeds, orders, deliveries, stockPools } = q.t;
  const slugs = new Map<string, string>(
    (await q.db.select({ id: q.t.partners.id, slug: q.t.partners.slug }).from(q.t.partners)).map((row) => [
      row.id,
      row.slug,
    ]),
  );
  const sorted = (rows: readonly object[]) =>
    rows.map((row) => JSON.stringify(row, (_, value) => slugs.get(value) ?? value)).sort();
  const { partner_id } = wallets;
  const { balance_cents, credit_used_cents, low_at, restored_at, chain_count } = wallets;
  const { kind, amount_cents, balance_after_cents, chain_no } = ledgerTransactions;
  const { status, total_cents, environment, reserved } = orders;
  return {
    wallets: sorted(
      await q.db
        .select({ partner_id, balance_cents, credit_used_cents, low_at, restored_at, chain_count })
        .from(wallets),
    ),
    ledger: sorted(
      await q.db
        .select({ partner_id: ledgerTransactions.partner_id, kind, amount_cents, balance_after_cents, chain_no })
        .from(ledgerTransactions),
    ),
    feeds: sorted(
      await q.db
        .select({ partner_id: eventFeeds.partner_id, env: eventFeeds.environment, last: eventFeeds.last_no })
        .from(eventFeeds),
    ),
    events: sorted(
      await q.db
        .select({ partner_id: events.partner_id, env: events.environment, no: events.feed_no, kind: events.kind })
        .from(events),
    ),
    orders: sorted(
      await q.db.select({ partner_id: orders.partner_id, status, total_cents, environment, reserved }).from(orders),
    ),
    deliveries: sorted(await q.db.select({ status: deliveries.status, held: deliveries.held_reason }).from(deliveries)),
    stock: (await q.db.select({ available: stockPools.available }).from(stockPools)).map(({ available }) => available),
  };
}

/** What each write comes to; a refusal is a result, any other error a fault. */
function outcomeOf(shop: Shop, step: Act): Promise<string> {
  return perform(shop, step).catch((error: unknown) => {
    if (error instanceof Problem) return error.slug;
    throw error;
  });
}

async function expectSame(together: Shop, alone: Shop): Promise<void> {
  expect(await together.store.read(picture, null)).toEqual(await alone.store.read(picture, null));
  for (const { store } of [together, alone]) {
    expect(await store.read(checkWallets, { minimum: () => null })).toMatchObject({ ok: true });
    expect(await store.read(verifyChains, { keyed: true })).toMatchObject({ ok: true, faults: [] });
    expect(await store.read(checkStock, null)).toMatchObject({ level: "ok" });
  }
}

/** How many deliveries may wait for an endpoint: any number, more than a run inserts, or few. */
const pending = fc.constantFrom(undefined, 2_000, 7);

// On PostgreSQL orders of a partner have a lane of their own, beside these writes (lanes-mix.test.ts).
describe.skipIf(onPostgres)("SQLite", () => {
  property("orders that share a transaction end as they would one by one", { few: 8, many: 30 }, async (rounds) => {
    const batches = fc.array(fc.array(act, { maxLength: 40 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(batches, pending, async (batches, bound) => {
        const limits = bound === undefined ? {} : { pending: bound };
        const [together, alone] = [await openShop(limits), await openShop(limits)];
        for (const batch of batches) {
          const shared = await Promise.all(batch.map((step) => outcomeOf(together, step)));
          const single: string[] = [];
          for (const step of batch) single.push(await outcomeOf(alone, step));
          expect(shared).toEqual(single);
        }
        await expectSame(together, alone);
      }),
      { numRuns: rounds },
    );
  });
});

const isOrdering = (step: Act): step is Ordering => ["order", "failing", "putOff"].includes(step.kind);

describe.runIf(onPostgres)("PostgreSQL", () => {
  property(
    "orders of a lane that share a transaction end as they would one by one",
    { few: 5, many: 15 },
    async (rounds) => {
      // One partner and one environment: those are one lane, whose writes keep their order.
      const batch = fc.array(act, { maxLength: 60 }).map((steps) => {
        const own = steps.map((step) => ({ ...step, partner: 0, sandbox: false }) as Act);
        return { before: own.filter((step) => !isOrdering(step)), orders: own.filter(isOrdering) };
      });
      await fc.assert(
        fc.asyncProperty(fc.array(batch, { minLength: 1, maxLength: 4 }), pending, async (batches, bound) => {
          const limits = bound === undefined ? {} : { pending: bound };
          const [together, alone] = [await openShop(limits), await openShop(limits)];
          for (const { before, orders } of batches) {
            for (const shop of [together, alone]) for (const step of before) await outcomeOf(shop, step);
            const shared = await Promise.all(orders.map((step) => outcomeOf(together, step)));
            const single: string[] = [];
            for (const step of orders) single.push(await outcomeOf(alone, step));
            expect(shared).toEqual(single);
          }
          await expectSame(together, alone);
        }),
        { numRuns: rounds },
      );
    },
  );
});

test("an endpoint is looked at when the first delivery of orders that share a transaction is due", async () => {
  const clock = testClock();
  const ticking = () => {
    clock.advance(1);
    return clock.now();
  };
  const { store } = await openTestStore({ now: ticking });
  const acme = await addOrderer(store, "acme", 10_000);
  const { partnerId } = acme;
  const { EU } = await addProducts(store, [{ sku: "EU", price_cents: 100 }]);
  const owner = { partnerId, environment: "production" } as const;
  await store.write(createWebhook, { owner, url: "https://hooks.example.net/in", events: ["order.created"], actor });
  await Promise.all(Array.from({ length: 8 }, () => store.write(createOrder, paidOrder(acme, EU))));
  const [deliveries, endpoints] = await store.read(async ({ db, t }) => {
    return [await db.select().from(t.deliveries), await db.select().from(t.webhookEndpoints)] as const;
  }, null);
  const due = deliveries.map(({ due_at }) => due_at);
  expect(new Set(due).size).toBe(8);
  expect(endpoints.map(({ due_at }) => due_at)).toEqual([Math.min(...due)]);
});
