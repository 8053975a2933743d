import { returnToStock } from "../esims/stock.ts";
import { minorUnits } from "../kernel/money.ts";
import { canMove } from "../kernel/state-machine.ts";
import type { Tx } from "../store/store.ts";
import { postMovement } from "../wallet/post.ts";
import { deliveredUnits, undeliveredCents, type WholeOrder } from "./delivered.ts";
import { orderItemTransitions, progressItem } from "./items.ts";
import { type LineRow, type OrderRow, progressLine } from "./order.ts";

/**
 * Ends every undelivered unit of an order as `end`, in one transaction: its money goes back to the wallet, its eSIMs
 * to the stock, and its items are no longer sent. Of a partly delivered line the delivered units stay. Returns the
 * lines as they are then.
 */
export async function withdrawUndelivered(tx: Tx, whole: WholeOrder, end: "failed" | "cancelled"): Promise<LineRow[]> {
  const { order, items } = whole;
  await refund(tx, order, undeliveredCents(whole));
  for (const item of items) {
    if (!canMove(orderItemTransitions, item.status, "cancelled")) continue;
    const stopped = { due_at: null, leased_until: null, deadline_at: null };
    await progressItem(tx, item, { status: "cancelled", cancelled_at: tx.now, ...stopped });
  }
  const after: LineRow[] = [];
  for (const line of whole.lines) {
    after.push(line.status === "pending" ? await endLine(tx, order, line, deliveredUnits(line, items), end) : line);
  }
  return after;
}

async function endLine(tx: Tx, order: OrderRow, line: LineRow, delivered: number, end: "failed" | "cancelled") {
  if (order.environment === "production") await returnToStock(tx, line, stockHeld(order, line));
  return progressLine(tx, line, { status: delivered > 0 ? "fulfilled" : end });
}

/** Units of the stock that a pending line holds: reserved, possibly assigned, visible to no one. */
function stockHeld(order: OrderRow, line: LineRow): number {
  return line.delivery_method === "stock" && order.reserved ? line.quantity : 0;
}

/** Gives `cents` of an order back to its wallet; the sandbox never took any. */
async function refund(tx: Tx, order: OrderRow, cents: number): Promise<void> {
  if (order.environment === "sandbox" || cents === 0) return;
  await postMovement(tx, {
    kind: "refund",
    partnerId: order.partner_id,
    currency: order.currency,
    amount: minorUnits(cents),
    orderId: order.id,
    reference: order.order_number,
  });
}
