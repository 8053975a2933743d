import { expect, test } from "vitest";
import { luhnValid } from "../src/core/kernel/check-digits.ts";
import { isoTime } from "../src/core/kernel/clock.ts";
import { rejectOrder } from "../src/core/orders/act.ts";
import { approveOrder } from "../src/core/orders/approve.ts";
import { checkWallets } from "../src/core/wallet/check.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { type Caller, type Platform, type Reply, startPlatform } from "./support/platform.ts";

async function order(
  caller: Caller,
  lines: [id: string | undefined, quantity: number][],
  key: string = crypto.randomUUID(),
) {
  const line_items = lines.map(([product_id, quantity]) => ({ product_id, quantity }));
  return caller.send("POST", "/api/v1/orders", { line_items }, { "idempotency-key": key });
}

async function balance(caller: Caller, currency = "AUD"): Promise<number> {
  const { body } = await caller.get("/api/v1/balance");
  return body.balances.find((each: { currency: string }) => each.currency === currency)?.balance_cents ?? 0;
}

async function events(platform: Platform, subject: string) {
  const query = async (q: Parameters<Parameters<Platform["store"]["read"]>[0]>[0], id: string) => {
    const rows = await q.db.select().from(q.t.events).orderBy(q.t.events.id);
    return rows.filter((row) => row.subject_id === id);
  };
  return platform.store.read(query, subject);
}

async function ledgerAgrees(platform: Platform): Promise<void> {
  const check = await platform.store.read(checkWallets, { minimum: () => null });
  expect(check).toMatchObject({ ok: true, unbalanced: [] });
}

test("a production order is charged, fulfilled from stock, and delivers its eSIMs", async () => {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [
    { sku: "EU5", price_cents: 1250, activation_policy: "On first use" },
  ]);
  const iccids = await addStock(platform.store, "EU5", 3);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 10_000);

  const created = await order(caller, [[products.EU5, 2]]);
  expect(created.status).toBe(201);
  expect(created.headers.get("location")).toBe(`/api/v1/orders/${created.body.id}`);
  expect(created.headers.get("idempotent-replayed")).toBeNull();
  expect(created.body).toMatchObject({
    order_number: expect.stringMatching(/^ORD-20260302-[0-9A-Z]{5}$/),
    partner_id: caller.partnerId,
    product_id: products.EU5,
    product_sku: "EU5",
    quantity: 2,
    unit_price_cents: 1250,
    total_price_cents: 2500,
    total_amount_cents: 2500,
    currency: "AUD",
    status: "paid",
    metadata: {},
    wallet_balance_after_cents: 7500,
    created_at: isoTime(platform.clock.now()),
  });
  expect(await balance(caller)).toBe(7500);

  const read = await caller.get(`/api/v1/orders/${created.body.id}`);
  expect(read.body).toMatchObject({ status: "fulfilled", total_amount_cents: 2500 });
  expect(read.body.line_items).toMatchObject([
    { product_name: "Plan EU5", product_type: "esim_qr_pregen", price_per_unit_cents: 1250, subtotal_cents: 2500 },
  ]);
  expect(read.body.line_items[0].fulfillment.esims).toHaveLength(2);

  const { body } = await caller.get(`/api/v1/orders/${created.body.id}/esims`);
  expect(body).toMatchObject({ order_id: created.body.id, count: 2 });
  expect(body.esims.map((esim: { iccid: string }) => esim.iccid).sort()).toEqual(iccids.slice(0, 2).sort());
  expect(body.esims[0]).toMatchObject({
    eid: null,
    smdp_address: "smdp.example.net",
    activation_code: expect.stringMatching(/^LPA:1\$smdp\.example\.net\$MATCH-\d+$/),
    status: "inactive",
    activation_policy: "On first use",
    activated_at: null,
  });
  expect(body.esims[0]).not.toHaveProperty("is_test");
  const kinds = (await events(platform, created.body.id)).map((event) => event.kind);
  expect(kinds).toEqual(["order.created", "payment.completed", "order.fulfilled", "esims.ready"]);
  await ledgerAgrees(platform);
});

