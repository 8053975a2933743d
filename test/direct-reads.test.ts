import { expect, test } from "vitest";
import { directReads } from "../src/cli/client/direct-reads.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { type Caller, startPlatform } from "./support/platform.ts";

const PATH = "/api/v1/orders";
const read = directReads.get(PATH);

/** Orders of every kind in one environment: fulfilled, waiting, of a bulk request, with metadata. */
async function place(caller: Caller, [stocked, empty]: (string | undefined)[]) {
  const key = () => ({ "idempotency-key": crypto.randomUUID() });
  const line = (product_id: string | undefined) => ({ product_id, quantity: 1 });
  await caller.send("POST", PATH, { line_items: [line(stocked)], metadata: { note: "ü", deep: { list: [1] } } }, key());
  await caller.send("POST", PATH, { line_items: [line(empty), line(stocked)] }, key());
  const customer = { email: "mia@example.com", name: "Mia Chen", phone: "+61 400 000 000" };
  const orders = [{ external_order_id: "shop-1", line_items: [line(empty)], customer }];
  expect((await caller.send("POST", `${PATH}/bulk`, { orders })).status).toBe(200);
}

test("orders list reads by itself what the API's handlers would respond with", async () => {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [{ sku: "STOCKED" }, { sku: "EMPTY" }]);
  await addStock(platform.store, "STOCKED", 10);
  const live = await platform.caller({ slug: "acme", live: true });
  await platform.fund(live.partnerId, 1_000_000);
  const sandbox = await platform.credential("acme", {});
  for (const caller of [live, sandbox]) await place(caller, [products.STOCKED, products.EMPTY]);
  await platform.fulfil();
  for (const [caller, environment] of [[live, "production"] as const, [sandbox, "sandbox"] as const]) {
    const { next_cursor: cursor } = (await caller.get(`${PATH}?limit=1`)).body.pagination;
    const times = { created_after: "2026-03-02T01:00:00Z", created_before: "2026-03-02T12:00:00+11:00" };
    for (const query of [{}, { limit: 2 }, { limit: 2, cursor }, { status: "fulfilled" }, { status: "paid" }, times]) {
      const texts = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]);
      const { status, body } = await caller.get(`${PATH}?${new URLSearchParams(texts)}`);
      expect(status).toBe(200);
      const direct = await read?.(platform.store, { partnerId: caller.partnerId, environment }, query);
      expect(direct, JSON.stringify(query)).toStrictEqual(body);
    }
    expect((await caller.get(PATH)).body.data).toHaveLength(3);
  }
});

test("what is not plainly valid is left to the handlers", async () => {
  const platform = await startPlatform();
  const { partnerId } = await platform.caller();
  const left = [
    ...[{ limit: 0 }, { limit: 101 }, { limit: 1.5 }, { limit: "2" }, { cursor: "" }, { cursor: "x".repeat(501) }],
    ...[{ status: "lost" }, { created_after: "yesterday" }, { product_id: "x" }, { external_order_id: "shop-1" }],
  ];
  for (const query of left) {
    const direct = await read?.(platform.store, { partnerId, environment: "sandbox" }, query);
    expect(direct, JSON.stringify(query)).toBeUndefined();
  }
});
