import type { ServerResponse } from "node:http";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { waitingOrders } from "../src/core/orders/due.ts";
import type { Store } from "../src/core/store/store.ts";
import { createCarrierGateway } from "../src/daemon/gateways/carriers.ts";
import { createExchanges, prepareExchanges } from "../src/daemon/workers/activations.ts";
import { createFulfillment } from "../src/daemon/workers/fulfillment.ts";
import { createPool, type Pool } from "../src/daemon/workers/pool.ts";
import { type Bounds, countInFlight, type Lane, share } from "../src/daemon/workers/share.ts";
import { startActivationPlatform } from "./support/activations.ts";
import { startCarrier, useHttpCarrier } from "./support/carrier.ts";
import { addProducts, addStock, suppliedProducts } from "./support/catalog.ts";
import { type Platform, startPlatform } from "./support/platform.ts";
import { settled } from "./support/pool.ts";
import { startReceiver } from "./support/receiver.ts";
import { heldSupplier, placeOrder, supplyWorker, useHttpSupplier } from "./support/supplies.ts";
import { startWebhookPlatform } from "./support/webhooks.ts";

const log = { error: (...words: unknown[]) => console.error(...words), warn() {}, info() {} };
const { signal } = new AbortController();

const BOUNDS: Bounds = { overall: 16, production: 14, sandbox: 8, perKey: 12, perLane: 8 };

const lane = (key: string, id = key, more: Partial<Lane> = {}): Lane => ({ key, id, sandbox: false, ...more });

describe("places are shared", () => {
  /** Claims all free places, whenever there are any. */
  function fill(due: Lane[], bounds = BOUNDS) {
    const flight = countInFlight();
    for (let rooms = share(due, flight, bounds); rooms.length > 0; rooms = share(due, flight, bounds)) {
      for (const { lane: one, room } of rooms) for (let count = 0; count < room; count++) flight.enter(one);
    }
    return flight;
  }

  test("evenly among keys, however many lanes each has", () => {
    const many = Array.from({ length: 10 }, (_, at) => lane("a", `a${at}`));
    const flight = fill([...many, lane("b")]);
    expect([flight.key("a"), flight.key("b")]).toEqual([5, 5]);
  });

  test("with a place left for a new key, however often busy keys ask", () => {
    const flight = fill(["a", "b", "c", "d"].map((key) => lane(key)));
    expect(flight.total()).toBeLessThan(BOUNDS.production);
    expect(share([...["a", "b"].map((key) => lane(key)), lane("new")], flight, BOUNDS)).toMatchObject([
      { lane: { key: "new" } },
    ]);
  });

  test("among the lanes of a key too: two slow endpoints leave room for a third", () => {
    const bounds = { ...BOUNDS, perKey: 6 };
    const flight = fill([lane("a", "slow1"), lane("a", "slow2")], bounds);
    expect(share([lane("a", "slow1"), lane("a", "quick")], flight, bounds)).toMatchObject([{ lane: { id: "quick" } }]);
  });

  test("to production first; neither kind takes all places from the other", () => {
    const sandbox = Array.from({ length: 20 }, (_, at) => lane(`s${at}`, `s${at}`, { sandbox: true }));
    const production = Array.from({ length: 20 }, (_, at) => lane(`p${at}`));
    expect(fill(sandbox).kind(true)).toBe(8);
    expect(fill([...sandbox, ...production]).kind(true)).toBe(2);
    expect(share([...sandbox, ...production], fill(sandbox), BOUNDS).every(({ lane }) => !lane.sandbox)).toBe(true);
  });

  test("within every limit, whatever is due", () => {
    const lanes = fc.array(
      fc.record({
        key: fc.constantFrom("a", "b", "c"),
        at: fc.nat(4),
        sandbox: fc.boolean(),
        own: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
      }),
    );
    fc.assert(
      fc.property(lanes, (some) => {
        const due = some.map(({ key, at, sandbox, own }) => {
          const bound = own === undefined ? {} : { perLane: own };
          return lane(`${key}${sandbox}`, `${key}${sandbox}${at}`, { sandbox, ...bound });
        });
        const unique = [...new Map(due.map((one) => [one.id, one])).values()];
        const flight = fill(unique);
        expect(flight.total()).toBeLessThanOrEqual(BOUNDS.overall);
        expect(flight.kind(true)).toBeLessThanOrEqual(BOUNDS.sandbox);
        for (const { id, key, perLane = BOUNDS.perLane } of unique) {
          expect(flight.lane(id)).toBeLessThanOrEqual(perLane);
          expect(flight.key(key)).toBeLessThanOrEqual(BOUNDS.perKey);
        }
        // Nothing waits while nothing is in flight.
        expect(unique.length === 0 || flight.total() > 0).toBe(true);
      }),
    );
  });
});

