import { readdirSync, readFileSync } from "node:fs";
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
import { documentsInPool } from "../src/core/passports/passport.ts";
import { findByKey } from "../src/core/store/rows.ts";
import { sqliteTables } from "../src/core/store/schema/tables.ts";
import { productSorts } from "../src/core/store/schema/values.ts";
import type { Slots } from "../src/core/store/statement.ts";
import type { Db, Read } from "../src/core/store/store.ts";
import { createWebhook } from "../src/core/webhooks/create.ts";
import { listDeliveries } from "../src/core/webhooks/deliveries.ts";
import { listOwnDeliveries } from "../src/core/webhooks/delivery-log.ts";
import { addProducts } from "./support/catalog.ts";
import { type Platform, startPlatform } from "./support/platform.ts";
import { faultsOf, planOf, type Statement } from "./support/query-plans.ts";
import { root } from "./support/sources.ts";

type Build = (db: Db, t: Read["t"], slot: Slots<Record<string, unknown>>) => Buildable;
interface Buildable {
  toSQL(): { sql: string; params: unknown[] };
}

const made = vi.hoisted(() => [] as { stack: string; build: Build }[]);

// Nothing is replaced: each call of `statement` reaches the real one, and is recorded with its source line.
vi.mock("../src/core/store/statement.ts", async (original) => {
  const real = await original<typeof import("../src/core/store/statement.ts")>();
  const statement = (build: Build) => {
    made.push({ stack: String(new Error().stack), build });
    // It accepts builders of any result; this one is passed on unchanged.
    return real.statement(build as never);
  };
  return { ...real, statement };
});

