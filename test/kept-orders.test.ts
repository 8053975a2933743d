import { getTableColumns } from "drizzle-orm";
import { expect, test } from "vitest";
import { rotateAndReseal } from "../src/core/credentials/rotate-data-key.ts";
import { rotateLinkKey } from "../src/core/credentials/rotate-link-key.ts";
import { clearCustomer, clearItem } from "../src/core/erasure/clear.ts";
import { suspendEsim } from "../src/core/esims/life.ts";
import type { OrderId } from "../src/core/kernel/brand.ts";
import { actOnOrder, type OrderAct } from "../src/core/orders/act.ts";
import { itemsOfOrder } from "../src/core/orders/items.ts";
import { listOrders } from "../src/core/orders/list.ts";
import { requireOrder } from "../src/core/orders/order.ts";
import { showOrder } from "../src/core/orders/show.ts";
import { sqliteTables } from "../src/core/store/schema/tables.ts";
import type { Store, Tx } from "../src/core/store/store.ts";
import { correctItem } from "../src/core/supplies/correct.ts";
import { completeItem, failItem } from "../src/core/supplies/operator.ts";
import { createFulfilment } from "../src/daemon/workers/fulfilment.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { type Caller, startPlatform } from "./support/platform.ts";
import { settled } from "./support/pool.ts";
import { seeded } from "./support/random.ts";
import { runStatements } from "./support/store.ts";
import { suppliedEsim } from "./support/supplies.ts";

const publicUrl = "http://esim.test";

type Desk = Awaited<ReturnType<typeof shop>>;

/** A platform with a partner's orders of every kind, and a second store on its database, as another process has it. */
async function shop() {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [
    { sku: "STOCK", price_cents: 100 },
    { sku: "CARD", price_cents: 100, product_type: "physical_sim", delivery_method: "shipping" },
    { sku: "TRIP", product_type: "esim_qr_api", delivery_method: "supplier_email", supplier: "kestrel" },
    { sku: "PUSH", product_type: "esim_eid_push", delivery_method: "eid_push", supplier: "northwind" },
  ]);
  const live = await platform.caller({ slug: "acme", live: true });
  const sandbox = await platform.credential("acme", {});
  await platform.fund(live.partnerId, 1_000_000);
  const other = await platform.again();
  const log = { error: (...words: unknown[]) => console.error(...words) };
  const place = (caller: Caller, body: Record<string, unknown>) =>
    caller.send("POST", "/api/v1/orders", body, { "idempotency-key": crypto.randomUUID() });
  return {
    ...platform,
    live,
    sandbox,
    other,
    fulfilBy: (store: Store) => settled(createFulfilment({ store, log })),
    /** An order of some units of each sku; its ID. */
    async order(caller: Caller, ...skus: string[]): Promise<OrderId> {
      const line_items = skus.map((sku) => ({ product_id: products[sku], quantity: 1 }));
      const who = { customer_email: "mia@example.com", customer_name: "Mia Chen", activation_date: "2026-03-02" };
      const eid = { eid_number: "89049032000000000000000000000012" };
      const activation_requests = skus
        .filter((sku) => sku === "TRIP" || sku === "PUSH")
        .map((sku) => ({ product_id: products[sku], ...who, ...(sku === "PUSH" ? eid : {}) }));
      const { status, body } = await place(caller, { line_items, activation_requests });
      expect([status, body.detail]).toEqual([201, undefined]);
      return body.id;
    },
    async bulkOrder(caller: Caller): Promise<OrderId> {
      const customer = { email: "mia@example.com", name: "Mia Chen" };
      const line_items = [{ product_id: products.STOCK, quantity: 2 }];
      const one = { external_order_id: crypto.randomUUID(), line_items, customer };
      const { body } = await caller.send("POST", "/api/v1/orders/bulk", { orders: [one] });
      return body.results[0].service_order_id;
    },
  };
}

