import type { Tx } from "../store/store.ts";
import { finishOrder } from "./finish.ts";
import { linesOfOrder, type OrderRow } from "./order.ts";

/** Ends an order as fulfilled once none of its lines is pending; otherwise leaves it as it is. */
export async function completeOrder(tx: Tx, order: OrderRow): Promise<OrderRow> {
  const lines = await linesOfOrder(tx, order.id);
  return lines.some((line) => line.status === "pending") ? order : finishOrder(tx, order, lines);
}