/** Statements that read or sort beyond an index, each with the reason why that is acceptable. */
const allowed: Record<string, string> = {
  "src/core/catalog/inventory.ts all": "answers the whole catalog, which the operator keeps",
  "src/core/catalog/inventory.ts ofRegion": "answers a region of the catalog in the order of skus",
  "src/core/esims/stock.ts levels": "answers the whole catalog, which the operator keeps",
  "src/core/esims/expiring.ts ownDays": "reads the partners whose days the operator set, once a minute",
  "src/core/orders/idempotency.ts booked": "looks at one key of each partner",
  "src/core/orders/waiting.ts groups": "groups the items of one order by line and status",
  "src/core/insight/waiting.ts inQueue": "groups the requests in the queue, by the index of just them",
  "src/core/partners/partner.ts all": "answers all partners, in the order of their slugs",
  "src/core/partners/credit-line.ts lines": "looks at every wallet, asked for by the operator",
  "src/core/orders/spend.ts today": "groups the orders of one day by currency, when a cap is set",
  "src/core/orders/guard-rails.ts ofCredential": "reads what is paused: a few rows, in most installations none",
  "src/core/store/pauses.ts all": "reads what is paused: a few rows, in most installations none",
  "src/core/wallet/check.ts credits": "an audit of every wallet, asked for by the operator",
  "src/core/wallet/check.ts drawn": "an audit adds up every draw and repayment",
  "src/core/wallet/check.ts afterwards": "an audit adds up every chain",
  "src/core/wallet/check.ts wallets": "an audit of every wallet, asked for by the operator",
  "src/core/wallet/check.ts sums": "an audit adds up every posting",
  "src/core/wallet/check.ts unbalancedRows": "an audit looks at every transaction",
  "src/core/maintenance/verify-backup.ts tally": "counts the rows of a table: the operator asked how many there are",
  "src/core/maintenance/work-checks.ts deliveries": "reads the index of what waits, and nothing else",
  "src/core/feed/last-numbers.ts ofPartners": "reads the list of ids that it is given",
  "src/core/webhooks/due.ts eventsOf": "reads the list of ids that it is given",
  "src/core/webhooks/look-again.ts setDue": "reads the list of ids that it is given",
  "src/core/webhooks/outcome.ts settleAll": "reads the list of leases that it is given",
  "src/core/webhooks/webhook.ts ofIds": "reads the list of ids that it is given",
  "src/core/passports/passport.ts ofDocuments": "reads the list of documents that it is given",
  "src/core/webhooks/redeliver.ts againFrom": "reads the list of kinds that it is given",
  "src/core/outbox/fan-out.ts lookNow": "reads the list of ids that it is given",
  "src/core/outbox/feed-number.ts raiseAll": "reads the list of feeds that it is given",
  "src/core/catalog/product.ts soldOf": "reads the list of ids that it is given",
  "src/core/esims/stock-in-run.ts free": "reads the list of ids that it is given",
  "src/core/esims/stock-in-run.ts takeEach": "reads the list of ids that it is given",
  "src/core/orders/new-number.ts taken": "reads the list of numbers that it is given",
  "src/core/outbox/audience.ts endpointsOfEach":
    "reads the list of ids that it is given, and sorts their few endpoints",
  "src/core/outbox/feed-number.ts lastNumbers": "reads the list of ids that it is given",
  "src/core/outbox/record-for-many.ts endpointsOfAll": "reads the list of ids that it is given",
  "src/core/catalog/announce.ts feedsAfter": "merges two lists, each of at most the rows that it is asked for",
  "src/core/wallet/record-transaction.ts insertPostings": "inserts two rows, and reads none",
  "src/core/sandbox/settle.ts clocksToSettle": "looks at every advanced clock, each second",
  "src/core/store/heads.ts auditHeads": "an audit of every chain; the signing looks at every head once an hour",
  "src/core/store/heads.ts walletHeads": "an audit of every chain; the signing looks at every head once an hour",
  "src/core/store/mark-heads.ts anySignature": "asks whether the table holds any row",
  "src/core/evidence/verify.ts audit": "an audit counts every row",
  "src/core/evidence/verify.ts ledger": "an audit counts every row",
  "src/core/evidence/verify.ts postings": "an audit counts every row",
  "src/core/evidence/verify.ts signatures": "an audit counts every row",
  "src/core/insight/rates.ts orders": "groups one hour's orders by their minutes",
  "src/core/insight/rates.ts tries": "groups one hour's tries by their minutes",
  "src/core/insight/queues.ts ordersToShip": "counts the orders to ship, by the index of just their lines",
  "src/core/insight/queues.ts deliveriesPending": "counts what waits, by the index of just that",
  "src/core/insight/queues.ts deliveriesHeld": "counts what is held, by the index of just that",
  "src/core/insight/status.ts failing": "answers the endpoints that fail, of all there are",
  "src/core/insight/status.ts wallets": "looks at every wallet, asked for by the operator",
  "src/core/maintenance/data-checks.ts pools": "an audit compares every stock counter",
  "src/core/maintenance/data-checks.ts unassigned": "an audit counts every eSIM in stock",
  "src/core/maintenance/data-checks.ts reserved": "an audit adds up what orders on their way hold",
  "src/core/store/data-keys.ts storedSecrets": "reads every credential once, when a database is converted",
  "src/core/store/people-index.ts under": "reads the list of digests that it is given, and sorts what is under them",
  "src/core/store/people-index.ts partners": "answers all partners",
  "src/core/esims/list-all.ts listed": "reads the eSIMs of the orders that its list of digests leads to",
  "src/core/orders/list.ts ordersOfIds": "reads the list of ids that it is given",
  "src/core/orders/list.ts linesOfIds": "reads the list of ids that it is given",
  "src/core/orders/list-all.ts listed": "reads the list of digests that it is given",
  "src/core/activations/list-all.ts listed": "reads the list of digests that it is given",
  "src/core/store/reseal.ts under": "asked once when a key is retired: is anything left under it",
  "src/core/passports/operator-view.ts byNumber": "sorts the few records of one number",
  "src/core/passports/operator-view.ts usesOf": "sorts the few uses of one passport",
  "src/core/webhooks/trigger.ts deliveriesOf": "sorts the deliveries of one event, at most one an endpoint",
};

