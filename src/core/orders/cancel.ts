import { recordAudit } from "../audit/record.ts";
import { returnToStock } from "../esims/stock.ts";
import type { OrderId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import { Problem } from "../kernel/problem.ts";
import { canMove } from "../kernel/state-machine.ts";
import { recordEvent } from "../outbox/record.ts";
import type { Read, Tx } from "../store/store.ts";
import { finishOrder } from "./finish.ts";
import { type ItemRow, itemsOfOrder, progressItem } from "./items.ts";
import { type LineRow, linesOfOrder, type OrderRow, progressLine, progressOrder, requireOrder } from "./order.ts";
import { orderTransitions } from "./order-states.ts";
import { deliveredUnits, refund, undeliveredCents } from "./refund.ts";

/**
 * Cancels what was not delivered and refunds exactly that, in one transaction. Nothing delivered: the order is
 * cancelled and says so; else it ends fulfilled, without the cancelled lines. Throws `not_found`, `conflict` when it
 * is final.
 */
export async function cancelOrder(tx: Tx, input: { id: OrderId; reason: string; actor: string }): Promise<OrderRow> {
  const { order, lines, items } = await cancellable(tx, input.id);
  const owed = undeliveredCents(lines, items);
  for (const item of items) await cancelItem(tx, item);
  const after: LineRow[] = [];
  for (const line of lines) after.push(await cancelLine(tx, order, line, deliveredUnits(line, items)));
  await refund(tx, order, owed);
  await recordAudit(tx, {
    actor: input.actor,
    action: "orders.cancel",
    targetKind: "order",
    targetId: order.id,
    partnerId: order.partner_id,
    note: input.reason,
  });
  if (anythingDelivered(lines, items)) return finishOrder(tx, { ...order, reserved: false }, after);
  return endCancelled(tx, order, input.reason);
}

async function endCancelled(tx: Tx, order: OrderRow, reason: string): Promise<OrderRow> {
  const ended = { status: "cancelled", reason, due_at: null, leased_until: null, reserved: false } as const;
  const cancelled = await progressOrder(tx, order, { ...ended, cancelled_at: tx.now });
  const { id, order_number, partner_id: partnerId, environment } = order;
  const about = { cancellation_reason: reason, cancelled_at: isoTime(tx.now) };
  const data = { id, order_number, status: "cancelled", ...about };
  await recordEvent(tx, { kind: "order.cancelled", partnerId, environment, subjectId: id, data });
  return cancelled;
}

async function cancellable(q: Read, id: OrderId) {
  const order = await requireOrder(q, id);
  if (!canMove(orderTransitions, order.status, "cancelled")) {
    throw new Problem("conflict", `Order ${order.order_number} is ${order.status} and can no longer be cancelled.`);
  }
  return { order, lines: await linesOfOrder(q, id), items: await itemsOfOrder(q, id) };
}

function anythingDelivered(lines: LineRow[], items: ItemRow[]): boolean {
  return lines.some((line) => deliveredUnits(line, items) > 0);
}

async function cancelItem(tx: Tx, item: ItemRow): Promise<void> {
  if (item.status === "activated" || item.status === "failed" || item.status === "cancelled") return;
  const stopped = { due_at: null, leased_until: null, deadline_at: null };
  await progressItem(tx, item, { status: "cancelled", cancelled_at: tx.now, ...stopped });
}

/** Units that a line holds of the stock: reserved, and perhaps assigned, but visible to nobody. */
function stockHeld(order: OrderRow, line: LineRow): number {
  return line.delivery_method === "stock" && line.status === "pending" && order.reserved ? line.quantity : 0;
}

/** An undelivered line is cancelled; of a partly delivered one, what was delivered stays. */
async function cancelLine(tx: Tx, order: OrderRow, line: LineRow, delivered: number): Promise<LineRow> {
  if (line.status !== "pending") return line;
  if (order.environment === "production") await returnToStock(tx, line, stockHeld(order, line));
  return progressLine(tx, line, { status: delivered > 0 ? "fulfilled" : "cancelled" });
}
