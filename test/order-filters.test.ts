import { expect, test } from "vitest";
import { addProducts } from "./support/catalog.ts";
import { type Caller, startPlatform } from "./support/platform.ts";
import { rewind } from "./support/store.ts";

type Lines = [id: string | undefined, quantity: number][];

async function place(caller: Caller, lines: Lines): Promise<string> {
  const line_items = lines.map(([product_id, quantity]) => ({ product_id, quantity }));
  const headers = { "idempotency-key": crypto.randomUUID() };
  return (await caller.send("POST", "/api/v1/orders", { line_items }, headers)).body.id;
}

async function placeBulk(caller: Caller, external_order_id: string, lines: Lines): Promise<string> {
  const line_items = lines.map(([product_id, quantity]) => ({ product_id, quantity }));
  const customer = { email: "mia@example.com", name: "Mia Chen" };
  const { body } = await caller.send("POST", "/api/v1/orders/bulk", {
    orders: [{ external_order_id, line_items, customer }],
  });
  return body.results[0].service_order_id;
}

/** The ids of all orders that a query finds, read two at a time. */
async function found(caller: Caller, query: string): Promise<string[]> {
  const ids: string[] = [];
  let cursor = "";
  do {
    const { status, body } = await caller.get(`/api/v1/orders?limit=2&${query}${cursor && `&cursor=${cursor}`}`);
    expect(status, query).toBe(200);
    ids.push(...body.data.map((each: { id: string }) => each.id));
    cursor = body.pagination.next_cursor ?? "";
  } while (cursor !== "");
  return ids;
}

/** Two products and eight orders, one a minute from 01:00 on, newest first; every third a bulk order. */
async function setUp() {
  const platform = await startPlatform({ start: "2026-03-02T01:00:00.000Z" });
  const { A, B } = await addProducts(platform.store, [{ sku: "A" }, { sku: "B" }]);
  const caller = await platform.caller({ slug: "acme" });
  const lines: Lines[] = [
    [[A, 1]],
    [[B, 1]],
    [
      [B, 1],
      [A, 1],
      [A, 2],
    ],
    [[A, 3]],
  ];
  const orders: { id: string; minute: number; products: (string | undefined)[] }[] = [];
  for (let minute = 0; minute < 8; minute++) {
    const of = lines[minute % 4] ?? [];
    const id = minute % 3 === 2 ? await placeBulk(caller, `shop-${minute}`, of) : await place(caller, of);
    orders.unshift({ id, minute, products: of.map(([product]) => product) });
    platform.clock.advance(60_000);
  }
  const having = (product: string | undefined) => orders.filter(({ products }) => products.includes(product));
  return { platform, caller, orders, having, A, B };
}

const idsOf = (orders: { id: string }[]) => orders.map(({ id }) => id);

test("created_after includes its own time, created_before excludes it", async () => {
  const { caller, orders } = await setUp();
  const minutes = async (query: string) => {
    const ids = await found(caller, query);
    return orders.filter(({ id }) => ids.includes(id)).map(({ minute }) => minute);
  };
  expect(await found(caller, "created_after=&created_before=&product_id=&external_order_id=")).toEqual(idsOf(orders));
  expect(await minutes("created_after=2026-03-02T01:05:00Z")).toEqual([7, 6, 5]);
  expect(await minutes("created_after=2026-03-02T01:05:00.001Z")).toEqual([7, 6]);
  expect(await minutes("created_before=2026-03-02T01:02:00Z")).toEqual([1, 0]);
  expect(await minutes("created_after=2026-03-02T12:01:00%2B11:00&created_before=2026-03-02T01:04:00Z")).toEqual([
    3, 2, 1,
  ]);
  expect(await minutes("created_after=2026-03-02T01:04:00Z&created_before=2026-03-02T01:04:00Z")).toEqual([]);
  expect(await minutes("created_after=2026-03-02T01:05:00Z&status=pending_payment")).toEqual([7, 6, 5]);
  expect(await minutes("created_after=2026-03-02T01:05:00Z&status=paid")).toEqual([]);
});

test("product_id finds an order once by any of its lines, together with the other filters", async () => {
  const { platform, caller, orders, having, A, B } = await setUp();
  expect(await found(caller, `product_id=${A}`)).toEqual(idsOf(having(A)));
  expect(await found(caller, `product_id=${B}`)).toEqual(idsOf(having(B)));
  const late = having(B).filter(({ minute }) => minute >= 2 && minute < 6);
  const window = "created_after=2026-03-02T01:02:00Z&created_before=2026-03-02T01:06:00Z";
  expect(await found(caller, `product_id=${B}&${window}`)).toEqual(idsOf(late));
  await platform.fulfill();
  const [after] = [await place(caller, [[A, 1]])];
  expect(await found(caller, `product_id=${A}&status=pending_payment`)).toEqual([after]);
  expect(await found(caller, `product_id=${A}&status=fulfilled`)).toEqual(idsOf(having(A)));
  expect(await found(caller, `product_id=${crypto.randomUUID()}`)).toEqual([]);
  const stranger = await platform.caller();
  const live = await platform.credential("acme", { live: true });
  for (const other of [stranger, live]) expect(await found(other, `product_id=${A}`)).toEqual([]);
  expect(orders).toHaveLength(8);
});

