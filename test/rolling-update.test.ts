import { expect, test } from "vitest";
import { expands, migrate, migrationsOf } from "../src/core/store/migrations/migrate.ts";
import type { Migration } from "../src/core/store/migrations/migration.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { startPlatform } from "./support/platform.ts";
import { onPostgres, runStatements, type TestStore } from "./support/store.ts";
import { placeOrder } from "./support/supplies.ts";

const additive: Migration = {
  name: "9998_future",
  statements: [
    "CREATE TABLE future (id text PRIMARY KEY NOT NULL, order_id text REFERENCES orders (id))",
    "CREATE INDEX orders_future ON orders (created_at)",
    "ALTER TABLE orders ADD COLUMN future text",
  ],
};
const contracting: Migration = { name: "9999_contract", statements: ["ALTER TABLE orders DROP COLUMN future"] };

/** Applies a migration of a later release, as its first node does. */
async function asLater({ location }: Pick<TestStore, "location">, migration: Migration): Promise<void> {
  const statements: string[] = [];
  await migrate({ run: async (text) => void statements.push(text), rows: async () => [] }, [migration]);
  await runStatements(location, statements);
}

test("a node keeps working, and starts again, beside a schema to which a later release has added", async () => {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [{ sku: "EU5", price_cents: 100 }]);
  await addStock(platform.store, "EU5", 2);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 1_000);
  await asLater(platform, additive);
  const order = async () => {
    const id = await placeOrder(caller, products.EU5);
    await platform.fulfill();
    return (await caller.get(`/api/v1/orders/${id}`)).body;
  };
  expect(await order()).toMatchObject({ status: "fulfilled" });
  const restarted = await platform.again();
  expect(await restarted.read(async (q) => q.db.select().from(q.t.orders), null)).toHaveLength(1);

  await asLater(platform, contracting);
  await expect(platform.again()).rejects.toThrow("The database is newer than this program: it has 9999_contract.");
  // One that runs is not stopped: it does not use what went in this release.
  expect(await order()).toMatchObject({ status: "fulfilled" });
});

test("only a migration that adds what an earlier program need not know counts as an addition", () => {
  const quoted = (statement: string) => (onPostgres ? statement : statement.replaceAll('"', "`"));
  const isAddition = (...statements: string[]) => expands({ statements: statements.map(quoted) });
  expect(isAddition('ALTER TABLE "orders" ADD COLUMN "lane" integer DEFAULT 0 NOT NULL;')).toBe(true);
  expect(isAddition('CREATE TABLE "a" ("id" text)', 'CREATE UNIQUE INDEX "a_id" ON "a" ("id")')).toBe(true);
  expect(isAddition('CREATE TABLE "a" ("id" text)', 'ALTER TABLE "a" ADD CONSTRAINT "c" UNIQUE ("id")')).toBe(true);
  for (const statement of [
    'ALTER TABLE "orders" ADD COLUMN "lane" integer NOT NULL',
    'ALTER TABLE "orders" ADD CONSTRAINT "c" CHECK (true)',
    'ALTER TABLE "orders" DROP COLUMN "customer_phone"',
    'ALTER TABLE "orders" RENAME COLUMN "a" TO "b"',
    'CREATE UNIQUE INDEX "orders_lane" ON "orders" ("lane")',
    'UPDATE "orders" SET "lane" = 1',
    "CREATE TRIGGER t BEFORE INSERT ON orders BEGIN SELECT 1; END",
  ]) {
    expect(isAddition(statement), statement).toBe(false);
  }
  expect(expands({ statements: [], fill: async () => undefined })).toBe(false);
  expect(migrationsOf("postgres").filter(expands).length).toBeGreaterThan(0);
});
