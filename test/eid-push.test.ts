import { expect, test } from "vitest";
import { luhnDigit } from "../src/core/kernel/check-digits.ts";
import { cancelOrder } from "../src/core/orders/cancel.ts";
import { completeItem } from "../src/core/supplier-requests/operator.ts";
import { addProducts, suppliedProducts } from "./support/catalog.ts";
import { startPlatform } from "./support/platform.ts";

const [first, second] = ["89049032000000000000000000000017", "89049032000000000000000000000066"];
const who = { customer_email: "mia@example.com", customer_name: "Mia Chen", activation_date: "2026-03-05" };

interface Item {
  item_id: string;
  eid_number: string;
}

/** Orders of a product that is pushed to EIDs, and what the API shows of their one line. */
async function eidOrders() {
  const platform = await startPlatform();
  const { store } = platform;
  const { PUSH: product_id } = await addProducts(store, suppliedProducts);
  const caller = await platform.caller({ live: true });
  await platform.fund(caller.partnerId, 10_000);
  return {
    store,
    async order(...eids: string[]) {
      const body = {
        line_items: [{ product_id, quantity: eids.length }],
        activation_requests: eids.map((eid_number) => ({ product_id, ...who, eid_number })),
      };
      const headers = { "idempotency-key": crypto.randomUUID() };
      const { id } = (await caller.send("POST", "/api/v1/orders", body, headers)).body;
      await platform.fulfill();
      const progress = await caller.get(`/api/v1/orders/${id}/activation-status`);
      const items: Item[] = progress.body.activations;
      return { id, items };
    },
    async complete({ item_id: id }: Item, iccid: string | null = null) {
      const activationCode = iccid === null ? null : "LPA:1$smdp.example.net$AB-12";
      await store.write(completeItem, { id, iccid, activationCode, actor: "operator" });
    },
    fulfillment: async (id: string) => (await caller.get(`/api/v1/orders/${id}`)).body.line_items[0].fulfillment,
  };
}

test("a fulfilled line of one unit shows its EID although the supplier returned no eSIM", async () => {
  const { order, complete, fulfillment } = await eidOrders();
  const { id, items } = await order(first);
  expect(await fulfillment(id)).toEqual({ status: "pending" });
  for (const item of items) await complete(item);
  expect(await fulfillment(id)).toEqual({ status: "fulfilled", eid_number: first, eid_numbers: [first], esims: [] });
});

test("a line of several units shows all EIDs, and each eSIM its own", async () => {
  const { order, complete, fulfillment } = await eidOrders();
  const { id, items } = await order(first, second);
  const digits = "894410999999999002";
  const iccid = digits + luhnDigit(digits);
  for (const item of items.toReversed()) await complete(item, item.eid_number === second ? iccid : null);
  expect(await fulfillment(id)).toMatchObject({
    eid_number: null,
    eid_numbers: [first, second],
    esims: [{ iccid, eid_number: second }],
  });
});

test("cancelled units show no EID; one EID of all units is that of the line", async () => {
  const { store, order, complete, fulfillment } = await eidOrders();
  const { id, items } = await order(second, second, first);
  for (const item of items.filter(({ eid_number }) => eid_number === second)) await complete(item);
  await store.write(cancelOrder, { id, reason: "the rest is not wanted", actor: "operator" });
  expect(await fulfillment(id)).toEqual({
    status: "fulfilled",
    eid_number: second,
    eid_numbers: [second, second],
    esims: [],
  });
});
