import { expect, onTestFinished, test } from "vitest";
import { attemptsOfActivation } from "../src/core/activations/reveal.ts";
import { queueDepths } from "../src/core/insight/queues.ts";
import { claimOrders, fulfillLeased, postponeOrder, waitingOrders } from "../src/core/orders/due.ts";
import { MAX_INSTANT_UNITS } from "../src/core/orders/reserve.ts";
import type { Store, Tx } from "../src/core/store/store.ts";
import { applySupplyOutcome } from "../src/core/supplier-requests/apply-outcome.ts";
import { createCarrierGateway } from "../src/daemon/gateways/carriers.ts";
import { createWebhookSender } from "../src/daemon/gateways/webhook-sender.ts";
import { createExchanges, prepareExchanges } from "../src/daemon/workers/activations.ts";
import { createDeliveries } from "../src/daemon/workers/deliveries.ts";
import { createFulfillment } from "../src/daemon/workers/fulfillment.ts";
import { kinds } from "./support/activations.ts";
import { MINUTE, useHttpCarrier, withHttpCarrier } from "./support/carrier.ts";
import { addProducts, addStock, suppliedProducts } from "./support/catalog.ts";
import { type Caller, type Platform, startPlatform } from "./support/platform.ts";
import { settled } from "./support/pool.ts";
import { startReceiver } from "./support/receiver.ts";
import { heldSupplier, placeOrder, suppliedEsim, supplyWorker, useHttpSupplier } from "./support/supplies.ts";
import { suspendedAfterClaim } from "./support/suspended.ts";
import { startWebhookPlatform } from "./support/webhooks.ts";

/** Units of an order that a worker fulfills. */
const WORKED = MAX_INSTANT_UNITS + 1;
const log = { error: (...words: unknown[]) => console.error(...words), warn() {}, info() {} };
const silent = { error: () => undefined };
const { signal } = new AbortController();

async function withSupplier() {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [...suppliedProducts, { sku: "EU5", price_cents: 100 }]);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 100_000);
  const supplier = await heldSupplier();
  await useHttpSupplier(platform.store, "northwind", supplier.url);
  return { platform, products, caller, supplier };
}

/** The same store, but the answer to the first commit of `command` never arrives. */
function losingAnswer(store: Store, command: unknown): Store {
  let lost = false;
  return {
    ...store,
    async write(run, input, requestId) {
      const result = await store.write(run, input, requestId);
      if (lost || !Object.is(run, command)) return result;
      lost = true;
      throw new Error("the connection broke before the answer to COMMIT");
    },
  };
}

const statusOf = async (caller: Caller, id: string) => (await caller.get(`/api/v1/orders/${id}`)).body.status;

async function waiting({ store }: Platform, queue: string) {
  return (await store.read(queueDepths, null)).find((one) => one.queue === queue)?.waiting;
}

test("a delivered item is never sent again, also when the response to its commit was lost", async () => {
  const { platform, products, caller, supplier } = await withSupplier();
  supplier.answers({ outcome: "activated", esims: [suppliedEsim(1)] });
  const id = await placeOrder(caller, products.API);
  const worker = supplyWorker(losingAnswer(platform.store, applySupplyOutcome), platform.clock.now);
  await platform.fulfill();
  for (let minutes = 0; minutes < 60; minutes += 2) {
    await settled(worker);
    platform.clock.advance(2 * MINUTE);
  }
  expect(supplier.asked).toHaveLength(1);
  expect(await waiting(platform, "items_due")).toBe(0);
  const fresh = await platform.credential("partner-1", { live: true });
  expect(await statusOf(fresh, id)).toBe("fulfilled");
});

test("a fulfilled order is never processed again, also when the response to its commit was lost", async () => {
  const { platform, products, caller } = await withSupplier();
  await addStock(platform.store, "EU5", WORKED);
  const id = await placeOrder(caller, products.EU5, WORKED);
  const store = losingAnswer(platform.store, fulfillLeased);
  await settled(createFulfillment({ store, log: silent }));
  expect(await statusOf(caller, id)).toBe("fulfilled");
  platform.clock.advance(MINUTE);
  expect(await waiting(platform, "orders_due")).toBe(0);
  expect(await platform.store.read(waitingOrders, null)).toEqual({ due: [], waitMs: null });
});

