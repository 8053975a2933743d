import { expect, test } from "vitest";
import { actOnOrder } from "../src/core/orders/act.ts";
import { cancelOrder } from "../src/core/orders/cancel.ts";
import { addProducts, addStock } from "./support/catalog.ts";
import { type Caller, startPlatform } from "./support/platform.ts";
import { rewind } from "./support/store.ts";

function order(caller: Caller, lines: [id: string | undefined, quantity: number][], key: string = crypto.randomUUID()) {
  const line_items = lines.map(([product_id, quantity]) => ({ product_id, quantity }));
  return caller.send("POST", "/api/v1/orders", { line_items }, { "idempotency-key": key });
}

/** What create, list, get and replay return of one order beyond the contract. */
async function factsOf(caller: Caller, { body, key }: { body: { id: string; product_id: string }; key: string }) {
  const replayed = await order(caller, [[body.product_id, 1]], key);
  expect(replayed.status).toBe(200);
  const read = await caller.get(`/api/v1/orders/${body.id}`);
  const { data } = (await caller.get("/api/v1/orders")).body;
  const listed = data.find((each: { id: string }) => each.id === body.id);
  return [replayed.body, read.body, listed].map(({ external_order_id, customer, refunded_cents }) => ({
    external_order_id,
    customer,
    refunded_cents,
  }));
}

test("a single order names no customer, and answers what was refunded of it wherever it is read", async () => {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [{ sku: "EU5", price_cents: 300 }]);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 1000);
  const created = await order(caller, [[products.EU5, 1]], "k");
  const facts = { external_order_id: null, customer: null, refunded_cents: 0 };
  expect(created.body).toMatchObject(facts);
  expect(await factsOf(caller, { body: created.body, key: "k" })).toEqual([facts, facts, facts]);
  const reason = "not wanted";
  const { order: acted } = await platform.store.write(actOnOrder, {
    id: created.body.id,
    act: { verb: "cancel", reason },
    actor: "operator",
  });
  const refunded = { ...facts, refunded_cents: 300 };
  expect(acted).toMatchObject(refunded);
  expect(await factsOf(caller, { body: created.body, key: "k" })).toEqual([refunded, refunded, refunded]);
});

test("a partly delivered order answers only the refund of the rest; the sandbox refunds nothing", async () => {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [
    { sku: "EU5", price_cents: 300 },
    { sku: "SIM", price_cents: 700, product_type: "physical_sim", delivery_method: "shipping" },
  ]);
  await addStock(platform.store, "EU5", 1);
  const live = await platform.caller({ live: true, slug: "acme" });
  await platform.fund(live.partnerId, 1000);
  const lines: [string | undefined, number][] = [
    [products.EU5, 1],
    [products.SIM, 1],
  ];
  const { body } = await order(live, lines);
  await platform.fulfill();
  await platform.store.write(cancelOrder, { id: body.id, reason: "no more cards", actor: "operator" });
  const read = (await live.get(`/api/v1/orders/${body.id}`)).body;
  expect(read).toMatchObject({ status: "fulfilled", refunded_cents: 700 });

  const sandbox = await platform.credential("acme", {});
  const test = await order(sandbox, lines);
  await platform.store.write(cancelOrder, { id: test.body.id, reason: "a test", actor: "operator" });
  expect((await sandbox.get(`/api/v1/orders/${test.body.id}`)).body).toMatchObject({ refunded_cents: 0 });
});

test("orders refunded by an earlier version answer their refunds after the next start", async () => {
  const platform = await startPlatform();
  const products = await addProducts(platform.store, [{ sku: "EU5", price_cents: 300 }]);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 1000);
  const [refunded, kept] = [await order(caller, [[products.EU5, 1]]), await order(caller, [[products.EU5, 1]])];
  await platform.store.write(cancelOrder, { id: refunded.body.id, reason: "not wanted", actor: "operator" });
  await rewind(platform.location, "9001_order_refunds", ["UPDATE orders SET refunded_cents = 0"]);
  await platform.again();
  const cents = async (id: string) => (await caller.get(`/api/v1/orders/${id}`)).body.refunded_cents;
  expect([await cents(refunded.body.id), await cents(kept.body.id)]).toEqual([300, 0]);
});
