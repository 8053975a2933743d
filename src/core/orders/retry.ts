import { recordAudit } from "../audit/record.ts";
import type { OrderId } from "../kernel/brand.ts";
import { Problem } from "../kernel/problem.ts";
import type { Tx } from "../store/store.ts";
import { wholeOrder } from "./delivered.ts";
import { isBackedOff, isStuck, sendAgain } from "./items.ts";
import { type OrderRow, refuseSandboxOrder } from "./order.ts";
import { progressOrder } from "./progress.ts";
import { reserveForOrder, shortStock } from "./reserve.ts";

/**
 * Resumes every stuck part of an order at once: requests to suppliers are sent again, also those that would be after a
 * delay, and stock that was short is reserved and delivered. Throws `not_found`, `conflict` unless it is paid or in
 * review, or when the stock it waits for is still short and no request is stuck; then nothing changes.
 */
export async function retryOrder(tx: Tx, input: { id: OrderId; actor: string }): Promise<OrderRow> {
  const { order, lines, items } = await wholeOrder(tx, input.id);
  if (order.status !== "paid" && order.status !== "waiting_review") {
    throw new Problem(
      "conflict",
      `Order ${order.order_number} is ${order.status}; only paid or waiting_review can retry.`,
    );
  }
  refuseSandboxOrder(order);
  const stuck = items.filter((item) => isStuck(item) || isBackedOff(item, tx.now));
  // The worker reserves the stock of a paid order.
  const inReview = order.status === "waiting_review" ? lines : [];
  const { reserved, short } = await reserveForOrder(tx, order, inReview);
  if (short.length > 0 && stuck.length === 0) throw shortStock(short, "retry");
  for (const item of stuck) await sendAgain(tx, item);
  const { id: targetId, partner_id: partnerId } = order;
  await recordAudit(tx, { actor: input.actor, action: "orders.retry", targetKind: "order", targetId, partnerId });
  tx.signal("fulfilment");
  // Its stock is no longer what it waits for.
  const refilled = reserved.reserved && !order.reserved;
  return progressOrder(tx, reserved, { due_at: tx.now, leased_until: null, ...(refilled ? { reason: null } : {}) });
}
