import fc from "fast-check";
import { expect, onTestFinished } from "vitest";
import type { OrderId, PartnerId, ProductId } from "../src/core/kernel/brand.ts";
import { payloadHash } from "../src/core/kernel/canonical.ts";
import { luhnDigit } from "../src/core/kernel/check-digits.ts";
import { civilDateAt } from "../src/core/kernel/civil-date.ts";
import { minorUnits } from "../src/core/kernel/money.ts";
import { Problem } from "../src/core/kernel/problem.ts";
import { rejectOrder, retryOrder } from "../src/core/orders/act.ts";
import { approveOrder } from "../src/core/orders/approve.ts";
import { cancelOrder } from "../src/core/orders/cancel.ts";
import { createOrder } from "../src/core/orders/create.ts";
import { requireOrder } from "../src/core/orders/order.ts";
import { refundOrder } from "../src/core/orders/refund.ts";
import { shipOrder } from "../src/core/orders/ship.ts";
import { createPartner } from "../src/core/partners/create.ts";
import type { Row } from "../src/core/store/schema/tables.ts";
import type { Store } from "../src/core/store/store.ts";
import { completeItem, failItem, retryItem } from "../src/core/supplier-requests/operator.ts";
import { setSupplier } from "../src/core/suppliers/set.ts";
import { checkWallets } from "../src/core/wallet/check.ts";
import { creditWallet, debitWallet } from "../src/core/wallet/fund.ts";
import { createMailer } from "../src/daemon/gateways/mailer.ts";
import { createSignedExchange } from "../src/daemon/gateways/signed-exchange.ts";
import { createSupplierGateway } from "../src/daemon/gateways/suppliers.ts";
import { addProducts, addStock, suppliedProducts } from "./support/catalog.ts";
import { httpSupplier } from "./support/http-supplier.ts";
import { type Platform, startPlatform } from "./support/platform.ts";
import { property } from "./support/rounds.ts";
import { onPostgres } from "./support/store.ts";
import { supplyDue } from "./support/supplies.ts";

const SKUS = ["STOCK", "SHIP", "MAIL", "PUSH", "API"] as const;

/** What the supplier responds; `fault` is a 503. */
const RESPONSES = ["accepted", "confirmed", "activated", "refused", "fault"] as const;
const actor = "operator";

type Act =
  | { kind: "order"; lines: [sku: (typeof SKUS)[number], quantity: number][]; crash: boolean }
  | { kind: "credit" | "debit"; amount: number }
  | { kind: "stock"; count: number }
  | { kind: "fulfill" }
  | { kind: "supply"; responses: (typeof RESPONSES)[number][] }
  | { kind: "wait"; hours: number }
  | { kind: "refund"; which: number; line: number | null; units: number | null; amount: string | null }
  | { kind: "ship" | "cancel" | "reject" | "approve" | "retry" | "complete" | "fail" | "retryItem"; which: number };

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
  fc.record({ kind: fc.constant("fulfill" as const) }),
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("supply" as const),
      responses: fc.array(fc.constantFrom(...RESPONSES), { minLength: 1, maxLength: 4 }),
    }),
  },
  fc.record({
    kind: fc.constant("refund" as const),
    which: fc.nat(20),
    line: fc.constantFrom(null, 1, 2, 4),
    units: fc.constantFrom(null, null, 1, 2),
    amount: fc.constantFrom(null, "0.01", "1.00", "7.50", "900.00"),
  }),
  // Past the retries of faults, and past the 48 hours that a supplier has for its final answer.
  fc.record({ kind: fc.constant("wait" as const), hours: fc.constantFrom(0.02, 1, 48) }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        "ship" as const,
        "cancel" as const,
        "reject" as const,
        "approve" as const,
        "retry" as const,
        "retryItem" as const,
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
  /** Runs the worker for suppliers over all that is due; they respond with these outcomes in turn. */
  supply(responses: (typeof RESPONSES)[number][]): Promise<void>;
}

const ORDER_ACTS = { cancel: cancelOrder, reject: rejectOrder, approve: approveOrder, retry: retryOrder } as const;

/** A refusal is a result; any other error is a fault. */
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
    case "fulfill":
      return platform.fulfill();
    case "supply":
      return world.supply(step.responses);
    case "wait":
      return platform.clock.advance(step.hours * 3_600_000);
    case "refund":
      return refundSome(world, step);
    case "complete":
    case "fail":
    case "retryItem":
      return onItem(store, step.kind, step.which);
    default: {
      const id = orders[step.which % Math.max(orders.length, 1)];
      if (id === undefined) return;
      if (step.kind === "ship") return tolerant(store.write(shipOrder, { id, carrier: "C", tracking: "T", actor }));
      const command = ORDER_ACTS[step.kind];
      return tolerant(store.write(command, { id, reason: "x", actor }));
    }
  }
}