const core = join(root, "src/core");
const coreFiles = readdirSync(core, { recursive: true, encoding: "utf8" })
  .map((name) => name.replaceAll("\\", "/"))
  // A thread's own program runs when it is imported.
  .filter((name) => name.endsWith(".ts") && !name.startsWith("store/migrations/") && !name.endsWith("-thread.ts"));

beforeAll(async () => {
  for (const name of coreFiles) await import(join(core, name));
});

test("every statement of core uses an index", async () => {
  const platform = await startPlatform();
  await addProducts(platform.store, [{ sku: "ONE" }, { sku: "TWO" }]);
  const { connection, q } = await seen(platform);
  await everyCatalogList(q);
  const faulty = new Map<string, string[]>();
  for (const { stack, build } of made) {
    const statement = statementOf(q, build);
    // PostgreSQL's alone; each look-up of it has the whole key.
    if (/ lateral /.test(statement.sql)) continue;
    const faults = faultsOf(statement, planOf(connection, statement));
    if (faults.length > 0) faulty.set(nameOf(stack), faults);
  }
  expect(made.length).toBeGreaterThan(100);
  expect([...faulty].filter(([name]) => !(name in allowed))).toEqual([]);
  expect(Object.keys(allowed).filter((name) => !faulty.has(name))).toEqual([]);
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
  const reads: [index: string, read: () => Promise<unknown>][] = [
    ["orders_list", () => listOrders(q, { ...owner, limit: 5 })],
    ["orders_list", () => listOrders(q, { ...owner, limit: 5, status: "fulfilled" })],
    ["orders_list_rest", () => listOrders(q, { ...owner, limit: 5, status: "failed" })],
    ["orders_rest", () => listAllOrders(q, { ...page, status: "waiting_review" })],
    ["sqlite_autoindex_orders_1", () => listAllOrders(q, { ...page, status: "fulfilled" })],
    ["orders_list", () => listAllOrders(q, { ...page, partnerId: known.partnerId, status: "fulfilled" })],
    ["orders_rest", () => heldOrders(q, { limit: 5 })],
    ["esims_sold", () => esimsOfOrderPage(q, known.partnerId)],
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
    new Set(),
  );
  const [search] = ran;
  if (search === undefined) throw new Error("nothing was read");
  expect(planOf(connection, search)).toContainEqual(
    expect.stringMatching(/^SEARCH passports USING COVERING INDEX passports_number \(number_index=/),
  );
});

/** The eSIMs of an order, by its id. */
function esimsOfOrderPage(q: Read, id: string) {
  return q.db.select().from(q.t.esims).where(sql`${q.t.esims.order_id} = ${id}`).orderBy(q.t.esims.id).limit(1);
}

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
  const q: Read = { db, t: sqliteTables, now: clock.now(), vault: store.vault, prepared: new Map() };
  return { connection, q, ran };
}

interface Known {
  partnerId: PartnerId;
  endpointId: WebhookId;
}

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

function statementOf(q: Read, build: Build): Statement {
  // Answers every key with its placeholder, as statement() itself does.
  const slots = new Proxy({}, { get: (_, key) => sql.placeholder(String(key)) }) as Parameters<Build>[2];
  const { sql: text, params } = build(q.db, q.t, slots).toSQL();
  return { sql: text, parameters: params.length };
}

/** `file name`: the constant, member or function around a statement, from the line that made it. */
function nameOf(stack: string): string {
  const [, path, line] = /(src\/core\/[\w/-]+\.ts):(\d+)/.exec(stack.replace(/.*query-plans.*\n/, "")) ?? [];
  if (path === undefined) throw new Error(`a statement of nowhere: ${stack}`);
  const before = readFileSync(join(root, path), "utf8").split("\n").slice(0, Number(line)).reverse();
  const name = /(?:const|function) (\w+)|^\s+(\w+): statement\(/;
  const found = before.map((text) => name.exec(text)).find((match) => match !== null);
  return `${path} ${found?.[1] ?? found?.[2] ?? line}`;
}
