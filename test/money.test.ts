import fc from "fast-check";
import { expect, test } from "vitest";
import type { OrderId, PartnerId, ProductId } from "../src/core/kernel/brand.ts";
import { payloadHash } from "../src/core/kernel/canonical.ts";
import { minorUnits } from "../src/core/kernel/money.ts";
import { Problem } from "../src/core/kernel/problem.ts";
import { cancelOrder } from "../src/core/orders/cancel.ts";
import { createOrder } from "../src/core/orders/create.ts";
import { completeItem, failItem } from "../src/core/orders/item-operator.ts";
import { rejectOrder } from "../src/core/orders/review.ts";
import { shipOrder } from "../src/core/orders/ship.ts";
import type { Store } from "../src/core/store/store.ts";
import { checkWallets } from "../src/core/wallet/check.ts";
import { creditWallet, debitWallet } from "../src/core/wallet/fund.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { type Platform, startPlatform } from "./support/platform.ts";
import { onPostgres } from "./support/store.ts";

const SKUS = ["STOCK", "SHIP", "MAIL"] as const;
const actor = "operator";

type Act =
  | { kind: "order"; lines: [sku: (typeof SKUS)[number], quantity: number][]; crash: boolean }
  | { kind: "credit" | "debit"; amount: number }
  | { kind: "stock"; count: number }
  | { kind: "fulfil" }
  | { kind: "ship" | "cancel" | "reject" | "complete" | "fail"; which: number };

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("order" as const),
      lines: fc.array(fc.tuple(fc.constantFrom(...SKUS), fc.integer({ min: 1, max: 4 })), {
        minLength: 1,
        maxLength: 3,
      }),
      crash: fc.boolean(),
    }),
  },
  fc.record({ kind: fc.constantFrom("credit" as const, "debit" as const), amount: fc.integer({ min: 1, max: 5000 }) }),
  fc.record({ kind: fc.constant("stock" as const), count: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ kind: fc.constant("fulfil" as const) }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        "ship" as const,
        "cancel" as const,
        "reject" as const,
        "complete" as const,
        "fail" as const,
      ),
      which: fc.nat(20),
    }),
  },
);

interface World {
  platform: Platform;
  partnerId: PartnerId;
  products: Record<string, ProductId>;
  orders: OrderId[];
}

/** A refusal is an answer like any other; anything else is a fault. */
async function tolerant(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof Problem)) throw error;
  });
}

async function perform(world: World, step: Act): Promise<void> {
  const { platform, partnerId, orders } = world;
  const { store } = platform;
  switch (step.kind) {
    case "order":
      return place(world, step.lines, step.crash);
    case "credit":
    case "debit": {
      const command = step.kind === "credit" ? creditWallet : debitWallet;
      return tolerant(store.write(command, { partnerId, amount: minorUnits(step.amount), currency: "AUD", actor }));
    }
    case "stock":
      return void (await addStock(store, "STOCK", step.count));
    case "fulfil":
      return platform.fulfil();
    case "complete":
    case "fail":
      return onItem(store, step.kind, step.which);
    default: {
      const id = orders[step.which % Math.max(orders.length, 1)];
      if (id === undefined) return;
      if (step.kind === "ship") return tolerant(store.write(shipOrder, { id, carrier: "C", tracking: "T", actor }));
      const command = step.kind === "cancel" ? cancelOrder : rejectOrder;
      return tolerant(store.write(command, { id, reason: "x", actor }));
    }
  }
}

async function place(world: World, lines: [string, number][], crash: boolean): Promise<void> {
  const { platform, partnerId, products, orders } = world;
  const traveller = {
    product_id: products.MAIL ?? "",
    customer_email: "a@example.com",
    customer_name: "A",
    customer_phone: null,
    activation_date: "2026-03-05",
    timezone: "UTC",
    eid_number: null,
    selected_plan_id: null,
  };
  const needed = lines.reduce((sum, [sku, quantity]) => sum + (sku === "MAIL" ? quantity : 0), 0);
  const input = {
    partnerId,
    environment: "production" as const,
    key: { space: "single" as const, value: crypto.randomUUID() },
    payloadHash: payloadHash(lines),
    lines: lines.map(([sku, quantity]) => ({ product_id: products[sku] ?? "", quantity })),
    metadata: {},
    activationRequests: Array.from({ length: needed }, () => traveller),
    customer: null,
  };
  if (crash) {
    // The process dies in the middle of the transaction: nothing of it may stay.
    const dying = platform.store.write(async (tx) => {
      await createOrder(tx, input);
      throw new Problem("internal", "died");
    }, null);
    return tolerant(dying);
  }
  await tolerant(platform.store.write(createOrder, input).then(({ order }) => orders.push(order.id)));
}

