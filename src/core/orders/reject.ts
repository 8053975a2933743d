import { changesOf } from "../audit/changes.ts";
import { recordAudit } from "../audit/record.ts";
import type { OrderId } from "../kernel/brand.ts";
import { Problem } from "../kernel/problem.ts";
import type { Tx } from "../store/store.ts";
import { orderInReview } from "./approve.ts";
import { endCancelled } from "./cancel.ts";
import { anythingDelivered, wholeOrder } from "./delivered.ts";
import type { OrderRow } from "./order.ts";

/**
 * Rejects a held order of which nothing was delivered: it ends cancelled, refunded in full, with order.cancelled, in
 * one transaction. Throws `not_found`, `conflict` when it is not in review or partly delivered.
 */
export async function rejectOrder(tx: Tx, input: { id: OrderId; reason: string; actor: string }): Promise<OrderRow> {
  const order = await orderInReview(tx, input.id);
  const { id: targetId, partner_id: partnerId, order_number } = order;
  const whole = await wholeOrder(tx, targetId);
  if (anythingDelivered(whole)) {
    throw new Problem("conflict", `Order ${order_number} is partly delivered: cancel it instead.`);
  }
  const { actor, reason: note } = input;
  const changes = changesOf(order, { status: "cancelled" }, ["status"]);
  await recordAudit(tx, { actor, action: "orders.reject", targetKind: "order", targetId, partnerId, changes, note });
  return endCancelled(tx, whole, note);
}
