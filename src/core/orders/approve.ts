import { recordAudit } from "../audit/record.ts";
import type { OrderId } from "../kernel/brand.ts";
import { Problem } from "../kernel/problem.ts";
import type { Read, Tx } from "../store/store.ts";
import { linesOfOrder, type OrderRow, refuseSandboxOrder, requireOrder } from "./order.ts";
import { progressOrder } from "./progress.ts";
import { needsOf, reserveForOrder, shortStock } from "./reserve.ts";

/**
 * Approves a held order: its stock is reserved and a worker delivers it. Throws `not_found`, `conflict` when it is not
 * in review or the stock is still short; then nothing changes.
 */
export async function approveOrder(tx: Tx, input: { id: OrderId; actor: string }): Promise<OrderRow> {
  const order = await orderInReview(tx, input.id);
  refuseSandboxOrder(order);
  const lines = await linesOfOrder(tx, order.id);
  if (needsOf(lines).length === 0) {
    throw new Problem("conflict", `Order ${order.order_number} has nothing left to deliver from stock.`);
  }
  if (order.reserved) {
    throw new Problem("conflict", `Order ${order.order_number} was approved and is being delivered.`);
  }
  const { reserved, short } = await reserveForOrder(tx, order, lines);
  if (short.length > 0) throw shortStock(short, "approve");
  const approved = await progressOrder(tx, reserved, { reason: null, due_at: tx.now, leased_until: null });
  const { id: targetId, partner_id: partnerId } = order;
  await recordAudit(tx, { actor: input.actor, action: "orders.approve", targetKind: "order", targetId, partnerId });
  tx.signal("fulfillment");
  return approved;
}

/** The order, if it waits for review. Throws `not_found`, `conflict`. */
export async function orderInReview(q: Read, id: OrderId): Promise<OrderRow> {
  const order = await requireOrder(q, id);
  if (order.status !== "waiting_review") {
    throw new Problem("conflict", `Order ${order.order_number} is ${order.status}, not waiting_review.`);
  }
  return order;
}