/** What the operator refunded beside cancellations, in minor units, by order of whichever world. */
const refunded = new Map<OrderId, number>();

async function refundSome(world: World, { which, line, units, amount }: Extract<Act, { kind: "refund" }>) {
  const id = world.orders[which % Math.max(world.orders.length, 1)];
  if (id === undefined) return;
  const cents = async () => (await world.platform.store.read(requireOrder, id)).refunded_cents;
  const before = await cents();
  const asked = { id, line, units, amount: units === null ? amount : null, reason: "x", actor };
  await tolerant(world.platform.store.write(refundOrder, asked));
  refunded.set(id, (refunded.get(id) ?? 0) + (await cents()) - before);
}

async function place(world: World, lines: [string, number][], crash: boolean): Promise<void> {
  const { platform, partnerId, products, orders } = world;
  const traveler = (sku: string) => ({
    product_id: products[sku] ?? "",
    customer_email: "a@example.com",
    customer_name: "A",
    customer_phone: null,
    activation_date: civilDateAt(platform.clock.now(), "UTC"),
    timezone: "UTC",
    eid_number: sku === "PUSH" ? "89049032000000000000000000000017" : null,
    selected_plan_id: null,
  });
  const input = {
    partnerId,
    environment: "production" as const,
    key: { space: "single" as const, value: crypto.randomUUID() },
    payloadHash: payloadHash(lines),
    lines: lines.map(([sku, quantity]) => ({ product_id: products[sku] ?? "", quantity })),
    metadata: {},
    activationRequests: lines.flatMap(([sku, quantity]) =>
      sku === "MAIL" || sku === "PUSH" ? Array.from({ length: quantity }, () => traveler(sku)) : [],
    ),
    customer: null,
  };
  if (crash) {
    // The process ends amid the transaction: all of it is rolled back.
    const dying = platform.store.write(async (tx) => {
      await createOrder(tx, input);
      throw new Problem("internal", "died");
    }, null);
    return tolerant(dying);
  }
  await tolerant(platform.store.write(createOrder, input).then(({ order }) => orders.push(order.id)));
}

async function onItem(store: Store, kind: "complete" | "fail" | "retryItem", which: number): Promise<void> {
  const items = await store.read(async (q) => q.db.select().from(q.t.orderItems).orderBy(q.t.orderItems.id), null);
  const id = items[which % Math.max(items.length, 1)]?.id;
  if (id === undefined) return;
  if (kind === "retryItem") return tolerant(store.write(retryItem, { id, actor }));
  if (kind === "complete") return tolerant(store.write(completeItem, { id, iccid: null, activationCode: null, actor }));
  return tolerant(store.write(failItem, { id, errorType: "declined", errorMessage: "no", actor }));
}

const ITEM_ENDS: string[] = ["activated", "failed", "cancelled"];

/** What the operator refunded before counts towards what a cancellation gives back, never beyond the price. */
function assertRefunded(
  order: Row<"orders">,
  lines: Row<"orderLines">[],
  { undelivered, ended }: { undelivered: number; ended: boolean },
): void {
  expect(order.refunded_cents).toBe(lines.reduce((sum, line) => sum + line.refunded_cents, 0));
  for (const line of lines) expect(line.refunded_cents).toBeLessThanOrEqual(line.quantity * line.unit_price_cents);
  const extra = refunded.get(order.id) ?? 0;
  expect(order.refunded_cents, order.status).toBeGreaterThanOrEqual(ended ? Math.max(undelivered, extra) : extra);
  expect(order.refunded_cents, order.status).toBeLessThanOrEqual(ended ? undelivered + extra : extra);
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
    const own = lines.filter((line) => line.order_id === order.id);
    const undelivered = own.reduce((sum, line) => {
      const itemsOfLine = items.filter((item) => item.line_id === line.id);
      const activated = itemsOfLine
        .filter((item) => item.status === "activated")
        .reduce((units, item) => units + item.quantity, 0);
      const whole = line.status === "fulfilled" && itemsOfLine.length === 0 ? line.quantity : activated;
      return sum + line.unit_price_cents * (line.quantity - whole);
    }, 0);
    expect(moved("charge")).toBe(order.total_cents);
    expect(moved("refund")).toBeLessThanOrEqual(order.total_cents);
    expect(order.refunded_cents).toBe(moved("refund"));
    const ended = ["fulfilled", "failed", "cancelled"].includes(order.status);
    assertRefunded(order, own, { undelivered, ended });
    // Failed and cancelled mean that nothing was delivered; fulfilled, that something was.
    if (order.status === "failed" || order.status === "cancelled") expect(undelivered).toBe(order.total_cents);
    if (order.status === "fulfilled") expect(undelivered).toBeLessThan(order.total_cents);
    const itsItems = items.filter((item) => item.order_id === order.id);
    if (ended) {
      expect(own.map((line) => line.status)).not.toContain("pending");
      for (const item of itsItems) expect(ITEM_ENDS).toContain(item.status);
    }
    // A definite refusal fails an order of which nothing was delivered; else people decide.
    if (itsItems.some((item) => item.status === "failed")) {
      const decided = undelivered === order.total_cents ? ["failed"] : ["waiting_review", "fulfilled"];
      expect(decided).toContain(order.status);
    }
    for (const item of itsItems.filter(({ status }) => ITEM_ENDS.includes(status))) {
      expect([item.due_at, item.leased_until, item.deadline_at]).toEqual([null, null, null]);
    }
  }
  // What is free is what no order holds; nothing is counted twice and nothing is lost.
  const free = esims.filter((esim) => esim.order_id === null).length;
  const reserved = orders
    .filter((order) => order.reserved && !["fulfilled", "failed", "cancelled"].includes(order.status))
    .flatMap((order) => lines.filter((line) => line.order_id === order.id && line.delivery_method === "stock"))
    .reduce((sum, line) => sum + (line.status === "pending" ? line.quantity - line.assigned : 0), 0);
  expect(pools.find((pool) => pool.product_id === world.products.STOCK)?.available).toBe(free - reserved);
}

