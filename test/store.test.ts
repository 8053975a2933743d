import { eq } from "drizzle-orm";
import { expect, onTestFinished, test } from "vitest";
import { ensureCarriers } from "../src/core/carriers/seed.ts";
import { randomIds } from "../src/core/kernel/ids.ts";
import { writeSettings } from "../src/core/platform/settings.ts";
import { migrationsOf } from "../src/core/store/migrations/migrate.ts";
import { type Location, openStore } from "../src/core/store/open/open.ts";
import { StoreError } from "../src/core/store/problems.ts";
import { findByKey, updateRow } from "../src/core/store/rows.ts";
import type { Row } from "../src/core/store/schema/tables.ts";
import type { Read, Tx } from "../src/core/store/store.ts";
import { testClock } from "./support/clock.ts";
import { asBefore, freshLocation, openTestStore, runStatements } from "./support/store.ts";

async function put(tx: Tx, { key, value }: { key: string; value: string }): Promise<void> {
  await tx.db.insert(tx.t.settings).values({ key, value });
}

async function keys(q: Read, prefix: string): Promise<string[]> {
  const rows = await q.db.select({ key: q.t.settings.key }).from(q.t.settings).orderBy(q.t.settings.key);
  return rows.map((row) => row.key).filter((key) => key.startsWith(prefix));
}

test("concurrent commands commit together, and one that fails rolls back alone", async () => {
  const { store } = await openTestStore(testClock());
  const failing = async (tx: Tx, key: string) => {
    await put(tx, { key, value: "gone" });
    throw new Error(`no ${key}`);
  };
  const settled = await Promise.allSettled([
    store.write(put, { key: "a1", value: "1" }),
    store.write(failing, "a2"),
    store.write(put, { key: "a3", value: "3" }),
    // A broken constraint must not poison the transaction of its neighbors either.
    store.write(put, { key: "a1", value: "again" }),
    store.write(put, { key: "a5", value: "5" }),
  ]);
  expect(settled.map((each) => each.status)).toEqual(["fulfilled", "rejected", "fulfilled", "rejected", "fulfilled"]);
  expect(await store.read(keys, "a")).toEqual(["a1", "a3", "a5"]);
});

test("a write that starts as the previous one completes is executed", async () => {
  const { store } = await openTestStore(testClock());
  for (let i = 0; i < 50; i++) await store.write(put, { key: `b${i}`, value: "x" });
  expect(await store.read(keys, "b")).toHaveLength(50);
});

test("readers see only committed data, and each read sees one snapshot", async () => {
  const { store, again } = await openTestStore(testClock());
  const other = await again();
  const twice = async (q: Read) => {
    const before = await keys(q, "c");
    await other.write(put, { key: `c${before.length}`, value: "x" });
    return [before, await keys(q, "c")];
  };
  const [before, after] = await store.read(twice, null);
  expect(after).toEqual(before);
  expect(await store.read(keys, "c")).toEqual(["c0"]);
});

test("an update writes the columns that it names, however many, and no others", async () => {
  const { store } = await openTestStore(testClock());
  await store.write(ensureCarriers, null);
  const update = (prefix: string, change: Partial<Row<"carriers">>) =>
    store.write((tx) => updateRow(tx, "carriers", { prefix }, change), null);
  const one = { answer_within_ms: 1000, brand: "b1", name: "n1", region: "r1", required_fields: [], timeout_ms: 100 };
  const two = { ...one, brand: "b2", name: "n2", url: "https://two.example" };
  await update("58", one);
  await update("896103", two);
  await update("58", { ...one, brand: "b3", url: undefined });
  const find = (prefix: string) => store.read((q) => findByKey(q, "carriers", { prefix }), null);
  expect(await find("58")).toMatchObject({ ...one, brand: "b3", url: null });
  expect(await find("896103")).toMatchObject(two);
});

test("many writers of several processes lose nothing", async () => {
  const { store, again } = await openTestStore(testClock());
  const stores = [store, await again(), await again()];
  const count = async (tx: Tx) => {
    const [row] = await tx.db.select().from(tx.t.settings).where(eq(tx.t.settings.key, "docs_url"));
    const value = String(Number(row?.value ?? 0) + 1);
    await writeSettings(tx, { docs_url: value });
    return value;
  };
  const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => (stores[i % 3] ?? store).write(count, null)));
  expect(new Set(answers).size).toBe(60);
});