test("external_order_id finds the one bulk order, if the other filters match too", async () => {
  const { platform, caller, orders, A, B } = await setUp();
  const fifth = orders.filter(({ minute }) => minute === 5);
  expect(await found(caller, "external_order_id=shop-5")).toEqual(idsOf(fifth));
  const through = `product_id=${B}&status=pending_payment&created_after=2026-03-02T01:05:00Z`;
  expect(await found(caller, `external_order_id=shop-5&${through}`)).toEqual(idsOf(fifth));
  for (const other of [
    `product_id=${A}`,
    "status=paid",
    "created_after=2026-03-02T01:05:01Z",
    "created_before=2026-03-02T01:05:00Z",
  ]) {
    expect(await found(caller, `external_order_id=shop-5&${other}`), other).toEqual([]);
  }
  expect(await found(caller, "external_order_id=shop-1")).toEqual([]);
  // An Idempotency-Key of the same text names another order.
  const body = { line_items: [{ product_id: A, quantity: 1 }] };
  await caller.send("POST", "/api/v1/orders", body, { "idempotency-key": "key-1" });
  expect(await found(caller, "external_order_id=key-1")).toEqual([]);
  expect(await found(await platform.caller(), "external_order_id=shop-5")).toEqual([]);
});

test("a cursor is valid only with the filters it was made for", async () => {
  const { caller, A, B } = await setUp();
  const window = "created_after=2026-03-02T01:00:00Z&created_before=2026-03-02T02:00:00Z";
  const { body } = await caller.get(`/api/v1/orders?limit=1&product_id=${A}&${window}`);
  const next = `cursor=${body.pagination.next_cursor}`;
  const spelled = "created_after=2026-03-02T00:00:00-01:00&created_before=2026-03-02T02:00:00Z";
  expect((await caller.get(`/api/v1/orders?product_id=${A}&${spelled}&${next}`)).status).toBe(200);
  for (const query of [
    `product_id=${A}`,
    `product_id=${B}&${window}`,
    `product_id=${A}&${window}&external_order_id=shop-2`,
    `product_id=${A}&created_after=2026-03-02T01:00:00Z&created_before=2026-03-02T02:00:01Z`,
    `product_id=${A}&created_after=2026-03-02T01:00:01Z&created_before=2026-03-02T02:00:00Z`,
  ]) {
    const reply = await caller.get(`/api/v1/orders?${query}&${next}`);
    expect([reply.status, reply.body.type], query).toEqual([400, "http://esim.test/docs/errors/invalid_cursor"]);
  }
});

test("malformed times and ids are refused, naming the field", async () => {
  const caller = await (await startPlatform()).caller();
  for (const [field, value] of [
    ["created_after", "2026-03-02"],
    ["created_after", "2026-02-30T00:00:00Z"],
    ["created_after", "2026-03-02T01:00:00"],
    ["created_after", "2026-03-02T01:00:00Z[UTC]"],
    ["created_before", "yesterday"],
    ["created_before", "1772413200"],
    ["product_id", "EU5"],
    ["external_order_id", "x".repeat(256)],
  ] as const) {
    const { status, body } = await caller.get(`/api/v1/orders?${field}=${encodeURIComponent(value)}`);
    expect([status, Object.keys(body.errors)], value).toEqual([400, [field]]);
  }
});

test("orders of an earlier version are found by product after the next start", async () => {
  const { platform, caller, having, A } = await setUp();
  const emptied = "UPDATE order_lines SET partner_id = '', environment = '', created_at = 0";
  await rewind(platform.location, "9003_order_line_owners", [emptied]);
  expect(await found(caller, `product_id=${A}`)).toEqual([]);
  await platform.again();
  expect(await found(caller, `product_id=${A}`)).toEqual(idsOf(having(A)));
});

test("single orders keep an external_order_id, share it, and are found by it however it is spelled", async () => {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [{ sku: "A" }]);
  const caller = await platform.caller();
  const place = async (external_order_id: string, key: string) => {
    const body = { external_order_id, line_items: [{ product_id: products.A, quantity: 1 }] };
    return caller.send("POST", "/api/v1/orders", body, { "idempotency-key": key });
  };
  const first = await place("  Cafe\u0301 7 ", "k-1");
  expect(first.body).toMatchObject({ external_order_id: "Café 7" });
  const second = await place("Café 7", "k-2");
  expect(second.body.id).not.toBe(first.body.id);
  const bulk = await placeBulk(caller, " Café 7", [[products.A ?? "", 1]]);
  const again = await placeBulk(caller, "Cafe\u0301 7", [[products.A ?? "", 1]]);
  expect(again).toBe(bulk);
  for (const spelled of ["Café 7", " Cafe\u0301 7 "]) {
    const query = `external_order_id=${encodeURIComponent(spelled)}`;
    expect((await found(caller, query)).toSorted()).toEqual([first.body.id, second.body.id, bulk].toSorted());
    expect(await found(caller, `${query}&product_id=${products.A}&status=failed`)).toEqual([]);
  }
  expect((await place("   ", "k-3")).status).toBe(400);
});
