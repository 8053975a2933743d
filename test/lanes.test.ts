import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { updateCredential } from "../src/core/credentials/update.ts";
import type { ProductId } from "../src/core/kernel/brand.ts";
import { systemClock } from "../src/core/kernel/clock.ts";
import { randomIds } from "../src/core/kernel/ids.ts";
import { createOrder, type NewOrder } from "../src/core/orders/create.ts";
import { updatePartner } from "../src/core/partners/update.ts";
import { type Location, openStore } from "../src/core/store/engines/open.ts";
import { type LaneKind, laneKinds, slotOf } from "../src/core/store/lanes.ts";
import { insertRow } from "../src/core/store/rows.ts";
import type { TableName } from "../src/core/store/schema/tables.ts";
import { readSetting, writeSettings } from "../src/core/store/settings.ts";
import type { Command, Read, Store, Tx } from "../src/core/store/store.ts";
import { createWebhook } from "../src/core/webhooks/create.ts";
import { addProducts, addStock, suppliedProducts } from "./support/catalog.ts";
import { addOrderer, addOrderersOfSlots, orderOf } from "./support/lanes.ts";
import { onPostgres, openTestStore } from "./support/store.ts";
import { type Touched, trace } from "./support/traced.ts";

const actor = "operator (test)";
const owned = (partnerId: NewOrder["partnerId"]) => ({ partnerId, environment: "production" as const });

const traveller = {
  customer_email: "ada@example.net",
  customer_name: "Ada Byron",
  customer_phone: null,
  activation_date: "2099-01-01",
  timezone: "Australia/Sydney",
  eid_number: null,
  selected_plan_id: null,
};

/** Orders that take every way through `createOrder`, in their order. */
async function everyOrder(store: Store): Promise<NewOrder[]> {
  const buyer = await addOrderer(store, "buyer", 10_000);
  const { partnerId, credential: clientId } = buyer;
  const ids = await addProducts(store, [
    { sku: "EU", price_cents: 100 },
    { sku: "US", price_cents: 100 },
    { sku: "CARD", price_cents: 100, product_type: "physical_sim", delivery_method: "shipping" },
    ...suppliedProducts,
  ]);
  for (const sku of ["EU", "US"]) await addStock(store, sku, 40);
  const thresholds = { lowWallet: { currency: "AUD", cents: 9_000 } };
  const creditLine = { currency: "AUD", cents: 1_000_000 };
  await store.write(updatePartner, { slug: "buyer", thresholds, creditLine, actor });
  await store.write(updateCredential, { clientId, currency: "AUD", perDay: "90000.00", actor });
  const hook = { url: "https://hooks.example.net/", events: ["*" as const], actor };
  await store.write(createWebhook, { ...hook, owner: owned(partnerId) });
  await store.write(createWebhook, { ...hook, owner: { partnerId, environment: "sandbox" } });
  const line = (sku: string, quantity = 1) => ({ product_id: ids[sku] ?? "", quantity });
  const customer = { email: "ada@example.net", name: "Ada Byron", phone: "+61400000000" };
  const order = (sku: string, quantity?: number) => orderOf(buyer, ids[sku], quantity);
  const first = order("EU");
  const asked = [
    first,
    first,
    { ...order("EU"), lines: [line("EU"), line("US", 2), line("CARD")] },
    { ...order("EU", 20), key: { space: "bulk" as const, value: "B-1" }, customer },
    order("API"),
    { ...order("MAIL"), activationRequests: [{ ...traveller, product_id: ids.MAIL ?? "" }] },
    { ...order("CARD"), credential: null, actor },
    order("EU", 1_000),
    // Beyond what the wallet holds: on credit.
    { ...order("CARD", 85) },
    { ...order("none") },
  ];
  const scenario = { ...order("MAIL"), activationRequests: [{ ...traveller, product_id: ids.MAIL ?? "" }] };
  const sandboxed = [...asked, { ...scenario, scenario: "supplier_timeout" as const }];
  return [...asked, ...sandboxed.map((one) => ({ ...one, environment: "sandbox" as const }))];
}

/** What commands of each kind of lane touched. */
type ByKind = Map<LaneKind, Touched>;

async function tryAll<I>(store: Store, command: Command<I, unknown>, inputs: readonly I[]): Promise<ByKind> {
  const found: ByKind = new Map();
  for (const input of inputs) {
    const lane = command.lane?.(input) ?? null;
    if (lane === null) continue;
    const touched = found.get(lane.kind) ?? { read: new Set(), written: new Set() };
    found.set(lane.kind, touched);
    await trace(store, command, input, touched);
  }
  return found;
}

/** The commands with a lane, tried with inputs that take all of their ways. */
const laned: [name: string, tried: (store: Store) => Promise<ByKind>][] = [
  ["createOrder", async (store) => tryAll(store, createOrder, await everyOrder(store))],
];

/** Tables that commands of any kind write. */
const writtenBeside = Object.values(laneKinds).flatMap(({ own, locked }): TableName[] => [...own, ...locked]);

const without = (tables: Iterable<TableName>, others: readonly TableName[]) =>
  [...tables].filter((table) => !others.includes(table));

describe("what a command with a lane touches", () => {
  test("every command that declares a lane is tried", () => {
    const core = join(import.meta.dirname, "..", "src", "core");
    const files = readdirSync(core, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
    const declared = files.flatMap((file) => [...readFileSync(join(core, file), "utf8").matchAll(/^(\w+)\.lane = /gm)]);
    expect(declared.map(([, name]) => name).sort()).toEqual(laned.map(([name]) => name).sort());
  });

  test.each(laned)(
    "%s writes what its kind of lane lists, and reads nothing else that lanes write",
    async (_, tried) => {
      const { store } = await openTestStore(systemClock);
      const found = await tried(store);
      expect(found.size).toBeGreaterThan(0);
      for (const [kind, { read, written }] of found) {
        const { own, locked, seen } = laneKinds[kind];
        const writes: TableName[] = [...own, ...locked];
        expect([kind, without(written, writes)]).toEqual([kind, []]);
        const others = without(read, [...writes, ...seen]).filter((table) => writtenBeside.includes(table));
        expect([kind, others]).toEqual([kind, []]);
        // No list has what no statement touches.
        expect([kind, without(writes, [...written])]).toEqual([kind, []]);
        expect([kind, without(seen, [...read])]).toEqual([kind, []]);
      }
    },
  );
});

/** A command of the lane of a partner's orders that runs `work`. */
function inLane<O>(partnerId: string, work: (tx: Tx) => Promise<O>): Command<null, O> {
  return Object.assign((tx: Tx) => work(tx), { lane: () => ({ kind: "orders" as const, key: partnerId }) });
}

/** Writes that wait for others, on any node. */
const WAITING = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

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
        await insertRow(tx, "settings", { key: `name ${taken}`, value: partnerId });
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
    const clash = inLane(mine, (tx) => insertRow(tx, "settings", { key: "name 0", value: "" }));
    await expect(store.write(clash, null)).rejects.toThrow(/duplicate key|Failed query/);
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

test("lanes of one kind and key have one slot, and kinds share none", () => {
  const sandbox = slotOf({ kind: "sandboxOrders", key: "" });
  const slots = new Set(Array.from({ length: 200 }, () => slotOf({ kind: "orders", key: crypto.randomUUID() })));
  expect(slots.size).toBe(laneKinds.orders.slots);
  expect(slots.has(sandbox)).toBe(false);
});
