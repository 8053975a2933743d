import { eq, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { systemClock } from "../src/core/kernel/clock.ts";
import { insert } from "../src/core/store/rows.ts";
import type { Tables } from "../src/core/store/schema/tables.ts";
import { type Slots, statement } from "../src/core/store/statement.ts";
import type { Db, Preparable, Read, Tx } from "../src/core/store/store.ts";
import { addProducts } from "./support/catalog.ts";
import { openTestStore } from "./support/store.ts";

/** Selects of every shape that the program uses; each is executed prepared, and as the query builder executes it. */
const selects: Record<string, (db: Db, t: Tables) => Preparable<unknown> & PromiseLike<unknown>> = {
  "every type of column": (db: Db, t: Tables) => db.select().from(t.products).orderBy(t.products.sku),
  "some columns, under other names": (db: Db, { products }: Tables) =>
    db.select({ code: products.sku, what: products.features, gone: products.supplier }).from(products),
  expressions: (db: Db, { products }: Tables) =>
    db
      .select({ most: sql<number>`max(${products.price_cents})`.mapWith(Number), any: sql`'x'`.as("any") })
      .from(products),
  "two tables, one of them empty": (db: Db, { products, pauses }: Tables) =>
    db.select({ product: products, pause: pauses }).from(products).leftJoin(pauses, sql`true`),
  "columns of a table that has no row": (db: Db, { products, pauses }: Tables) =>
    db.select({ sku: products.sku, reason: pauses.reason }).from(products).leftJoin(pauses, sql`true`),
  "no row": (db: Db, { pauses }: Tables) => db.select().from(pauses),
};

async function openWithProducts() {
  const { store } = await openTestStore(systemClock);
  await addProducts(store, [{ sku: "EU", price_cents: 100 }, { sku: "US" }]);
  return store;
}

test.each(Object.entries(selects))("a prepared select answers what the builder does: %s", async (_, build) => {
  const store = await openWithProducts();
  const prepared = statement(build);
  const both = async (q: Read) => [await prepared(q, {}), await prepared(q, {}), await build(q.db, q.t)];
  const [first, second, built] = await store.read(both, null);
  expect(first).toEqual(built);
  expect(second).toEqual(built);
});

const raised = statement((db, t, slot: Slots<{ sku: string; by: number; features: string[] | null }>) =>
  db
    .update(t.products)
    .set({ price_cents: sql`${t.products.price_cents} + cast(${slot.by} as bigint)`, features: slot.features })
    .where(eq(t.products.sku, slot.sku))
    .returning({ price: t.products.price_cents, features: t.products.features }),
);

test("a prepared update maps what it is given and what it returns", async () => {
  const store = await openWithProducts();
  const raise = (tx: Tx, features: string[] | null) => raised(tx, { sku: "EU", by: 5, features });
  expect(await store.write(raise, ["5G"])).toEqual([{ price: 105, features: ["5G"] }]);
  expect(await store.write(raise, null)).toEqual([{ price: 110, features: null }]);
});

test("a value that is left out is refused, and not taken for null", async () => {
  const store = await openWithProducts();
  // As a caller that the compiler did not check.
  const values = { sku: "EU", by: 5 } as { sku: string; by: number; features: null };
  await expect(store.write((tx) => raised(tx, values), null)).rejects.toThrow('"features"');
});

test("an insert that cannot be prepared fails by its promise", async () => {
  const store = await openWithProducts();
  // A table that is not there.
  const nowhere = "nowhere" as string as "pauses";
  const pause = { kind: "orders", name: "", reason: "audit", since: 7 } as const;
  const refused = (tx: Tx) => insert(tx, nowhere, [pause]).catch(() => "refused");
  expect(await store.write(refused, null)).toBe("refused");
});

test("columns that a row leaves out are null, whatever their default", async () => {
  const store = await openWithProducts();
  const pause = { kind: "orders", name: "", reason: "audit", since: 7 } as const;
  await store.write((tx) => insert(tx, "pauses", [pause]), null);
  const incomplete = { ...pause, name: "other", reason: undefined } as unknown as typeof pause;
  await expect(store.write((tx) => insert(tx, "pauses", [incomplete]), null)).rejects.toThrow(/null/i);
  expect(await store.read((q) => q.db.select().from(q.t.pauses), null)).toEqual([pause]);
});