/** What a response of the API is now, read past everything that is kept. */
async function fresh(store: Store, owner: Caller, environment: "production" | "sandbox", id: OrderId) {
  const asked = { owner: { partnerId: owner.partnerId, environment }, id, publicUrl, most: 1_000 };
  return JSON.parse(JSON.stringify((await store.read(showOrder, asked)).order));
}

async function expectFresh(
  store: Store,
  callers: readonly (readonly [Caller, "production" | "sandbox"])[],
  when: string,
) {
  for (const [caller, environment] of callers) {
    for (const query of [{}, { status: "fulfilled" as const }]) {
      const filter = { partnerId: caller.partnerId, environment, limit: 100, ...query };
      const page = JSON.parse(JSON.stringify(await store.read(listOrders, filter)));
      const words = new URLSearchParams(Object.entries({ limit: "100", ...query }));
      const { body } = await caller.get(`/api/v1/orders?${words}`);
      expect(body, `${when}, a list`).toEqual(page);
      for (const { id } of page.data) {
        const shown = await fresh(store, caller, environment, id);
        expect((await caller.get(`/api/v1/orders/${id}`)).body, `${when}, order ${id}`).toEqual(shown);
      }
    }
  }
}

/** What a mix of changes does, by the store of this process or of another. */
type Change = (by: Store) => Promise<unknown>;
type Changes = Record<string, Change>;

/** The orders of a mix, and how it chooses among them. */
function mixOf(desk: Desk, random: () => number) {
  const orders: OrderId[] = [];
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T; // lists are not empty
  /** Does it to the first that allows it, from a random one on. */
  async function toAny<T>(list: readonly T[], change: (one: T) => Promise<unknown>): Promise<void> {
    const from = Math.floor(random() * list.length);
    for (const one of [...list.slice(from), ...list.slice(0, from)]) {
      const done = await change(one).then(
        () => true,
        () => false,
      );
      if (done) return;
    }
    throw new Error("none allows it");
  }
  let serial = 0;
  return { ...desk, orders, pick, toAny, next: () => ++serial };
}

type Mix = ReturnType<typeof mixOf>;

function placing({ orders, order, bulkOrder, live, sandbox, fulfilBy, clock }: Mix): Changes {
  return {
    "order from stock": async () => orders.push(await order(live, "STOCK")),
    "order from everywhere": async () => orders.push(await order(live, "STOCK", "CARD", "TRIP", "PUSH")),
    "bulk order": async () => orders.push(await bulkOrder(live)),
    "sandbox order": () => order(sandbox, "STOCK", "CARD"),
    fulfilment: fulfilBy,
    later: async (by) => {
      clock.advance(60_000);
      await fulfilBy(by);
    },
    stock: (by) => addStock(by, "STOCK", 2),
  };
}

function deciding({ orders, toAny, next }: Mix): Changes {
  const act = (by: Store, what: OrderAct) =>
    toAny(orders, (id) => by.write(actOnOrder, { id, act: what, actor: "test" }));
  const parcel = () => ({ carrier: "Post", tracking: `T-${next()}`, trackingUrl: null });
  return {
    approval: (by) => act(by, { verb: "approve" }),
    cancellation: (by) => act(by, { verb: "cancel", reason: "no need" }),
    rejection: (by) => act(by, { verb: "reject", reason: "no stock" }),
    shipment: (by) => act(by, { verb: "ship", ...parcel() }),
    "corrected shipment": (by) => act(by, { verb: "correct", ...parcel() }),
  };
}