async function onItem(store: Store, kind: "complete" | "fail", which: number): Promise<void> {
  const items = await store.read(async (q) => q.db.select().from(q.t.orderItems).orderBy(q.t.orderItems.id), null);
  const id = items[which % Math.max(items.length, 1)]?.id;
  if (id === undefined) return;
  if (kind === "complete") return tolerant(store.write(completeItem, { id, iccid: null, activationCode: null, actor }));
  return tolerant(store.write(failItem, { id, errorType: "declined", errorMessage: "no", actor }));
}

/** What must hold whatever happened before. */
async function assertSound(world: World): Promise<void> {
  const check = await world.platform.store.read(checkWallets, { minimum: () => null });
  expect(check).toMatchObject({ ok: true, unbalanced: [] });
  for (const wallet of check.wallets) expect(wallet.balance_cents).toBeGreaterThanOrEqual(0);
  const { orders, lines, items, money, esims, pools } = await world.platform.store.read(
    async (q) => ({
      orders: await q.db.select().from(q.t.orders),
      lines: await q.db.select().from(q.t.orderLines),
      items: await q.db.select().from(q.t.orderItems),
      money: await q.db.select().from(q.t.ledgerTransactions),
      esims: await q.db.select().from(q.t.esims),
      pools: await q.db.select().from(q.t.stockPools),
    }),
    null,
  );
  for (const order of orders) {
    const moved = (kind: string) =>
      money
        .filter((each) => each.order_id === order.id && each.kind === kind)
        .reduce((sum, each) => sum + each.amount_cents, 0);
    const undelivered = lines
      .filter((line) => line.order_id === order.id)
      .reduce((sum, line) => {
        const activated = items.filter((item) => item.line_id === line.id && item.status === "activated").length;
        const whole = line.status === "fulfilled" && line.delivery_method !== "supplier_email";
        return sum + line.unit_price_cents * (line.quantity - (whole ? line.quantity : activated));
      }, 0);
    expect(moved("charge")).toBe(order.total_cents);
    expect(moved("refund")).toBeLessThanOrEqual(order.total_cents);
    const ended = ["fulfilled", "failed", "cancelled"].includes(order.status);
    expect(moved("refund"), order.status).toBe(ended ? undelivered : 0);
  }
  // What is free is what no order holds; nothing is counted twice and nothing is lost.
  const free = esims.filter((esim) => esim.order_id === null).length;
  const reserved = orders
    .filter((order) => order.reserved && !["fulfilled", "failed", "cancelled"].includes(order.status))
    .flatMap((order) => lines.filter((line) => line.order_id === order.id && line.delivery_method === "stock"))
    .reduce((sum, line) => sum + (line.status === "pending" ? line.quantity - line.assigned : 0), 0);
  expect(pools.find((pool) => pool.product_id === world.products.STOCK)?.available).toBe(free - reserved);
}

test("whatever happens to orders: the ledger balances and refunds are what was not delivered", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 30 }), async (steps) => {
      const world = await newWorld();
      for (const step of steps) await perform(world, step);
      await assertSound(world);
      await world.platform.fulfil();
      await assertSound(world);
    }),
    { numRuns: onPostgres ? 6 : 25, interruptAfterTimeLimit: 15_000, markInterruptAsFailure: false },
  );
}, 60_000);

let platform: Promise<Platform> | null = null;
let worlds = 0;

/** A partner and products of their own; the platform is shared by all runs. */
async function newWorld(): Promise<World> {
  platform ??= startPlatform();
  const shared = await platform;
  const { partnerId } = await shared.caller({ slug: `world-${++worlds}`, live: true });
  const products = await addProducts(shared.store, [
    { sku: "STOCK", price_cents: 110 },
    { sku: "SHIP", price_cents: 730, product_type: "physical_sim", delivery_method: "shipping" },
    {
      sku: "MAIL",
      price_cents: 290,
      product_type: "esim_qr_api",
      delivery_method: "supplier_email",
      supplier: "kestrel",
    },
  ]);
  return { platform: shared, partnerId, products, orders: [] };
}
