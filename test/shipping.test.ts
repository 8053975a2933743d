import { expect, test } from "vitest";
import { linesToShip } from "../src/core/orders/queue.ts";
import { shipOrder } from "../src/core/orders/ship.ts";
import { addProducts } from "./support/catalog.ts";
import { type Caller, startPlatform } from "./support/platform.ts";

function place(caller: Caller, product_id: string | undefined, quantity: number) {
  const headers = { "idempotency-key": crypto.randomUUID() };
  return caller.send("POST", "/api/v1/orders", { line_items: [{ product_id, quantity }] }, headers);
}

test("shipping a physical SIM fulfills its order", async () => {
  const platform = await startPlatform();
  const { SIM } = await addProducts(platform.store, [
    { sku: "SIM", price_cents: 700, product_type: "physical_sim", delivery_method: "shipping" },
  ]);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 10_000);
  const { body } = await place(caller, SIM, 1);
  await place(caller, SIM, 2);
  await platform.fulfill();
  const { data, next } = await platform.store.read(linesToShip, { limit: 1 });
  expect(data).toMatchObject([{ order_id: body.id, product_sku: "SIM", quantity: 1 }]);
  const rest = await platform.store.read(linesToShip, { limit: 2, ...(next === null ? {} : { after: next }) });
  expect(rest).toMatchObject({ data: [{ quantity: 2 }], next: null });
  expect((await caller.get(`/api/v1/orders/${body.id}`)).body).toMatchObject({
    status: "paid",
    line_items: [{ fulfillment: { status: "pending" } }],
  });
  const shipment = { id: body.id, carrier: "AusPost", tracking: "AP123", actor: "operator" };
  await platform.store.write(shipOrder, shipment);
  expect((await caller.get(`/api/v1/orders/${body.id}`)).body).toMatchObject({
    status: "fulfilled",
    line_items: [
      { fulfillment: { status: "shipped", carrier: "AusPost", tracking_number: "AP123", tracking_url: null } },
    ],
  });
  await expect(platform.store.write(shipOrder, shipment)).rejects.toMatchObject({ slug: "conflict" });
});