function delivering({ orders, toAny, next, live }: Mix): Changes {
  const toAnyItem = async (by: Store, change: (id: string) => Promise<unknown>) => {
    const items = await Promise.all(orders.map((id) => by.read((q) => itemsOfOrder(q, id), null)));
    return toAny(items.flat(), ({ id }) => change(id));
  };
  const record = (command: typeof completeItem) => (by: Store) => {
    const { iccid, activation_code: activationCode } = suppliedEsim(next());
    return toAnyItem(by, (id) => by.write(command, { id, iccid, activationCode, actor: "test" }));
  };
  const failure = { errorType: "refused", errorMessage: "no", actor: "test" };
  return {
    "supplied eSIM": record(completeItem),
    "corrected eSIM": record(correctItem),
    "failed item": (by) => toAnyItem(by, (id) => by.write(failItem, { id, ...failure })),
    "suspended eSIM": (by) =>
      toAny(orders, async (id) => {
        const { body } = await live.get(`/api/v1/orders/${id}/esims`);
        return by.write(suspendEsim, { iccid: body.esims[0].iccid, actor: "test" });
      }),
  };
}

async function eraseCustomer(tx: Tx, id: OrderId): Promise<void> {
  await clearCustomer(tx, await requireOrder(tx, id), { actor: "test", verb: "erase" });
}

async function eraseTravellers(tx: Tx, id: OrderId): Promise<void> {
  for (const item of await itemsOfOrder(tx, id)) await clearItem(tx, item, { actor: "test", verb: "erase" });
}

function clearing({ orders, pick }: Mix): Changes {
  return {
    "erased customer": (by) => by.write(eraseCustomer, pick(orders)),
    "erased travellers": (by) => by.write(eraseTravellers, pick(orders)),
    "new links": (by) => by.write(rotateLinkKey, { actor: "test" }),
    "new data key": (by) => rotateAndReseal(by, { actor: "test", rest: async () => undefined }),
  };
}

test("after every kind of change, by this process or another, orders read as they are", async () => {
  const random = seeded(14);
  const mix = mixOf(await shop(), random);
  const { store, other, live, sandbox, pick } = mix;
  const callers = [
    [live, "production"],
    [sandbox, "sandbox"],
  ] as const;
  await addStock(store, "STOCK", 3);
  const changes = { ...placing(mix), ...deciding(mix), ...delivering(mix), ...clearing(mix) };
  const done = new Set<string>();
  // Two more units are ordered than there are: of two orders one is rejected, one approved.
  const ordered = ["order from everywhere", "order from stock", "bulk order", "bulk order", "fulfilment"];
  const sent = ["shipment", "corrected shipment"];
  const first = [
    ...ordered,
    ...sent,
    "supplied eSIM",
    "failed item",
    "suspended eSIM",
    "rejection",
    "stock",
    "approval",
  ];
  first.push(...Object.keys(changes).filter((name) => !first.includes(name)));
  for (let step = 0; step < first.length + 30; step++) {
    const name = first[step] ?? pick(Object.keys(changes));
    // Many are refused, as of an order in another state.
    const ok = await changes[name]?.(random() < 0.5 ? store : other).then(
      () => true,
      () => false,
    );
    if (ok) done.add(name);
    await expectFresh(store, callers, `step ${step}, ${name}`);
  }
  expect(Object.keys(changes).filter((name) => !done.has(name))).toEqual([]);
});

/**
 * Columns whose change an order's owner can see in its records. A new one needs a migration of its own, in
 * src/core/store/migrations/triggers-*.ts, that puts it into the trigger of its table.
 */
const SEEN = {
  orders: [
    ...["order_number", "partner_id", "environment", "status", "currency", "total_cents", "refunded_cents", "quantity"],
    ...["product_id", "product_sku", "unit_price_cents", "metadata", "external_order_id", "customer_sealed"],
    ...["created_at", "updated_at", "first_unit", "scenario"],
  ],
  order_lines: [
    ...["order_id", "position", "product_id", "product_name", "product_sku", "product_type", "quantity"],
    ...["unit_price_cents", "status", "shipping"],
  ],
  order_items: ["order_id", "line_id", "position", "traveller_sealed", "status"],
  esims: ["iccid", "eid", "sealed", "order_id", "line_id", "environment"],
};