test.each(["orders", "orderItems", "activations"] as const)(
  "the database refuses finished rows of %s that are due",
  async (name) => {
    const { store, due, work, carrier } = await withHttpCarrier();
    carrier.answers({ body: { outcome: "refused" } });
    await due();
    await work();
    const platform = await startPlatform();
    const products = await addProducts(platform.store, suppliedProducts);
    const caller = await platform.caller({ live: true });
    await platform.fund(caller.partnerId, 10_000);
    const supplier = await heldSupplier();
    supplier.answers({ outcome: "refused", error_type: "withdrawn", error_message: "No longer sold" });
    await useHttpSupplier(platform.store, "northwind", supplier.url);
    await placeOrder(caller, products.API);
    await settled(supplyWorker(platform.store, platform.clock.now));
    // The order, its item and the activation have failed.
    const makeDue = async (tx: Tx) => void (await tx.db.update(tx.t[name]).set({ due_at: tx.now }));
    const lease = async (tx: Tx) => void (await tx.db.update(tx.t[name]).set({ leased_until: tx.now }));
    const database = name === "activations" ? store : platform.store;
    await expect(database.write(makeDue, null)).rejects.toThrow();
    await expect(database.write(lease, null)).rejects.toThrow();
  },
);

test("a supplier's worker that lost its lease counts no fault against an item that another worker sent", async () => {
  const { platform, products, caller, supplier } = await withSupplier();
  const id = await placeOrder(caller, products.API);
  const late = supplyWorker(platform.store, platform.clock.now);
  const other = supplyWorker(await platform.again(), platform.clock.now);
  await platform.fulfill();
  await late.step(signal);
  await supplier.got(1);
  platform.clock.advance(2 * MINUTE);
  await other.step(signal);
  await supplier.got(2);
  supplier.asked[1]?.answer({ outcome: "accepted" });
  await other.idle();
  supplier.asked[0]?.answer({}, 503);
  await late.idle();
  for (let hours = 0; hours < 40; hours++) {
    platform.clock.advance(60 * MINUTE);
    await settled(other);
  }
  expect(supplier.asked).toHaveLength(2);
  const fresh = await platform.credential("partner-1", { live: true });
  expect(await statusOf(fresh, id)).toBe("paid");
});

test("no acceptance, fault or result of a late holder changes an item under its new holder", async () => {
  const { platform, products, caller, supplier } = await withSupplier();
  const answers: [object, number][] = [
    [{ outcome: "accepted" }, 200],
    [{}, 503],
    [{ outcome: "refused", error_type: "no", error_message: "No" }, 422],
    [{ outcome: "activated", esims: [suppliedEsim(10)] }, 200],
  ];
  for (const [at, [body, status]] of answers.entries()) {
    const id = await placeOrder(caller, products.API);
    const late = supplyWorker(platform.store, platform.clock.now);
    const other = supplyWorker(await platform.again(), platform.clock.now);
    await platform.fulfill();
    await late.step(signal);
    await supplier.got(2 * at + 1);
    platform.clock.advance(2 * MINUTE);
    await other.step(signal);
    await supplier.got(2 * at + 2);
    supplier.asked[2 * at]?.answer(body, status);
    await late.idle();
    const fresh = await platform.credential("partner-1", { live: true });
    const { body: between } = await fresh.get(`/api/v1/orders/${id}`);
    expect([between.status, between.line_items[0].fulfillment.status]).toEqual(["paid", "pending"]);
    supplier.asked[2 * at + 1]?.answer({ outcome: "activated", esims: [suppliedEsim(20 + at)] });
    await other.idle();
    expect(await statusOf(fresh, id)).toBe("fulfilled");
    // What the late holder got is on record for support.
    const attempts = await platform.store.read(async (q) => q.db.select().from(q.t.itemAttempts), null);
    expect(attempts).toHaveLength(2 * at + 2);
  }
});

