import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { availableStock } from "../src/core/esims/stock.ts";
import type { ProductId } from "../src/core/kernel/brand.ts";
import { systemClock } from "../src/core/kernel/clock.ts";
import { randomIds } from "../src/core/kernel/ids.ts";
import { createOrder, type NewOrder } from "../src/core/orders/create.ts";
import { recordEvent } from "../src/core/outbox/record.ts";
import { readSetting, writeSettings } from "../src/core/platform/settings.ts";
import { type Location, openStore } from "../src/core/store/open/open.ts";
import { insert } from "../src/core/store/rows.ts";
import { laneKinds, slotOf } from "../src/core/store/schema/lanes.ts";
import type { TableName } from "../src/core/store/schema/tables.ts";
import type { Command, Read, Tx } from "../src/core/store/store.ts";
import { createWebhook } from "../src/core/webhooks/create.ts";
import { dueEndpoints, recordAndClaim } from "../src/core/webhooks/due.ts";
import type { Outcome } from "../src/core/webhooks/outcome.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { lanedNames, runLaned } from "./support/laned.ts";
import { addOrderer, addOrderersOfSlots, orderOf } from "./support/lanes.ts";
import { onPostgres, openTestStore } from "./support/store.ts";

const owned = (partnerId: NewOrder["partnerId"]) => ({ partnerId, environment: "production" as const });

/** Tables that commands of any kind write. */
const writtenBeside = Object.values(laneKinds).flatMap(({ own, added, locked }): TableName[] => [
  ...own,
  ...added,
  ...locked,
]);

/** Tables whose rows others write too, and a statement locks that reads or chooses them. */
const lockedByReading: readonly TableName[] = ["webhookEndpoints", "esims"];

const without = (tables: Iterable<TableName>, others: readonly TableName[]) =>
  [...tables].filter((table) => !others.includes(table));

describe("what a command with a lane touches", () => {
  test("every command that declares a lane is run", () => {
    const core = join(import.meta.dirname, "..", "src", "core");
    const files = readdirSync(core, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
    const declared = files.flatMap((file) => [...readFileSync(join(core, file), "utf8").matchAll(/^(\w+)\.lane = /gm)]);
    expect(declared.map(([, name]) => name).sort()).toEqual([...lanedNames].sort());
  });

  test("is what its kind of lane lists, all of it, and nothing else that lanes write", async () => {
    const { store } = await openTestStore(systemClock);
    const runs = await runLaned(store);
    for (const { name, kind, touched } of runs) {
      const { read, written, changed, locked: waitedFor } = touched;
      const { own, added, locked, seen } = laneKinds[kind];
      const writes: TableName[] = [...own, ...added, ...locked];
      expect([name, kind, without(written, writes)]).toEqual([name, kind, []]);
      const others = without(read, [...writes, ...seen]).filter((table) => writtenBeside.includes(table));
      expect([name, kind, others]).toEqual([name, kind, []]);
      const changedByOthers = added.filter((table) => changed.has(table));
      expect([name, kind, changedByOthers]).toEqual([name, kind, []]);
      const unlocked = lockedByReading.filter((table) => changed.has(table) && !waitedFor.has(table));
      expect([name, kind, onPostgres ? unlocked : []]).toEqual([name, kind, []]);
    }
    expect([...new Set(runs.map(({ name }) => name))].sort()).toEqual([...lanedNames].sort());
    // No list has what no statement touches.
    for (const [kind, { own, added, locked, seen }] of Object.entries(laneKinds)) {
      const ofKind = runs.filter((run) => run.kind === kind).map(({ touched }) => touched);
      const written = new Set(ofKind.flatMap((touched) => [...touched.written]));
      const read = new Set(ofKind.flatMap((touched) => [...touched.read]));
      expect([kind, without([...own, ...added, ...locked], [...written])]).toEqual([kind, []]);
      expect([kind, without(seen, [...read])]).toEqual([kind, []]);
    }
  });

  test("is of one kind alone where it is no other lane's", () => {
    const { orders, sandboxOrders, ...rest } = laneKinds;
    // Rows of the first two differ by environment.
    const owned = [[...orders.own, ...sandboxOrders.own], ...Object.values(rest).map(({ own }) => [...own])];
    const all = owned.flatMap((tables): TableName[] => [...new Set<TableName>(tables)]);
    expect(all.filter((table, at) => all.indexOf(table) !== at)).toEqual([]);
  });
});

/** A command of the lane of a partner's orders that runs `work`. */
function inLane<O>(partnerId: string, work: (tx: Tx) => Promise<O>): Command<null, O> {
  return Object.assign((tx: Tx) => work(tx), { lane: () => ({ kind: "orders" as const, key: partnerId }) });
}

/** Writes that wait for others, on any node. */
const WAITING = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/** Writes that wait until another one has ended, since it has locked their rows. */
const WAITING_FOR_ROWS = `SELECT FROM pg_stat_activity WHERE wait_event = 'transactionid'
  AND datname = current_database()`;

async function session(location: Location): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: "url" in location ? location.url : "" });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

