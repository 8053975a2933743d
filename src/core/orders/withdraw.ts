import { eq, sql } from "drizzle-orm";
import { returnToStock } from "../esims/stock.ts";
import type { OrderId } from "../kernel/brand.ts";
import { minorUnits } from "../kernel/money.ts";
import { canMove } from "../kernel/state-machine.ts";
import { nowOf } from "../platform/sandbox-clock.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { postMovement } from "../wallet/post.ts";
import { deliveredUnits, undeliveredCents, type WholeOrder } from "./delivered.ts";
import { orderItemTransitions, progressItem } from "./items.ts";
import type { LineRow, OrderRow } from "./order.ts";
import { progressLine } from "./progress.ts";

/**
 * Ends every undelivered unit of an order as `end`, in one transaction: its money goes back to the wallet, its eSIMs
 * to the stock, and its items are no longer sent. Of a partly delivered line the delivered units stay. Returns the
 * order's row and lines as they are then.
 */
export async function withdrawUndelivered(
  tx: Tx,
  whole: WholeOrder,
  end: "failed" | "cancelled",
): Promise<{ order: OrderRow; lines: LineRow[] }> {
  const { items } = whole;
  const cancelled_at = await nowOf(tx, whole.order);
  const order = await refund(tx, whole.order, undeliveredCents(whole));
  for (const item of items) {
    if (!canMove(orderItemTransitions, item.status, "cancelled")) continue;
    const stopped = { due_at: null, leased_until: null, deadline_at: null };
    await progressItem(tx, item, { status: "cancelled", cancelled_at, ...stopped });
  }
  const after: LineRow[] = [];
  for (const line of whole.lines) {
    after.push(line.status === "pending" ? await endLine(tx, order, line, deliveredUnits(line, items), end) : line);
  }
  return { order, lines: after };
}

async function endLine(tx: Tx, order: OrderRow, line: LineRow, delivered: number, end: "failed" | "cancelled") {
  if (order.environment === "production") await returnToStock(tx, line, stockHeld(order, line));
  return progressLine(tx, line, { status: delivered > 0 ? "fulfilled" : end });
}

/** Units of the stock that a pending line holds: reserved, possibly assigned, visible to no one. */
function stockHeld(order: OrderRow, line: LineRow): number {
  return line.delivery_method === "stock" && order.reserved ? line.quantity : 0;
}

const addRefund = statement((db, t, slot: Slots<{ id: OrderId; cents: number }>) =>
  db
    .update(t.orders)
    .set({ refunded_cents: sql`${t.orders.refunded_cents} + cast(${slot.cents} as bigint)` })
    .where(eq(t.orders.id, slot.id)),
);

/**
 * Refunds `cents` of an order to its wallet and adds them to the order's `refunded_cents`; returns the order's row. The
 * sandbox charges nothing and refunds nothing.
 */
async function refund(tx: Tx, order: OrderRow, cents: number): Promise<OrderRow> {
  if (order.environment === "sandbox" || cents === 0) return order;
  await postMovement(tx, {
    kind: "refund",
    partnerId: order.partner_id,
    currency: order.currency,
    amount: minorUnits(cents),
    orderId: order.id,
    reference: order.order_number,
  });
  await addRefund(tx, { id: order.id, cents });
  return { ...order, refunded_cents: order.refunded_cents + cents };
}