test("a failed exchange does not reset an item that the supplier accepted by callback", async () => {
  const { platform, products, caller, supplier } = await withSupplier();
  const id = await placeOrder(caller, products.API);
  const worker = supplyWorker(platform.store, platform.clock.now);
  await worker.step(signal);
  await supplier.got(1);
  const [item] = await platform.store.read(async (q) => q.db.select().from(q.t.orderItems), null);
  if (item === undefined) throw new Error("no item");
  const attempt = { source: "callback" } as const;
  await platform.store.write(applySupplyOutcome, { id: item.id, outcome: { kind: "accepted" }, attempt });
  supplier.asked[0]?.answer({}, 503);
  await worker.idle();
  platform.clock.advance(60 * MINUTE);
  expect(await settled(worker)).toBe(0);
  expect(await statusOf(await platform.credential("partner-1", { live: true }), id)).toBe("paid");
});

test("a late holder of an order writes nothing, neither a step nor a delay", async () => {
  const { platform, products, caller } = await withSupplier();
  await addStock(platform.store, "EU5", WORKED);
  const id = await placeOrder(caller, products.EU5, WORKED);
  const [queue] = (await platform.store.read(waitingOrders, null)).due;
  if (queue === undefined) throw new Error("nothing is due");
  const claim = async (store: Store) => {
    const [lease] = await store.write(claimOrders, { ...queue, room: 5 });
    if (lease === undefined) throw new Error("nothing was claimed");
    return lease;
  };
  const late = await claim(platform.store);
  platform.clock.advance(MINUTE);
  const held = await claim(await platform.again());
  expect(held.no).toBeGreaterThan(late.no);
  expect(await platform.store.write(fulfillLeased, late)).toBe("lost");
  expect(await statusOf(caller, id)).toBe("paid");
  await platform.store.write(postponeOrder, { lease: late, delayMs: 1 });
  expect(await platform.store.write(fulfillLeased, held)).toBe("done");
  expect(await statusOf(caller, id)).toBe("fulfilled");
});

test("two claims in the same millisecond have different tokens", async () => {
  const { platform, products, caller } = await withSupplier();
  await addStock(platform.store, "EU5", WORKED);
  await placeOrder(caller, products.EU5, WORKED);
  const [queue] = (await platform.store.read(waitingOrders, null)).due;
  if (queue === undefined) throw new Error("nothing is due");
  const [first] = await platform.store.write(claimOrders, { ...queue, room: 1 });
  if (first === undefined) throw new Error("nothing was claimed");
  await platform.store.write(postponeOrder, { lease: first, delayMs: 0 });
  const [second] = await platform.store.write(claimOrders, { ...queue, room: 1 });
  expect(second?.no).toBe(first.no + 1);
  expect(await platform.store.write(fulfillLeased, first)).toBe("lost");
});

test("a carrier's worker that lost its lease changes nothing; its response stays on record", async () => {
  const started = await withHttpCarrier();
  const { carrier, due, clock, store, again, show, partner, events } = started;
  await useHttpCarrier(store, carrier.url, { timeout_ms: 30_000 });
  const held: ((body: object, status?: number) => void)[] = [];
  const arrivals: (() => void)[] = [];
  carrier.answers((response) => {
    held.push(
      (body, status = 200) =>
        void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body)),
    );
    arrivals.shift()?.();
  });
  const asked = () => new Promise<void>((resolve) => void arrivals.push(resolve));
  const workerOn = (on: Store) => {
    const gateway = createCarrierGateway({ now: clock.now, publicUrl: started.url });
    onTestFinished(() => gateway.close());
    return createExchanges({ store: on, gateway, log });
  };
  const workers = [workerOn(store), workerOn(await again()), workerOn(await again())];
  const id = await due();
  await prepareExchanges(store, signal);
  // Each takes over from the previous one.
  for (const worker of workers) {
    const next = asked();
    await worker.step(signal);
    await next;
    clock.advance(MINUTE);
  }
  const [first, second, holder] = workers;
  held[0]?.({}, 503);
  await first?.idle();
  held[1]?.({ outcome: "refused", error_type: "no" });
  await second?.idle();
  expect(await show(partner, id)).toMatchObject({ status: "processing", processing_status: "processing" });
  held[2]?.({ outcome: "activated", mobile_number: "+61491570156" });
  await holder?.idle();
  expect(await show(partner, id)).toMatchObject({ status: "completed", mobile_number: "+61491570156" });
  expect(kinds(await events(id))).toEqual(["activation.submitted", "activation.activated"]);
  const outcomes = (await store.read(attemptsOfActivation, id)).map((attempt) => attempt.outcome);
  expect(outcomes.sort()).toEqual(["activated", "refused", "temporary"]);
});

