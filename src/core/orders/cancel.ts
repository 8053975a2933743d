import { changesOf } from "../audit/changes.ts";
import { recordAudit } from "../audit/record.ts";
import type { OrderId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import { Problem } from "../kernel/problem.ts";
import { canMove } from "../kernel/state-machine.ts";
import { recordEvent } from "../outbox/record.ts";
import { nowOf } from "../platform/sandbox-clock.ts";
import type { Tx } from "../store/store.ts";
import { anythingDelivered, type WholeOrder, wholeOrder } from "./delivered.ts";
import { finishOrder } from "./finish.ts";
import type { OrderRow } from "./order.ts";
import { orderTransitions, progressOrder } from "./progress.ts";
import { withdrawUndelivered } from "./withdraw.ts";

/**
 * Cancels what was not delivered and refunds exactly that, in one transaction. Nothing delivered: the order ends
 * cancelled, with order.cancelled; else it ends fulfilled, without the cancelled lines. Throws `not_found`, `conflict`
 * when it is final.
 */
export async function cancelOrder(tx: Tx, input: { id: OrderId; reason: string; actor: string }): Promise<OrderRow> {
  const whole = await wholeOrder(tx, input.id);
  const { order } = whole;
  if (!canMove(orderTransitions, order.status, "cancelled")) {
    throw new Problem("conflict", `Order ${order.order_number} is ${order.status} and can no longer be cancelled.`, {
      members: { current_status: order.status },
    });
  }
  await recordAudit(tx, {
    actor: input.actor,
    action: "orders.cancel",
    targetKind: "order",
    targetId: order.id,
    partnerId: order.partner_id,
    changes: changesOf(order, { status: anythingDelivered(whole) ? "fulfilled" : "cancelled" }, ["status"]),
    note: input.reason,
  });
  if (!anythingDelivered(whole)) return endCancelled(tx, whole, input.reason);
  const left = await withdrawUndelivered(tx, whole, "cancelled");
  return finishOrder(tx, await progressOrder(tx, left.order, { reserved: false }), left.lines);
}

/** Ends an undelivered order as cancelled: refunded in full, with order.cancelled (contract: Events). */
export async function endCancelled(tx: Tx, whole: WholeOrder, reason: string): Promise<OrderRow> {
  const now = await nowOf(tx, whole.order);
  const { order } = await withdrawUndelivered(tx, whole, "cancelled");
  const ended = { status: "cancelled", reason, due_at: null, leased_until: null, reserved: false } as const;
  const cancelled = await progressOrder(tx, order, { ...ended, cancelled_at: now });
  const { id, order_number, external_order_id, partner_id: partnerId, environment } = cancelled;
  const about = { cancellation_reason: reason, cancelled_at: isoTime(now) };
  const data = { id, order_number, external_order_id, status: "cancelled", ...about } as const;
  await recordEvent(tx, { kind: "order.cancelled", partnerId, environment, subjectId: id, data });
  return cancelled;
}