const LEDGER = "after any sequence of acts the ledger balances, and refunds are what was asked and not delivered";

property(LEDGER, onPostgres ? { few: 2, many: 6 } : { few: 6, many: 25 }, async (numRuns) => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 40 }), async (steps) => {
      const world = await newWorld();
      for (const step of steps) await perform(world, step);
      await assertSound(world);
      await world.platform.fulfill();
      await world.supply(["refused"]);
      await assertSound(world);
    }),
    { numRuns, interruptAfterTimeLimit: 20_000, markInterruptAsFailure: false },
  );
});

let shared: Promise<{ platform: Platform; supply: World["supply"] }> | null = null;
let worlds = 0;
let supplied = 0;

/** A platform with its suppliers behind real HTTP, as the daemon has them; it ends with the test. */
async function startShared() {
  onTestFinished(() => {
    shared = null;
  });
  const platform = await startPlatform();
  const { store, clock } = platform;
  let responses: (typeof RESPONSES)[number][] = [];
  let asked = 0;
  const supplier = await httpSupplier(({ body }) => {
    const outcome = responses[asked++ % responses.length];
    if (outcome === "fault") return { status: 503, body: {} };
    if (outcome === "refused") return { body: { outcome, error_type: "declined", error_message: "no" } };
    const count = outcome === "activated" && body.kind === "supplier_api" ? Number(body.quantity) : 0;
    return { body: { outcome, ...(count > 0 ? { esims: Array.from({ length: count }, newEsim) } : {}) } };
  });
  for (const name of ["kestrel", "northwind"]) {
    const settings = { adapter: "http" as const, url: supplier.url, secret: "a secret of at least sixteen" };
    await store.write(setSupplier, { name, settings, actor });
  }
  const exchange = createSignedExchange(clock.now);
  onTestFinished(() => exchange.close());
  const gateway = createSupplierGateway({ exchange, mailer: createMailer(undefined), publicUrl: "http://esim.test" });
  const log = { error: (...words: unknown[]) => console.error(...words), warn() {}, info() {} };
  return {
    platform,
    supply(now: (typeof RESPONSES)[number][]) {
      [responses, asked] = [now, 0];
      return supplyDue({ store, gateway, log });
    },
  };
}

function newEsim() {
  const digits = `894477${String(++supplied).padStart(12, "0")}`;
  return { iccid: digits + luhnDigit(digits), activation_code: `LPA:1$smdp.example.net$S-${supplied}` };
}

/** A partner and products of their own; the platform is shared by all runs of a test. */
async function newWorld(): Promise<World> {
  shared ??= startShared();
  const { platform, supply } = await shared;
  const { id: partnerId } = await platform.store.write(createPartner, {
    slug: `world-${++worlds}`,
    name: "World",
    production: true,
    actor,
  });
  const products = await addProducts(platform.store, [
    { sku: "STOCK", price_cents: 110 },
    { sku: "SHIP", price_cents: 730, product_type: "physical_sim", delivery_method: "shipping" },
    ...suppliedProducts,
  ]);
  await platform.fund(partnerId, 8_000);
  return { platform, partnerId, products, orders: [], supply };
}