/** A pool over lists of work by key; each piece lasts until it is ended. */
function madePool(queues: Record<string, string[]>, bounds = BOUNDS) {
  const began: string[] = [];
  const ends = new Map<string, () => void>();
  const released: string[] = [];
  const pool = createPool<Lane, string, never>(
    {
      name: "made",
      bounds,
      due: async () => ({
        lanes: Object.keys(queues).flatMap((key) => (queues[key]?.length ? [lane(key)] : [])),
        waitMs: null,
      }),
      turn: async (rooms) =>
        rooms.flatMap(({ lane: one, room }) =>
          (queues[one.key]?.splice(0, room) ?? []).map((work) => ({ lane: one, work })),
        ),
      work: async (name) => {
        began.push(name);
        await new Promise<void>((resolve) => void ends.set(name, resolve));
        return null;
      },
      release: async (names) => void released.push(...names),
    },
    log,
  );
  return { pool, began, ends, released };
}

describe("a pool", () => {
  test("keys take turns: the one served longest ago is next", async () => {
    const one: Bounds = { overall: 1, production: 1, sandbox: 1, perKey: 2, perLane: 1 };
    const queues = { a: ["a1", "a2"], b: ["b1", "b2"], c: ["c1"] };
    const { pool, began, ends } = madePool(queues, one);
    for (let count = 1; count <= 5; count++) {
      await pool.step(signal);
      expect(began).toHaveLength(count);
      ends.get(began.at(-1) ?? "")?.();
      await pool.idle();
    }
    expect(began).toEqual(["a1", "b1", "c1", "a2", "b2"]);
  });

  test("claims nothing more once stopped, and aborts what does not end in time", async () => {
    const { pool, began, ends, released } = madePool({ a: ["a1", "a2"] });
    await pool.step(signal);
    expect(began).toEqual(["a1", "a2"]);
    ends.get("a1")?.();
    await pool.stop(50);
    expect(released).toEqual(["a2"]);
    expect(await pool.step(signal)).toBe(0);
  });
});

/** The same store, with the commands that it was given to write. */
function watched(store: Store): { store: Store; written: string[] } {
  const written: string[] = [];
  const write: Store["write"] = (command, ...given) => {
    written.push(command.name);
    return store.write(command, ...given);
  };
  return { store: { ...store, write }, written };
}

async function sandboxOrders(platform: Platform, product: string | undefined, count: number) {
  const caller = await platform.caller();
  await Promise.all(Array.from({ length: count }, () => placeOrder(caller, product)));
}

async function buyer(platform: Platform) {
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 100_000);
  return caller;
}

describe("fulfillment", () => {
  test("a partner's backlog in the sandbox does not hide another partner's production order", async () => {
    const platform = await startPlatform();
    const { EU5 } = await addProducts(platform.store, [{ sku: "EU5", price_cents: 100 }]);
    await addStock(platform.store, "EU5", 1);
    await sandboxOrders(platform, EU5, 60);
    const caller = await buyer(platform);
    const id = await placeOrder(caller, EU5);
    const { store, written } = watched(platform.store);
    const pool = createFulfillment({ store, log });
    const once = new AbortController();
    const working = pool.step(once.signal);
    // One claim for each partner, no more.
    once.abort();
    expect(await working).toBeGreaterThan(1);
    await pool.idle();
    expect(written.filter((name) => name === "claimOrders").length).toBeLessThanOrEqual(2);
    expect((await caller.get(`/api/v1/orders/${id}`)).body.status).toBe("fulfilled");
  });

  test("checks with a read: where nothing is due, nothing is written", async () => {
    const platform = await startPlatform();
    const { store, written } = watched(platform.store);
    for (const pool of [createFulfillment({ store, log }), supplyWorker(store, platform.clock.now)]) {
      expect(await pool.step(signal)).toBe(0);
    }
    expect(written).toEqual([]);
  });

  test("releases an order of many steps once stopped, so that it continues at once", async () => {
    const platform = await startPlatform();
    const { EU5 } = await addProducts(platform.store, [{ sku: "EU5", price_cents: 1 }]);
    const caller = await platform.caller({ live: true });
    await platform.fund(caller.partnerId, 10_000);
    await addStock(platform.store, "EU5", 5_000);
    const id = await placeOrder(caller, EU5, 5_000);
    const pool: Pool = createFulfillment({ store: platform.store, log });
    await pool.step(signal);
    await pool.stop(60_000);
    expect((await caller.get(`/api/v1/orders/${id}`)).body.status).toBe("paid");
    expect((await platform.store.read(waitingOrders, null)).due).toHaveLength(1);
    await platform.fulfill();
    expect((await caller.get(`/api/v1/orders/${id}`)).body.status).toBe("fulfilled");
  });
});

