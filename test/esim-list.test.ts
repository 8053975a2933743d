import { expect, test } from "vitest";
import { deliveredEsims } from "../src/core/esims/delivered.ts";
import { activateEsim, makeActive, makeSuspended, suspendEsim } from "../src/core/esims/life.ts";
import type { ProductId } from "../src/core/kernel/brand.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { deskOf } from "./support/desk.ts";
import { type Caller, type Platform, startPlatform } from "./support/platform.ts";
import { create, lines } from "./support/quotes.ts";

interface Esim {
  id: string;
  iccid: string;
  status: string;
  order_id: string;
  product_sku: string;
  expires_at: string | null;
}

/** Every eSIM of the list, page by page. */
async function all(caller: Caller, query = "", limit = 2): Promise<Esim[]> {
  const rows: Esim[] = [];
  for (let cursor = ""; ; ) {
    const { status, body } = await caller.get(`/api/v1/esims?limit=${limit}&${query}${cursor}`);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.pagination.count).toBe(body.data.length);
    rows.push(...body.data);
    if (!body.pagination.has_more) return rows;
    expect(body.data).toHaveLength(limit);
    cursor = `&cursor=${body.pagination.next_cursor}`;
  }
}

/** The delivery lists of orders, together. */
async function deliveries(caller: Caller, orders: string[]): Promise<Esim[]> {
  const lists = await Promise.all(orders.map((id) => caller.get(`/api/v1/orders/${id}/esims`)));
  return lists.flatMap(({ body }) => body.esims);
}

/** Orders of two products and SIM cards, delivered; the last one of them waits for stock. */
async function sold(platform: Platform, caller: Caller, products: Record<string, ProductId>): Promise<string[]> {
  const { EU5, JP1, SIM } = products;
  const ids: string[] = [];
  for (const asked of [lines([EU5, 3]), lines([SIM, 1]), lines([JP1, 1], [EU5, 2], [JP1, 2]), lines([EU5, 1])]) {
    ids.push((await create(caller, asked)).body.id);
    platform.clock.advance(1_000);
    await platform.fulfill();
  }
  return ids;
}

/** Activates one eSIM and suspends another, of either environment. */
async function change({ store }: Platform, live: boolean, [active = "", suspended = ""]: string[]): Promise<void> {
  const actor = "test";
  if (live) {
    await store.write(activateEsim, { iccid: active, actor });
    await store.write(suspendEsim, { iccid: suspended, actor });
    return;
  }
  await store.write(async (tx) => {
    const known = async (iccid: string) => (await deliveredEsims(tx, iccid))[0];
    const [one, other] = [await known(active), await known(suspended)];
    if (one === undefined || other === undefined) throw new Error("no such eSIM");
    await makeActive(tx, one, { actor, at: tx.now });
    await makeSuspended(tx, other, { actor, at: tx.now });
  }, null);
}

const sorted = (esims: { iccid: string }[]) => esims.map(({ iccid }) => iccid).sort();

/** What a partner has: all that it lists, two orders of it, and the only eSIM that has an expiry. */
interface Listed {
  listed: Esim[];
  products: Record<string, ProductId>;
  orders: string[];
  active: string;
}

/** Each filter and pair of filters lists what of the whole list fits it. */
async function everyFilter(caller: Caller, { listed, products, orders, active }: Listed): Promise<void> {
  const iccids = async (query: string) => sorted(await all(caller, query));
  const [third = ""] = orders;
  const matching = (fits: (esim: Esim) => boolean) => sorted(listed.filter(fits));
  for (const status of ["active", "suspended", "inactive", "expired"]) {
    expect(await iccids(`status=${status}`), status).toEqual(matching((esim) => esim.status === status));
    for (const order of orders) {
      const fits = (esim: Esim) => esim.status === status && esim.order_id === order;
      expect(await iccids(`status=${status}&order_id=${order}`)).toEqual(matching(fits));
    }
    for (const sku of ["EU5", "JP1"]) {
      const fits = (esim: Esim) => esim.status === status && esim.product_sku === sku;
      expect(await iccids(`status=${status}&product_id=${products[sku]}`)).toEqual(matching(fits));
    }
  }
  for (const sku of ["EU5", "JP1", "SIM"]) {
    const query = `product_id=${products[sku]}`;
    expect(await iccids(query)).toEqual(matching((esim) => esim.product_sku === sku));
    const fits = (esim: Esim) => esim.product_sku === sku && esim.order_id === third;
    expect(await iccids(`${query}&order_id=${third}`)).toEqual(matching(fits));
  }
  expect(await iccids(`order_id=${third}`)).toEqual(matching((esim) => esim.order_id === third));
  expect(await iccids("expires_before=2026-03-05T00:00:00Z")).toEqual([]);
  for (const query of ["", "&status=active", `&order_id=${third}`]) {
    expect(await iccids(`expires_before=2027-01-01T00:00:00Z${query}`)).toEqual([active]);
  }
}