describe.runIf(onPostgres)("writes of several lanes on PostgreSQL", () => {
  test("writes of two lanes are under way at once, and a write without a lane beside neither", async () => {
    const { store, again, location } = await openTestStore(systemClock);
    const other = await again();
    const [a, b] = await addOrderersOfSlots(store, 2, 1_000);
    const [inA, inB, over] = [
      Promise.withResolvers<void>(),
      Promise.withResolvers<void>(),
      Promise.withResolvers<void>(),
    ];
    const ran: string[] = [];
    const meet = (partnerId = "", mine = inA, theirs = inB) =>
      inLane(partnerId, async () => {
        mine.resolve();
        await theirs.promise;
        await over.promise;
        ran.push("lane");
      });
    const first = store.write(meet(a?.partnerId, inA, inB), null);
    // On another node.
    const second = other.write(meet(b?.partnerId, inB, inA), null);
    await Promise.all([inA.promise, inB.promise]);
    const alone = store.write(async () => void ran.push("alone"), null);
    const same = other.write(
      inLane(a?.partnerId ?? "", async () => void ran.push("same")),
      null,
    );
    const watching = await session(location);
    await expect.poll(async () => (await watching.query(WAITING)).rowCount).toBe(2);
    over.resolve();
    await Promise.all([first, second, alone, same]);
    expect(ran.slice(0, 2)).toEqual(["lane", "lane"]);
    expect(ran.slice(2).sort()).toEqual(["alone", "same"]);
  });

  test("a write that loses a race for a unique value is repeated alone, and wins or fails by itself", async () => {
    const { store, again } = await openTestStore(systemClock);
    const other = await again();
    const [a, b] = await addOrderersOfSlots(store, 2, 1_000);
    const bothLooked = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    const runs: string[] = [];
    // Takes the next free name, as order numbers are taken.
    const take = (partnerId: string, own: 0 | 1) =>
      inLane(partnerId, async (tx) => {
        runs.push(partnerId);
        const taken = (await tx.db.select().from(tx.t.settings)).filter(({ key }) => key.startsWith("name")).length;
        bothLooked[own].resolve();
        await bothLooked[own === 0 ? 1 : 0].promise;
        await insert(tx, "settings", [{ key: `name ${taken}`, value: partnerId }]);
      });
    const [mine, theirs] = [a?.partnerId ?? "", b?.partnerId ?? ""];
    await Promise.all([store.write(take(mine, 0), null), other.write(take(theirs, 1), null)]);
    expect(runs).toHaveLength(3);
    const names = await store.read((q: Read) => q.db.select().from(q.t.settings), null);
    expect(
      names
        .filter(({ key }) => key.startsWith("name"))
        .map(({ key }) => key)
        .sort(),
    ).toEqual(["name 0", "name 1"]);
    const clash = inLane(mine, (tx) => insert(tx, "settings", [{ key: "name 0", value: "" }]));
    await expect(store.write(clash, null)).rejects.toThrow(/duplicate key|Failed query/);
  });

  test("a closed store refuses writes of slots that had none so far", async () => {
    const { again } = await openTestStore(systemClock);
    const closing = await again();
    await closing.close();
    const late = closing.write(
      inLane("a partner without writes", async () => "written"),
      null,
    );
    await expect(late).rejects.toMatchObject({ reason: "closed" });
  });

  test("a write whose rows are inserted at the end of its batch fails alone", async () => {
    const { store } = await openTestStore(systemClock);
    const [one] = await addOrderersOfSlots(store, 1, 1_000);
    const put = Object.assign((tx: Tx, key: string) => insert(tx, "settings", [{ key, value: "" }]), {
      lane: () => ({ kind: "orders" as const, key: one?.partnerId ?? "" }),
      prefetch: [],
    });
    const names = ["name a", "name b", "name a", "name c"];
    const ended = await Promise.allSettled(names.map((name) => store.write(put, name)));
    expect(ended.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
    const rows = await store.read((q: Read) => q.db.select().from(q.t.settings), null);
    expect(rows.filter(({ key }) => key.startsWith("name")).map(({ key }) => key)).toHaveLength(3);
  });

  test.each([
    ["reads what it changed", true],
    ["changes it ahead of its answer", false],
  ])("writes are all answered that follow some that wait for another's rows, and %s", async (_, isRead) => {
    const { store, location } = await openTestStore(systemClock);
    const [one] = await addOrderersOfSlots(store, 1, 1_000);
    const ran: string[] = [];
    const change = async (tx: Tx, name: string) => {
      ran.push(name);
      if (!name.startsWith("held")) return insert(tx, "settings", [{ key: `name ${name}`, value: "" }]);
      const held = tx.db.update(tx.t.settings).set({ value: "had" }).where(eq(tx.t.settings.key, name));
      await (isRead ? held.returning() : held);
    };
    /** Holds a row; what it answers lets go of it once a write waits for it at the start of a batch, where it may. */
    const hold = async (key: string) => {
      await store.write((tx: Tx) => insert(tx, "settings", [{ key, value: "" }]), null);
      const holder = await session(location);
      await holder.query(`BEGIN; SELECT FROM settings WHERE key = '${key}' FOR UPDATE`);
      return async () => {
        await expect.poll(() => ran.slice(-2)).toEqual([key, key]);
        await holder.query("COMMIT");
      };
    };
    const [letGo, letGoToo] = [await hold("held"), await hold("held too")];
    // All of them are taken before the first is run.
    const together = Object.assign(change, {
      lane: () => ({ kind: "orders" as const, key: one?.partnerId ?? "" }),
      prefetch: [],
    });
    const names = ["is first", "held", "held too", "follows", "is last"];
    const ended = Promise.allSettled(names.map((name) => store.write(together, name)));
    await letGo();
    await letGoToo();
    expect((await ended).map(({ status }) => status)).toEqual(names.map(() => "fulfilled"));
    expect(ran.slice(-3)).toEqual(["held too", "follows", "is last"]);
  });

  test("orders of several lanes and nodes get all of the stock and no more", async () => {
    const { store, again } = await openTestStore(systemClock);
    const nodes = [store, await again()];
    const orderers = await addOrderersOfSlots(store, 4, 1_000_000);
    const { EU = "" } = await addProducts(store, [{ sku: "EU", price_cents: 1 }]);
    await addStock(store, "EU", 50);
    const orders = Array.from({ length: 80 }, (_, at) => {
      const one = orderers[at % 4];
      if (one === undefined) throw new Error("no orderer");
      return nodes[at % 2]?.write(createOrder, orderOf(one, EU), undefined, owned(one.partnerId));
    });
    await Promise.all(orders);
    const placed = await store.read((q: Read) => q.db.select().from(q.t.orders), null);
    expect(placed).toHaveLength(80);
    expect(placed.filter(({ status }) => status === "fulfilled")).toHaveLength(50);
    const sold = await store.read((q: Read) => q.db.select().from(q.t.esims), null);
    expect(new Set(sold.map(({ order_id }) => order_id)).size).toBe(50);
    expect(sold.every(({ order_id }) => order_id !== null)).toBe(true);
    expect(await store.read(availableStock, EU as ProductId)).toBe(0);
  });

  test("orders that take the stock of two products in either order do not stop each other", async () => {
    const { store, again } = await openTestStore(systemClock);
    const nodes = [store, await again()];
    const orderers = await addOrderersOfSlots(store, 4, 1_000_000);
    const ids = await addProducts(store, [
      { sku: "EU", price_cents: 1 },
      { sku: "US", price_cents: 1 },
    ]);
    for (const sku of ["EU", "US"]) await addStock(store, sku, 130);
    // In one batch of a slot each locks one product, and then wants the other.
    const orders = Array.from({ length: 120 }, (_, at) => {
      const one = orderers[at % 4];
      if (one === undefined) throw new Error("no orderer");
      const [sku, next] = (at + Math.floor(at / 4)) % 2 === 0 ? ["EU", "US"] : ["US", "EU"];
      const lines = [sku, next].map((each) => ({ product_id: ids[each ?? ""] ?? "", quantity: 1 }));
      const input = at % 3 === 0 ? { ...orderOf(one), lines } : orderOf(one, ids[sku ?? ""]);
      return nodes[at % 2]?.write(createOrder, input, undefined, owned(one.partnerId));
    });
    await Promise.all(orders);
    const left = await store.read((q: Read) => q.db.select().from(q.t.stockPools), null);
    const sold = await store.read((q: Read) => q.db.select().from(q.t.esims), null);
    const of = (id: string | undefined) =>
      sold.filter((esim) => esim.product_id === id && esim.order_id !== null).length;
    for (const sku of ["EU", "US"]) {
      const pool = left.find(({ product_id }) => product_id === (ids[sku] as ProductId));
      expect(pool?.available).toBe(130 - of(ids[sku]));
    }
    // 40 orders of two lines.
    expect(of(ids.EU) + of(ids.US)).toBe(160);
  });

  test("an event that is recorded amid a turn of the worker is not overlooked", async () => {
    const { store, again, location } = await openTestStore(systemClock);
    const { partnerId } = await addOrderer(store, "buyer", 1_000);
    const hook = { url: "https://hooks.example.net/", events: ["*" as const], actor: "operator (test)" };
    await store.write(createWebhook, { ...hook, owner: owned(partnerId) });
    const data = { currency: "AUD", balance_cents: 1, threshold_cents: 2 };
    const event = { ...owned(partnerId), subjectId: partnerId, kind: "wallet.low" as const, data };
    const record = (tx: Tx) => recordEvent(tx, event);
    await store.write(inLane(partnerId, record), null);
    const [recorded, turned] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const second = store.write(
      inLane(partnerId, async (tx) => {
        await record(tx);
        recorded.resolve();
        await turned.promise;
      }),
      null,
    );
    await recorded.promise;
    const look = (q: Read) => dueEndpoints(q, { full: new Set(), limit: 1 });
    const rooms = (await store.read(look, null)).due.map(({ id: endpointId }) => ({ endpointId, room: 10 }));
    let ended = false;
    const turn = (await again()).write(recordAndClaim, { outcomes: [], rooms }).finally(() => {
      ended = true;
    });
    const watching = await session(location);
    // It waits for the event, or has overlooked it.
    await expect.poll(async () => ended || (await watching.query(WAITING_FOR_ROWS)).rowCount === 1).toBe(true);
    turned.resolve();
    await Promise.all([second, turn]);
    expect(await turn).toHaveLength(1);
    expect((await store.read(look, null)).due).toHaveLength(1);
  });

  test("a node suspended amid a write of a lane holds up others until its session ends", async () => {
    const { store, location, masterKey } = await openTestStore(systemClock);
    const address = new URL("url" in location ? location.url : "");
    address.searchParams.set("idle_in_transaction_session_timeout", "500");
    const given = { clock: systemClock, ids: randomIds(), masterKey };
    const suspended = await openStore({ url: address.toString() }, given);
    onTestFinished(() => suspended.close());
    const [a, b] = await addOrderersOfSlots(store, 2, 1_000);
    const [begun, awake] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const cutOff = suspended.write(
      inLane(a?.partnerId ?? "", async (tx) => {
        await tx.touch();
        begun.resolve();
        await awake.promise;
      }),
      null,
    );
    cutOff.catch(() => undefined);
    await begun.promise;
    await expect.poll(async () => (await store.ping()).heldMs).toBeGreaterThan(0);
    // Another lane goes on; what must be alone, and what is of its lane, wait.
    await store.write(
      inLane(b?.partnerId ?? "", async () => "other"),
      null,
    );
    await store.write(
      inLane(a?.partnerId ?? "", async () => "same"),
      null,
    );
    await store.write((tx: Tx) => writeSettings(tx, { public_url: "http://alone.test" }), null);
    awake.resolve();
    await expect(cutOff).rejects.toMatchObject({ reason: "unreachable" });
    expect(await store.read(readSetting, "public_url")).toBe("http://alone.test");
  });

  test("a store of few connections writes without lanes", async () => {
    const { location, masterKey } = await openTestStore(systemClock);
    const few = await openStore(location, { clock: systemClock, ids: randomIds(), masterKey, connections: 2 });
    onTestFinished(() => few.close());
    const one = await addOrderer(few, "acme", 1_000);
    const ids = await addProducts(few, [{ sku: "EU", price_cents: 1 }]);
    await Promise.all(Array.from({ length: 20 }, () => few.write(createOrder, orderOf(one, ids.EU))));
  });
});

test("an outcome that may stop its endpoint is recorded alone, and others are not", () => {
  const outcome = { statusCode: 200, attempts: 0 } as Outcome;
  const lane = (...outcomes: Outcome[]) => recordAndClaim.lane({ outcomes, rooms: [] });
  expect(lane(outcome, { ...outcome, statusCode: 503 })).not.toBeNull();
  expect(lane(outcome, { ...outcome, statusCode: 410 })).toBeNull();
  expect(lane(outcome, { ...outcome, statusCode: null, attempts: 5 })).toBeNull();
});

test("lanes of one kind and key have one slot, and kinds share none", () => {
  const sandbox = slotOf({ kind: "sandboxOrders", key: "" });
  const slots = new Set(Array.from({ length: 200 }, () => slotOf({ kind: "orders", key: crypto.randomUUID() })));
  expect(slots.size).toBe(laneKinds.orders.slots);
  expect(slots.has(sandbox)).toBe(false);
});