test("a sandbox order costs nothing, takes no stock, and gets synthetic eSIMs", async () => {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [
    { sku: "EU5" },
    { sku: "SIM", product_type: "physical_sim", delivery_method: "shipping" },
  ]);
  await addStock(platform.store, "EU5", 1);
  const caller = await platform.caller();
  await platform.fund(caller.partnerId, 500);

  const created = await order(caller, [
    [products.EU5, 3],
    [products.SIM, 1],
  ]);
  expect(created.body).toMatchObject({
    status: "pending_payment",
    metadata: { test: true },
    wallet_balance_after_cents: 500,
  });
  const early = await caller.get(`/api/v1/orders/${created.body.id}/esims`);
  expect(early).toMatchObject({ status: 400, body: { type: "http://esim.test/docs/errors/order_not_fulfilled" } });
  await platform.fulfill();
  const { body } = await caller.get(`/api/v1/orders/${created.body.id}/esims`);
  expect(body.count).toBe(3);
  for (const esim of body.esims) {
    expect(esim.iccid).toMatch(/^8999\d{15}$/);
    expect(luhnValid(esim.iccid)).toBe(true);
    expect(esim).toMatchObject({ is_test: true, smdp_address: "smdp.sandbox.invalid" });
  }
  const read = await caller.get(`/api/v1/orders/${created.body.id}`);
  expect(read.body.line_items[1].fulfillment).toMatchObject({ status: "shipped", carrier: "sandbox" });
  expect(await balance(caller)).toBe(500);
  const kinds = (await events(platform, created.body.id)).map((event) => event.kind);
  expect(kinds).toEqual(["order.created", "order.fulfilled", "esims.ready"]);
});

test("1,000 sandbox units have as many ICCIDs", async () => {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [{ sku: "EU5" }]);
  const caller = await platform.caller();
  const created = await order(caller, [[products.EU5, 1000]]);
  await platform.fulfill();
  const { body } = await caller.get(`/api/v1/orders/${created.body.id}/esims`);
  expect(new Set(body.esims.map((esim: { iccid: string }) => esim.iccid)).size).toBe(1000);
});

test("an insufficient balance is a 402 with its exact fields, places no order, and leaves the key free", async () => {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [{ sku: "EU5", price_cents: 1250 }]);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 2000);
  const refused = await order(caller, [[products.EU5, 2]], "key-1");
  expect(refused.status).toBe(402);
  expect(refused.headers.get("content-type")).toMatch(/^application\/problem\+json/);
  expect(refused.body).toMatchObject({
    type: "http://esim.test/docs/errors/insufficient_balance",
    status: 402,
    currency: "AUD",
    balance_cents: 2000,
    required_cents: 2500,
    shortfall_cents: 500,
    instance: "/api/v1/orders",
  });
  expect((await caller.get("/api/v1/orders")).body.data).toEqual([]);
  expect(await balance(caller)).toBe(2000);
  await platform.fund(caller.partnerId, 500);
  expect((await order(caller, [[products.EU5, 2]], "key-1")).status).toBe(201);
  expect(await balance(caller)).toBe(0);
  await ledgerAgrees(platform);
});

test("a repeated key replays the present order; with another payload it is refused", async () => {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [{ sku: "EU5" }]);
  await addStock(platform.store, "EU5", 5);
  const caller = await platform.caller({ live: true, slug: "acme" });
  await platform.fund(caller.partnerId, 5000);
  const body = { line_items: [{ product_id: products.EU5, quantity: 1 }], metadata: { a: 1, b: [2] } };
  const reordered = `{"metadata":{"b":[2],"a":1},"line_items":[{"quantity":1,"product_id":"${products.EU5}"}]}`;
  const first = await caller.send("POST", "/api/v1/orders", body, { "idempotency-key": "k" });
  await platform.fulfill();
  const again = await caller.send("POST", "/api/v1/orders", reordered, { "idempotency-key": "k" });
  expect(again.status).toBe(200);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(again.body).toMatchObject({ id: first.body.id, status: "fulfilled", wallet_balance_after_cents: 3750 });
  const other = await order(caller, [[products.EU5, 2]], "k");
  expect(other).toMatchObject({ status: 409, body: { type: "http://esim.test/docs/errors/idempotency_conflict" } });
  const sandbox = await platform.credential("acme", {});
  expect((await order(sandbox, [[products.EU5, 2]], "k")).status).toBe(201);
  expect(await balance(caller)).toBe(3750);
});

test("50 concurrent requests with one key: one 201, 49 replays of the same order", async () => {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [{ sku: "EU5", price_cents: 100 }]);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 10_000);
  const replies = await Promise.all(Array.from({ length: 50 }, () => order(caller, [[products.EU5, 1]], "same")));
  const count = (status: number) => replies.filter((reply) => reply.status === status).length;
  expect([count(201), count(200)]).toEqual([1, 49]);
  expect(new Set(replies.map((reply) => reply.body.id)).size).toBe(1);
  expect(await balance(caller)).toBe(9900);
  await ledgerAgrees(platform);
});

