import { createOrder } from "../../src/core/orders/create.ts";
import { createFulfillment } from "../../src/daemon/workers/fulfillment.ts";
import { addStock } from "../support/catalog.ts";
import { settled } from "../support/pool.ts";
import type { BenchStore } from "./platform.ts";

/** More than a page lists. */
const ORDERS = 30;

/** Places orders of one eSIM; their IDs. */
export async function fulfilledOrders({
  store,
  partnerId,
  productId,
}: Pick<BenchStore, "store" | "partnerId" | "productId">): Promise<string[]> {
  await addStock(store, "PLAN-0", ORDERS);
  const placed = Array.from({ length: ORDERS }, (_, number) =>
    store.write(createOrder, {
      partnerId,
      environment: "production",
      key: { space: "single", value: `read-${number}` },
      payloadHash: "read",
      lines: [{ product_id: productId, quantity: 1 }],
      metadata: {},
      activationRequests: [],
      customer: null,
    }),
  );
  const created = await Promise.all(placed);
  await settled(createFulfillment({ store, log: console }));
  return created.map(({ order }) => order.id);
}
