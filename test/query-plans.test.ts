import { readFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { listProducts } from "../src/core/catalog/list.ts";
import type { PartnerId, WebhookId } from "../src/core/kernel/brand.ts";
import { listOrders } from "../src/core/orders/list.ts";
import { listAllOrders } from "../src/core/orders/list-all.ts";
import { heldOrders } from "../src/core/orders/queue.ts";
import { documentsInPool } from "../src/core/passports/import.ts";
import { findByKey } from "../src/core/store/rows.ts";
import { sqliteTables } from "../src/core/store/schema/tables.ts";
import { productSorts } from "../src/core/store/schema/values.ts";
import { sqliteDialect } from "../src/core/store/sqlite/dialect.ts";
import type { Db, Read } from "../src/core/store/store.ts";
import { createWebhook } from "../src/core/webhooks/create.ts";
import { listDeliveries } from "../src/core/webhooks/deliveries.ts";
import { listOwnDeliveries } from "../src/core/webhooks/delivery-log.ts";
import { addProducts } from "./support/catalog.ts";
import { core, coreFiles, importCore, made, nameOf, statementOf, wholeReads } from "./support/core-statements.ts";
import { type Platform, startPlatform } from "./support/platform.ts";
import { faultsOf, planOf, type Statement } from "./support/query-plans.ts";

// Nothing is replaced: each call of `statement` reaches the real one, and is recorded with its source line.
vi.mock("../src/core/store/statement.ts", async (original) => {
  const { recorded } = await import("./support/core-statements.ts");
  return recorded(await original());
});

beforeAll(importCore);

test("every statement of core uses an index", async () => {
  const platform = await startPlatform();
  await addProducts(platform.store, [{ sku: "ONE" }, { sku: "TWO" }]);
  const { connection, q } = await seen(platform);
  await everyCatalogList(q);
  const faulty = new Map<string, string[]>();
  for (const { stack, build } of made) {
    const statement = statementOf(q, build);
    // PostgreSQL's alone: test/slow/postgres-plans.test.ts looks at it.
    if (/ lateral /.test(statement.sql)) continue;
    const faults = faultsOf(statement, planOf(connection, statement));
    if (faults.length > 0) faulty.set(nameOf(stack), faults);
  }
  expect(made.length).toBeGreaterThan(100);
  expect([...faulty].filter(([name]) => !(name in wholeReads))).toEqual([]);
  expect(Object.keys(wholeReads).filter((name) => !faulty.has(name))).toEqual([]);
});

/** The queries that are built at each call, by file: a call of all their shapes. */
const builtPerCall: Record<string, (q: Read, known: Known) => Promise<void>> = {
  // An update has the same key in its WHERE.
  async "store/rows.ts"(q, { partnerId: id }) {
    expect(await findByKey(q, "partners", { id })).toMatchObject({ id });
    expect(await findByKey(q, "carriers", { prefix: "58" })).toMatchObject({ prefix: "58" });
    expect(await findByKey(q, "suppliers", { name: "nobody" })).toBeNull();
  },
  async "webhooks/deliveries.ts"(q, { endpointId }) {
    for (const one of [undefined, endpointId]) {
      for (const failed of [false, true]) {
        const { next_cursor } = await listDeliveries(q, { endpointId: one, failed, limit: 1 });
        if (next_cursor === null) continue;
        await listDeliveries(q, { endpointId: one, failed, limit: 1, cursor: next_cursor });
      }
    }
  },
  async "webhooks/delivery-log.ts"(q, { partnerId, endpointId: webhookId }) {
    const owner = { partnerId, environment: "sandbox" } as const;
    await listOwnDeliveries(q, { owner, webhookId, failed: true, limit: 1 });
    for (const status of [undefined, "held", "delivered"] as const) {
      await listOwnDeliveries(q, { owner, webhookId, status, limit: 1 });
    }
    const { pagination } = await listOwnDeliveries(q, { owner, webhookId, limit: 1 });
    await listOwnDeliveries(q, { owner, webhookId, limit: 1, cursor: pagination.next_cursor ?? "" });
  },
};

test("queries that are built at each call use an index", async () => {
  const platform = await startPlatform();
  const known = await ordersWithEvents(platform);
  const { connection, q, ran } = await seen(platform);
  for (const call of Object.values(builtPerCall)) await call(q, known);
  const faults = ran.flatMap((statement) => faultsOf(statement, planOf(connection, statement)));
  expect(ran.length).toBeGreaterThan(5);
  // The first pages of all deliveries: they follow an index from its end and stop at their limit.
  expect(faults).toEqual([
    "SCAN deliveries USING INDEX sqlite_autoindex_deliveries_1",
    "SCAN deliveries USING INDEX deliveries_stuck",
  ]);
});

test("fulfilled orders are read from the whole list, others and sold eSIMs from an index of just them", async () => {
  const platform = await startPlatform();
  const known = await ordersWithEvents(platform);
  const { connection, q, ran } = await seen(platform);
  const owner = { partnerId: known.partnerId, environment: "sandbox" } as const;
  const page = { environment: "production", limit: 5 } as const;
  const { esims } = q.t;
  const ofOrder = async (id: string) => q.db.select().from(esims).where(sql`${esims.order_id} = ${id}`).limit(1);
  const reads: [index: string, read: () => Promise<unknown>][] = [
    ["orders_list", () => listOrders(q, { ...owner, limit: 5 })],
    ["orders_list", () => listOrders(q, { ...owner, limit: 5, status: "fulfilled" })],
    ["orders_list_rest", () => listOrders(q, { ...owner, limit: 5, status: "failed" })],
    ["orders_rest", () => listAllOrders(q, { ...page, status: "waiting_review" })],
    ["sqlite_autoindex_orders_1", () => listAllOrders(q, { ...page, status: "fulfilled" })],
    ["orders_list", () => listAllOrders(q, { ...page, partnerId: known.partnerId, status: "fulfilled" })],
    ["orders_rest", () => heldOrders(q, { limit: 5 })],
    ["esims_sold", () => ofOrder(known.partnerId)],
  ];
  for (const [index, read] of reads) {
    ran.length = 0;
    await read();
    const [first] = ran;
    if (first === undefined) throw new Error("nothing was read");
    expect(planOf(connection, first)).toContainEqual(expect.stringContaining(`USING INDEX ${index} `));
  }
});

test("whether documents are in a pool is searched by their numbers, however large the pool is", async () => {
  const { connection, q, ran } = await seen(await startPlatform());
  const documents = [{ country: "GBR", number_index: "mark" }];
  expect(await documentsInPool(q, { partnerId: "none" as PartnerId, environment: "sandbox" }, documents)).toEqual(
    new Map(),
  );
  const [search] = ran;
  if (search === undefined) throw new Error("nothing was read");
  expect(planOf(connection, search)).toContainEqual(
    expect.stringMatching(/^SEARCH passports USING INDEX passports_number \(number_index=/),
  );
});

test("each file that builds queries at each call is covered here", () => {
  const builds = coreFiles.filter((name) =>
    /\b(q|tx|read)\.db\s*\.(select|update|delete)/.test(readFileSync(join(core, name), "utf8")),
  );
  expect(builds.sort()).toEqual(Object.keys(builtPerCall).sort());
});

test("a full scan, a sort and an offset scan are found", async () => {
  const { connection } = await seen(await startPlatform());
  const faults = (sql: string, parameters: number) =>
    faultsOf({ sql, parameters }, planOf(connection, { sql, parameters }));
  expect(faults('select * from "orders" where "metadata" = ?', 1)).toEqual(["SCAN orders"]);
  expect(faults('select * from "orders" where "partner_id" = ? order by "currency"', 1)).toHaveLength(1);
  const position = '("orders"."created_at", "orders"."id") < (?, ?)';
  expect(faults(`select * from "orders" where "order_number" = ? and ${position}`, 3)).toHaveLength(1);
  const owner = '"partner_id" = ? and "environment" = ?';
  const order = '"orders"."created_at" desc, "orders"."id" desc';
  expect(faults(`select * from "orders" where ${owner} and ${position} order by ${order}`, 4)).toEqual([]);
});

/** What core reads with on a platform's database, noting every statement that is run. */
async function seen({ location, store, clock }: Platform) {
  if (!("file" in location)) throw new Error("plans are SQLite's");
  const connection = new Database(location.file, { readonly: true });
  onTestFinished(() => void connection.close());
  const ran: Statement[] = [];
  const logger = { logQuery: (sql: string, values: unknown[]) => void ran.push({ sql, parameters: values.length }) };
  const db: Db = drizzle(connection, { logger });
  const sqlite = { dialect: sqliteDialect, context: null };
  const q: Read = { db, t: sqliteTables, now: clock.now(), vault: store.vault, prepared: new Map(), ...sqlite };
  return { connection, q, ran };
}

type Known = { partnerId: PartnerId; endpointId: WebhookId };

/** Two orders, and the events of both on their way to an endpoint. */
async function ordersWithEvents(platform: Platform): Promise<Known> {
  const { partnerId, send } = await platform.caller();
  const owner = { partnerId, environment: "sandbox" } as const;
  const url = "https://hooks.example.net/esim";
  const asked = { owner, url, events: ["order.created" as const], actor: "test" };
  const { webhook } = await platform.store.write(createWebhook, asked);
  const { PLAN } = await addProducts(platform.store, [{ sku: "PLAN" }]);
  for (const key of ["first", "second"]) {
    const body = { line_items: [{ product_id: PLAN, quantity: 1 }] };
    expect((await send("POST", "/api/v1/orders", body, { "idempotency-key": key })).status).toBe(201);
  }
  return { partnerId, endpointId: webhook.id };
}

/** The catalog prepares a statement for each combination of filters once it is asked for. */
async function everyCatalogList(q: Read): Promise<void> {
  for (const sort_by of productSorts) {
    for (const sort_order of ["asc", "desc"] as const) {
      for (const region of [undefined, "Europe"]) {
        for (const type of [undefined, "data_only"] as const) {
          for (const country of [undefined, "FR"]) {
            const filter = { status: "active", sort_by, sort_order, region, country, type, limit: 1 } as const;
            const { pagination } = await listProducts(q, filter);
            await listProducts(q, { ...filter, cursor: pagination.next_cursor ?? "" });
          }
        }
      }
    }
  }
}