test("64 concurrent orders on funds for 10: exactly 10 succeed", async () => {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [{ sku: "EU5", price_cents: 100 }]);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 1099);
  const replies = await Promise.all(Array.from({ length: 64 }, () => order(caller, [[products.EU5, 1]])));
  const count = (status: number) => replies.filter((reply) => reply.status === status).length;
  expect([count(201), count(402)]).toEqual([10, 54]);
  expect(await balance(caller)).toBe(99);
  await ledgerAgrees(platform);
});

test("insufficient stock holds the order for review; approve delivers after a refill, reject refunds", async () => {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [
    { sku: "EU5", price_cents: 100 },
    { sku: "US5", price_cents: 200 },
  ]);
  await addStock(platform.store, "EU5", 5);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 1000);
  const held = await order(caller, [
    [products.EU5, 2],
    [products.US5, 1],
  ]);
  await platform.fulfill();
  expect((await caller.get(`/api/v1/orders/${held.body.id}`)).body.status).toBe("waiting_review");
  const approving = { id: held.body.id, actor: "operator" };
  const short = { slug: "conflict", message: expect.stringMatching(/US5 needs 1, has 0/) };
  await expect(platform.store.write(approveOrder, approving)).rejects.toMatchObject(short);

  // All lines or none: the stock of EU5 stays free.
  const other = await order(caller, [[products.EU5, 5]]);
  await platform.fulfill();
  expect((await caller.get(`/api/v1/orders/${other.body.id}`)).body.status).toBe("fulfilled");

  await addStock(platform.store, "EU5", 2);
  await addStock(platform.store, "US5", 1);
  await platform.store.write(approveOrder, approving);
  await platform.fulfill();
  expect((await caller.get(`/api/v1/orders/${held.body.id}/esims`)).body.count).toBe(3);

  const refused = await order(caller, [[products.US5, 1]].map(([id]) => [id, 1]) as [string, number][]);
  expect(refused.status).toBe(402);
  await platform.fund(caller.partnerId, 200);
  const next = await order(caller, [[products.US5, 1]]);
  await platform.fulfill();
  expect(await balance(caller)).toBe(100);
  await platform.store.write(rejectOrder, { id: next.body.id, reason: "no more US5", actor: "operator" });
  expect((await caller.get(`/api/v1/orders/${next.body.id}`)).body).toMatchObject({
    status: "cancelled",
    line_items: [{ fulfillment: { status: "cancelled" } }],
  });
  expect(await balance(caller)).toBe(300);
  await ledgerAgrees(platform);
});

test("orders are visible only to their partner, in their environment", async () => {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [{ sku: "EU5" }]);
  const owner = await platform.caller({ slug: "owner" });
  const liveOwner = await platform.credential("owner", { live: true });
  const stranger = await platform.caller({ slug: "stranger" });
  const { body } = await order(owner, [[products.EU5, 1]]);
  for (const caller of [liveOwner, stranger]) {
    expect((await caller.get(`/api/v1/orders/${body.id}`)).status).toBe(404);
    expect((await caller.get(`/api/v1/orders/${body.id}/esims`)).status).toBe(404);
    expect((await caller.get("/api/v1/orders")).body.data).toEqual([]);
  }
});

test("the list pages through all orders, newest first, by status too", async () => {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [{ sku: "EU5" }]);
  const caller = await platform.caller();
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) {
    ids.unshift((await order(caller, [[products.EU5, 1]])).body.id);
    if (i % 2 === 0) platform.clock.advance(1000);
  }
  const seen: string[] = [];
  let cursor = "";
  do {
    const { body } = await caller.get(`/api/v1/orders?limit=2${cursor && `&cursor=${cursor}`}`);
    seen.push(...body.data.map((each: { id: string }) => each.id));
    expect(body.pagination.count).toBe(body.data.length);
    cursor = body.pagination.next_cursor ?? "";
    expect(body.pagination.has_more).toBe(cursor !== "");
  } while (cursor !== "");
  expect(seen).toEqual(ids);
  const page = await caller.get("/api/v1/orders?limit=2");
  const stolen = page.body.pagination.next_cursor;
  expect((await caller.get(`/api/v1/orders?limit=2&status=paid&cursor=${stolen}`)).body.type).toMatch(
    /invalid_cursor$/,
  );
  expect((await caller.get("/api/v1/orders?status=pending_payment")).body.pagination.count).toBe(5);
  expect((await caller.get("/api/v1/orders?status=paid")).body.data).toEqual([]);
});

