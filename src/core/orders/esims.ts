import { type Esim, esimsOfOrder, toEsim } from "../esims/esim.ts";
import type { OrderId } from "../kernel/brand.ts";
import type { Owner } from "../kernel/owner.ts";
import { Problem } from "../kernel/problem.ts";
import type { Read } from "../store/store.ts";
import { requireOwnOrder } from "./order.ts";

/** Contract: OrderEsims. */
export interface OrderEsims {
  order_id: OrderId;
  esims: Esim[];
  count: number;
}

/** The eSIMs of a fulfilled order (contract: GET /orders/{id}/esims). Throws `not_found`, `order_not_fulfilled`. */
export async function orderEsims(
  q: Read,
  input: { owner: Owner; id: OrderId; publicUrl: string },
): Promise<OrderEsims> {
  const order = await requireOwnOrder(q, input.owner, input.id);
  if (order.status !== "fulfilled") {
    throw new Problem(
      "order_not_fulfilled",
      `Order ${order.order_number} is ${order.status}; eSIMs come when it is fulfilled.`,
    );
  }
  const rows = await esimsOfOrder(q, order.id);
  const esims = rows.map(({ esim, activation_policy }) => toEsim(q, input.publicUrl, esim, activation_policy));
  return { order_id: order.id, esims, count: esims.length };
}