describe("suppliers", () => {
  async function withTwo() {
    const platform = await startPlatform();
    const other = { sku: "OTHER", price_cents: 100, supplier: "swift" };
    const { API, OTHER } = await addProducts(platform.store, [
      ...suppliedProducts,
      { ...other, product_type: "esim_qr_api", delivery_method: "supplier_api" },
    ]);
    const caller = await buyer(platform);
    const [hanging, quick] = [await heldSupplier(), await heldSupplier()];
    quick.answers({ outcome: "accepted" });
    await useHttpSupplier(platform.store, "northwind", hanging.url);
    await useHttpSupplier(platform.store, "swift", quick.url);
    return { platform, API, OTHER, caller, hanging, quick };
  }

  test("40 items of a supplier that hangs do not delay another supplier's", async () => {
    const { platform, API, OTHER, caller, hanging, quick } = await withTwo();
    for (let count = 0; count < 40; count++) await placeOrder(caller, API);
    const pool = supplyWorker(platform.store, platform.clock.now);
    await pool.step(signal);
    await hanging.got(16);
    await placeOrder(caller, OTHER);
    await pool.step(signal);
    await quick.got(1);
    expect(hanging.asked).toHaveLength(16);
    for (let at = 0; at < 40; at++) {
      await hanging.got(at + 1);
      hanging.asked[at]?.answer({ outcome: "accepted" });
      if (at % 16 === 15) await settledSome(pool);
    }
    await settled(pool);
  });

  /** What ended is followed by what waits. */
  async function settledSome(pool: Pool): Promise<void> {
    await pool.idle();
    await pool.step(signal);
  }

  test("items aborted by a stop are claimed again at once; their fault does not count", async () => {
    const { platform, API, caller, hanging } = await withTwo();
    await placeOrder(caller, API);
    const stopped = supplyWorker(platform.store, platform.clock.now);
    await stopped.step(signal);
    await hanging.got(1);
    await stopped.stop(10);
    hanging.asked[0]?.answer({}, 503);
    await stopped.idle();
    const next = supplyWorker(await platform.again(), platform.clock.now);
    await next.step(signal);
    await hanging.got(2);
    hanging.asked[1]?.answer({ outcome: "accepted" });
    await next.idle();
    const items = await platform.store.read(async (q) => q.db.select().from(q.t.orderItems), null);
    expect(items).toMatchObject([{ status: "submitted", attempts: 0 }]);
  });
});

describe("activations", () => {
  test("40 requests of the sandbox with a carrier that hangs leave a place for one of production", async () => {
    const platform = await startActivationPlatform();
    const { store, clock } = platform;
    const carrier = await startCarrier();
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    const held: ServerResponse[] = [];
    carrier.answers((response, { reference }) => {
      held.push(response);
      if (reference === wanted) resolve();
    });
    await useHttpCarrier(store, carrier.url);
    const today = { activation_date: "2026-03-02" };
    const sandbox = await platform.caller();
    for (let count = 0; count < 40; count++) await platform.submit(sandbox, today);
    clock.advance(1_000);
    const wanted = await platform.submit(await platform.caller({ live: true }), today);
    clock.advance(10_000);
    await prepareExchanges(store, signal);
    const gateway = createCarrierGateway({ now: clock.now, publicUrl: platform.url });
    onTestFinished(() => gateway.close());
    const pool = createExchanges({ store, gateway, log });
    await pool.step(signal);
    await asked;
    expect(carrier.asked.length).toBeLessThanOrEqual(32);
    for (const response of held) response.destroy();
    await pool.stop(0);
  });
});

describe("deliveries", () => {
  test("a partner with 90 endpoints that do not answer leaves room for other partners", async () => {
    const platform = await startWebhookPlatform();
    const held: ServerResponse[] = [];
    const hanging = await startReceiver((_, response) => void held.push(response));
    const quick = await startReceiver();
    const many = await platform.caller();
    for (let at = 0; at < 90; at++) await platform.endpoint(many, `${hanging.url}/${at}`);
    const other = await platform.caller();
    await platform.endpoint(other, quick.url);
    for (let count = 0; count < 3; count++) await platform.trigger(many);
    // The end of the test closes the store under both.
    platform.deliver().catch(() => undefined);
    await hanging.got(192);
    await platform.trigger(other);
    const pool = platform.deliver();
    await quick.got(1);
    // Three events to 90 endpoints take all places of one partner in the sandbox.
    expect(hanging.received).toHaveLength(192);
    hanging.answers(200);
    for (const response of held) response.writeHead(200).end();
    onTestFinished(() => pool.catch(() => undefined));
  });
});