const refusals: [name: string, body: unknown, field: string, words: RegExp][] = [
  ["no lines", { line_items: [] }, "line_items", /between 1 and 50/],
  ["lines missing", {}, "line_items", /required/],
  ["quantity 0", { line_items: [{ product_id: "ID", quantity: 0 }] }, "line_items.0.quantity", /between 1 and 10000/],
  ["quantity as text", { line_items: [{ product_id: "ID", quantity: "1" }] }, "line_items.0.quantity", /whole number/],
  ["no uuid", { line_items: [{ product_id: "EU5", quantity: 1 }] }, "line_items.0.product_id", /UUID/],
  [
    "unknown product",
    { line_items: [{ product_id: crypto.randomUUID(), quantity: 1 }] },
    "line_items.0.product_id",
    /catalog/,
  ],
  ["inactive product", { line_items: [{ product_id: "OFF", quantity: 1 }] }, "line_items.0.product_id", /inactive/],
  ["out of stock", { line_items: [{ product_id: "OUT", quantity: 1 }] }, "line_items.0.product_id", /out of stock/],
  [
    "two currencies",
    {
      line_items: [
        { product_id: "ID", quantity: 1 },
        { product_id: "USD", quantity: 1 },
      ],
    },
    "line_items",
    /one currency/,
  ],
  ["too dear", { line_items: [{ product_id: "DEAR", quantity: 10_000 }] }, "line_items", /too large/],
  [
    "metadata too large",
    { line_items: [{ product_id: "ID", quantity: 1 }], metadata: { a: "x".repeat(17_000) } },
    "metadata",
    /16 KiB/,
  ],
  [
    "metadata too deep",
    { line_items: [{ product_id: "ID", quantity: 1 }], metadata: deep(33) },
    "metadata",
    /32 levels/,
  ],
  ["metadata no object", { line_items: [{ product_id: "ID", quantity: 1 }], metadata: "x" }, "metadata", /object/],
];

function deep(levels: number): Record<string, unknown> {
  return levels === 1 ? {} : { a: deep(levels - 1) };
}

test("malformed orders are refused by field, and nothing is charged or stored", async () => {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [
    { sku: "ID" },
    { sku: "USD", currency: "USD" },
    { sku: "OFF", status: "inactive" },
    { sku: "OUT", status: "out_of_stock" },
    { sku: "DEAR", price_cents: Number.MAX_SAFE_INTEGER },
  ]);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 100_000);
  const named = (body: unknown) =>
    JSON.stringify(body).replaceAll(/"(ID|USD|OFF|OUT|DEAR)"/g, (_, sku) => `"${products[sku]}"`);
  for (const [name, body, field, words] of refusals) {
    const reply = await caller.send("POST", "/api/v1/orders", named(body), { "idempotency-key": "x" });
    expect(reply.status, name).toBe(400);
    expect(reply.body.type, name).toMatch(/\/validation$/);
    expect(reply.body.errors[field]?.join(), name).toMatch(words);
  }
  const valid = { line_items: [{ product_id: products.ID, quantity: 1 }] };
  const keys: [string | undefined, RegExp][] = [
    [undefined, /required/],
    ["", /required/],
    ["k".repeat(256), /printable/],
  ];
  for (const [key, words] of keys) {
    const headers: Record<string, string> = key === undefined ? {} : { "idempotency-key": key };
    const reply: Reply = await caller.send("POST", "/api/v1/orders", valid, headers);
    expect(reply.status).toBe(400);
    expect(reply.body.errors["Idempotency-Key"].join()).toMatch(words);
  }
  expect((await caller.get("/api/v1/orders")).body.data).toEqual([]);
  expect(await balance(caller)).toBe(100_000);
});

test("a production order of price zero has a balanced ledger", async () => {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [{ sku: "FREE", price_cents: 0 }]);
  await addStock(platform.store, "FREE", 1);
  const caller = await platform.caller({ live: true });
  const created = await order(caller, [[products.FREE, 1]]);
  expect(created).toMatchObject({ status: 201, body: { total_price_cents: 0, wallet_balance_after_cents: 0 } });
  await platform.fulfill();
  await ledgerAgrees(platform);
});

test("a missing Idempotency-Key is named together with the faults of the body", async () => {
  const platform = await startPlatform();
  const caller = await platform.caller();
  const { status, body } = await caller.send("POST", "/api/v1/orders", { line_items: [] });
  expect([status, body.type, body.errors]).toEqual([
    400,
    "http://esim.test/docs/errors/validation",
    { line_items: ["must have between 1 and 50 items"], "Idempotency-Key": ["is required"] },
  ]);
  expect(body.detail).toBe("line_items must have between 1 and 50 items (and 1 more).");
  const edited = await caller.send("PATCH", "/api/v1/activations/no-uuid", { note: 5 });
  expect(Object.keys(edited.body.errors)).toEqual(["id", "note"]);
});