test("a webhook attempt beyond its lease is recorded and changes nothing", async () => {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller();
  const held: ((status: number) => void)[] = [];
  const receiver = await startReceiver((_, response) => {
    held.push((status) => void response.writeHead(status).end());
  });
  const { id } = await platform.endpoint(caller, receiver.url);
  const workerOn = (store: Store) => {
    const sender = createWebhookSender({ allowPrivate: true, limitMs: 60_000 });
    onTestFinished(() => sender.close());
    return createDeliveries({ store, clock: platform.clock, sender, publicUrl: "http://esim.test", log });
  };
  const [late, other] = [workerOn(platform.store), workerOn(await platform.again())];
  await platform.trigger(caller);
  await late.step(signal);
  await receiver.got(1);
  platform.clock.advance(30_000);
  await other.step(signal);
  await receiver.got(2);
  held[0]?.(410);
  await late.idle();
  expect(await platform.deliveries()).toMatchObject([{ status: "pending", attempts: [{ status_code: 410 }] }]);
  held[1]?.(200);
  await other.idle();
  expect(await platform.deliveries()).toMatchObject([{ status: "delivered" }]);
  expect((await caller.get(`/api/v1/webhooks/${id}`)).body).toMatchObject({ status: "active" });
  platform.clock.advance(60_000);
  expect(await settled(other)).toBe(0);
});

test("a supplier's worker that wakes after its lease sends nothing", async () => {
  const { platform, products, caller, supplier } = await withSupplier();
  const id = await placeOrder(caller, products.API);
  const { store, claimed, resume } = suspendedAfterClaim(platform.store);
  const late = supplyWorker(store, platform.clock.now);
  const other = supplyWorker(await platform.again(), platform.clock.now);
  await platform.fulfill();
  const stepping = late.step(signal);
  await claimed;
  platform.clock.advance(2 * MINUTE);
  await other.step(signal);
  await supplier.got(1);
  resume();
  await stepping;
  await late.idle();
  expect(supplier.asked).toHaveLength(1);
  supplier.asked[0]?.answer({ outcome: "activated", esims: [suppliedEsim(1)] });
  await other.idle();
  expect(await statusOf(await platform.credential("partner-1", { live: true }), id)).toBe("fulfilled");
  expect(await platform.store.read(async (q) => q.db.select().from(q.t.itemAttempts), null)).toHaveLength(1);
});

test("a carrier's worker that wakes after its lease sends nothing", async () => {
  const { carrier, due, clock, store, work, show, partner } = await withHttpCarrier();
  const id = await due();
  await prepareExchanges(store, signal);
  const suspended = suspendedAfterClaim(store);
  const gateway = createCarrierGateway({ now: clock.now, publicUrl: carrier.url });
  onTestFinished(() => gateway.close());
  const late = createExchanges({ store: suspended.store, gateway, log });
  const stepping = late.step(signal);
  await suspended.claimed;
  clock.advance(MINUTE);
  carrier.answers({ body: { outcome: "activated", mobile_number: "+61491570156" } });
  await work();
  suspended.resume();
  await stepping;
  await late.idle();
  expect(await store.read(attemptsOfActivation, id)).toHaveLength(1);
  expect(await show(partner, id)).toMatchObject({ status: "completed" });
});

test("a webhook worker that wakes after its lease sends nothing", async () => {
  const platform = await startWebhookPlatform();
  const caller = await platform.caller();
  const receiver = await startReceiver();
  await platform.endpoint(caller, receiver.url);
  const suspended = suspendedAfterClaim(platform.store);
  const sender = createWebhookSender({ allowPrivate: true, limitMs: 60_000 });
  onTestFinished(() => sender.close());
  const made = { clock: platform.clock, sender, publicUrl: "http://esim.test", log };
  const late = createDeliveries({ ...made, store: suspended.store });
  await platform.trigger(caller);
  const stepping = late.step(signal);
  await suspended.claimed;
  platform.clock.advance(30_000);
  await platform.deliver();
  suspended.resume();
  await stepping;
  await late.idle();
  expect(receiver.received).toHaveLength(1);
  expect(await platform.deliveries()).toMatchObject([{ status: "delivered", attempts: [{ status_code: 200 }] }]);
});