/** Columns that no record of an order shows to its owner. */
const UNSEEN = {
  orders: [
    ...["id", "wallet_balance_after_cents", "request_id", "created_by", "fulfilled_at", "cancelled_at", "reason"],
    ...["due_at", "leased_until", "lease_no", "reserved", "ahead_ms", "version"],
  ],
  order_lines: ["id", "partner_id", "environment", "created_at", "delivery_method", "supplier", "assigned"],
  order_items: [
    ...["id", "quantity", "supplier", "confirmation_number", "error_type", "error_message", "attempts", "due_at"],
    ...["leased_until", "lease_no", "deadline_at", "submitted_at", "confirmed_at", "activated_at", "cancelled_at"],
    ...["created_at", "updated_at"],
  ],
  esims: [
    ...["id", "product_id", "partner_id", "status", "status_at", "created_at", "assigned_at", "activated_at"],
    ...["expires_at", "used_mb", "total_mb", "usage_at", "low_data_percent", "expiry_notice", "country", "network"],
    ...["location_at"],
  ],
};

test("each column that an owner sees raises the version of its order; the others raise none", async () => {
  const { orders, orderLines: order_lines, orderItems: order_items, esims } = sqliteTables;
  const tables = { orders, order_lines, order_items, esims };
  const { store, location, live, order, fulfil } = await shop();
  await addStock(store, "STOCK", 1);
  const id = await order(live, "STOCK", "TRIP");
  await fulfil();
  const version = () => store.read(async (q) => (await requireOrder(q, id)).version, null);
  for (const name of ["orders", "order_lines", "order_items", "esims"] as const) {
    const columns = Object.keys(getTableColumns(tables[name]));
    expect(columns.toSorted(), name).toEqual([...SEEN[name], ...UNSEEN[name]].toSorted());
    const where = name === "orders" ? `id = '${id}'` : `order_id = '${id}'`;
    for (const column of columns.filter((each) => each !== "version")) {
      const before = await version();
      await runStatements(location, [`UPDATE ${name} SET ${column} = ${column} WHERE ${where}`]);
      const seen = SEEN[name];
      expect([column, (await version()) > before]).toEqual([column, seen.includes(column)]);
    }
  }
});

test("an ETag saves the body while an order or a list of products is unchanged", async () => {
  const { other, live, sandbox, order } = await shop();
  const id = await order(live, "CARD");
  const path = `/api/v1/orders/${id}`;
  const first = await live.get(path);
  const etag = first.headers.get("etag") ?? "";
  expect([etag, first.headers.get("cache-control")]).toEqual([
    expect.stringMatching(/^W\/"[\w-]{22}"$/),
    "private, no-cache",
  ]);
  for (const sent of [etag, etag.slice(2), `"other", ${etag}`, "*"]) {
    const unchanged = await live.get(path, { "if-none-match": sent });
    const { headers } = unchanged;
    expect([sent, unchanged.status, unchanged.body, headers.get("etag")]).toEqual([sent, 304, "", etag]);
    expect(headers.get("cache-control")).toBe("private, no-cache");
  }
  // Another environment of the partner has no such order, whatever it names.
  expect((await sandbox.get(path, { "if-none-match": etag })).status).toBe(404);
  const parcel = { carrier: "Post", tracking: "T-1", trackingUrl: null };
  await other.write(actOnOrder, { id, act: { verb: "ship", ...parcel }, actor: "test" });
  const changed = await live.get(path, { "if-none-match": etag });
  expect([changed.status, changed.body.status]).toEqual([200, "fulfilled"]);
  expect(changed.headers.get("etag")).not.toBe(etag);

  const products = await live.get("/api/v1/products");
  const tag = { "if-none-match": products.headers.get("etag") ?? "" };
  expect((await live.get("/api/v1/products", tag)).status).toBe(304);
  await addProducts(other, [{ sku: "STOCK", price_cents: 200 }]);
  expect((await live.get("/api/v1/products", tag)).status).toBe(200);
});