test.each([true, false])("eSIMs are listed over all orders with every filter; in production: %s", async (live) => {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [
    { sku: "EU5", price_cents: 10 },
    { sku: "JP1", price_cents: 10, validity_days: 7, data_amount_mb: 1024 },
    { sku: "SIM", product_type: "physical_sim", delivery_method: "shipping" },
  ]);
  await addStock(platform.store, "EU5", 6);
  await addStock(platform.store, "JP1", 3);
  const caller = await platform.caller({ live });
  await platform.fund(caller.partnerId, 10_000);
  const other = await platform.caller({ live });
  await platform.fund(other.partnerId, 10_000);
  expect(await all(caller)).toEqual([]);
  const [first = "", , third = "", fourth = ""] = await sold(platform, caller, products);
  await create(other, lines([products.EU5, 1]));
  await platform.fulfill();
  // What waits for stock has no eSIMs yet.
  expect((await create(caller, lines([products.EU5, 50]))).status).toBe(201);
  const orders = [fourth, third, first];
  const delivered = await deliveries(caller, orders);
  expect(delivered).toHaveLength(9);
  // One of each product, of two orders.
  await change(platform, live, [delivered[1]?.iccid ?? "", delivered[7]?.iccid ?? ""]);
  const expected = await deliveries(caller, orders);

  const listed = await all(caller);
  expect(sorted(listed)).toEqual(sorted(expected));
  expect(listed.map(({ order_id }) => order_id)).toEqual([fourth, ...Array(5).fill(third), ...Array(3).fill(first)]);
  // Each is what its delivery list shows, and more.
  for (const esim of listed) expect(esim).toMatchObject(expected.find(({ iccid }) => iccid === esim.iccid) ?? {});
  const [active] = await all(caller, "status=active");
  expect(active).toMatchObject({
    iccid: delivered[1]?.iccid,
    order_id: third,
    order_number: expect.stringMatching(/^ORD-/),
    expires_at: expect.any(String),
    data_usage: { used_mb: 0, updated_at: null },
  });

  await everyFilter(caller, { listed, products, orders: [third, first], active: active?.iccid ?? "" });
  expect(await all(other, `order_id=${third}`)).toEqual([]);
  expect(await all(other)).toHaveLength(live ? 0 : 1);
  const elsewhere = await platform.credential("partner-1", { live: !live });
  expect(await all(elsewhere)).toEqual([]);
  const { body } = await caller.get("/api/v1/esims?limit=1");
  const wrong = await caller.get(`/api/v1/esims?limit=1&status=active&cursor=${body.pagination.next_cursor}`);
  expect(wrong).toMatchObject({ status: 400, body: { title: "Invalid Cursor" } });
  expect((await caller.get("/api/v1/esims?expires_before=soon")).status).toBe(400);
});

test("the soonest expiry comes first, whatever the status", async () => {
  const platform = await startPlatform();
  const { store, clock } = platform;
  const { EU5 } = await addProducts(store, [{ sku: "EU5", price_cents: 10, validity_days: 30 }]);
  const stock = await addStock(store, "EU5", 5);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 1_000);
  await create(caller, lines([EU5, 5]));
  await platform.fulfill();
  const turns = [3, 0, 4, 1].map((at) => stock[at] ?? "");
  for (const iccid of turns) {
    await store.write(activateEsim, { iccid, actor: "test" });
    clock.advance(600_000);
  }
  await store.write(suspendEsim, { iccid: turns[1] ?? "", actor: "test" });
  const soon = await all(caller, "expires_before=2026-04-02T00:00:00Z", 1);
  expect(soon.map(({ iccid }) => iccid)).toEqual(turns);
  const before = soon[2]?.expires_at ?? "";
  expect((await all(caller, `expires_before=${before}`)).map(({ iccid }) => iccid)).toEqual(turns.slice(0, 2));
});

test("the terminal lists them at a server, and of the sandbox; the operator's reading is audited", async () => {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [{ sku: "EU5", price_cents: 10 }]);
  await addStock(platform.store, "EU5", 3);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 1_000);
  const { body: order } = await create(caller, lines([products.EU5, 3]));
  const sandbox = await platform.credential("partner-1", {});
  const { body: test } = await create(sandbox, lines([products.EU5, 2]));
  await platform.fulfill();
  const desk = deskOf(platform);
  const remote = desk.at(caller);
  const { data } = await remote.json("esims list --sku EU5 --all");
  expect(data).toHaveLength(3);
  expect(data[0]).toMatchObject({ order_number: order.order_number, activation_code: expect.stringMatching(/^LPA/) });
  expect((await remote.json(`esims list --order ${order.order_number} --limit 1`)).pagination.has_more).toBe(true);
  expect((await remote.run("esims list --all --csv")).stdout.split("\n")).toHaveLength(4);
  expect((await remote.run("esims list")).stdout).toMatch(/iccid .*status .*sku .*order/);
  for (const flags of ["--since 7d", "--customer mia"]) {
    expect((await remote.refusal(`esims list ${flags}`)).exitCode, flags).not.toBe(0);
  }
  // On the operator's data as before, without codes.
  const local = await desk.json("esims list --partner partner-1");
  expect(local.data).toHaveLength(3);
  expect(local.data[0]).not.toHaveProperty("activation_code");
  expect((await desk.json("esims list --expires-before 2030-01-01")).data).toEqual([]);
  const synthetic = await desk.json("esims list --partner partner-1 --sandbox");
  expect(synthetic.data).toMatchObject([{ is_test: true, order_id: test.id }, { order_id: test.id }]);
  const { data: audit } = await desk.json("audit list");
  expect(audit[0]).toMatchObject({ action: "orders.read-codes", target_id: test.id, note: "2 eSIMs" });
  expect((await desk.refusal("esims list --sandbox")).exitCode).toBe(2);
  expect((await desk.refusal(`esims list --order ${order.order_number}`)).exitCode).toBe(2);
});