test("who asks for the epoch in one turn shares one promise, and who asks after a write gets another", async () => {
  const { store } = await openTestStore(testClock());
  const asked = store.epoch();
  expect(store.epoch()).toBe(asked);
  const before = await asked;
  await store.write((tx) => tx.touch(), null);
  expect(store.epoch()).not.toBe(asked);
  expect(await store.epoch()).toBe(before + 1);
});

test("the epoch changes for every process when reference data changed, and only then", async () => {
  const { store, again } = await openTestStore(testClock());
  const other = await again();
  const before = await store.epoch();
  await other.write(put, { key: "d", value: "x" });
  expect(await store.epoch()).toBe(before);
  await other.write((tx) => tx.touch(), null);
  expect(await store.epoch()).toBe(before + 1);
});

test("signals reach listeners after the commit, and only of commands that succeeded", async () => {
  const { store } = await openTestStore(testClock());
  const received: string[] = [];
  const stop = store.onSignal("fulfillment", () => received.push("x"));
  const signaling = async (tx: Tx, fails: boolean) => {
    tx.signal("fulfillment");
    if (fails) throw new Error("undone");
  };
  await expect(store.write(signaling, true)).rejects.toThrow("undone");
  expect(received).toEqual([]);
  await store.write(signaling, false);
  expect(received).toEqual(["x"]);
  stop();
  await store.write(signaling, false);
  expect(received).toEqual(["x"]);
});

test("another key file is refused; so is a newer database", async () => {
  const opened = await openTestStore(testClock());
  const { location, masterKey, store } = opened;
  const dependencies = { clock: testClock(), ids: randomIds() };
  await store.write(put, { key: "e", value: "x" });
  const wrong = openStore(location, { ...dependencies, masterKey: Buffer.alloc(32) });
  await expect(wrong).rejects.toThrow(/master key does not belong/);
  await pretendNewer(location);
  const newer = openStore(location, { ...dependencies, masterKey });
  await expect(newer).rejects.toThrow(StoreError);
  await expect(newer).rejects.toThrow(/newer than this program.*9999_future/);
});

test("a sealed value opens again, differs each time, and is refused when altered", async () => {
  const { store } = await openTestStore(testClock());
  const { vault } = store;
  const cell = { column: "passports.sealed", row: "a" } as const;
  const sealed = vault.seal("PA1234567", cell);
  expect(sealed).not.toBe(vault.seal("PA1234567", cell));
  expect(vault.open(sealed, cell)).toBe("PA1234567");
  const altered = sealed.slice(0, -2) + (sealed.endsWith("A") ? "BB" : "AA");
  expect(() => vault.open(altered, cell)).toThrow();
  expect(vault.blindIndex("passport", "X1")).toBe(vault.blindIndex("passport", "X1"));
  expect(vault.blindIndex("passport", "X1")).not.toBe(vault.blindIndex("other", "X1"));
});

/** As a later version of the program leaves it. */
function pretendNewer(location: Location): Promise<void> {
  return runStatements(location, ["INSERT INTO schema_history (name, digest) VALUES ('9999_future', 'x')"]);
}

test("an update clears finished work that an older version left due, and keeps what is under way", async () => {
  const location = await freshLocation();
  const initial = migrationsOf("url" in location ? "postgres" : "sqlite").slice(0, 1);
  const order = (status: string) =>
    `INSERT INTO orders (id, order_number, partner_id, environment, status, currency, total_cents, quantity, product_id,
      product_sku, unit_price_cents, metadata, created_at, updated_at, due_at, leased_until, reserved)
      VALUES ('${status}', '${status}', 'p', 'production', '${status}', 'AUD', 0, 1, 'x', 'X', 0, '{}', 0, 0, 5, 9, 0)`;
  await asBefore(location, initial, [
    `INSERT INTO partners (id, slug, name, status, tier, agent, production, created_at, updated_at)
      VALUES ('p', 'p', 'P', 'active', 'standard', 0, 1, 0, 0)`,
    ...["paid", "fulfilled"].map(order),
  ]);
  const ids = randomIds();
  const store = await openStore(location, { clock: testClock(), ids, masterKey: ids.bytes(32) });
  onTestFinished(() => store.close());
  const rows = await store.read(async (q) => q.db.select().from(q.t.orders).orderBy(q.t.orders.id), null);
  expect(rows).toMatchObject([
    { id: "fulfilled", due_at: null, leased_until: null, lease_no: 0 },
    { id: "paid", due_at: 9, leased_until: 9, lease_no: 0 },
  ]);
});
