import { eq } from "drizzle-orm";
import { addToPool } from "../esims/stock.ts";
import type { OrderLineId, ProductId } from "../kernel/brand.ts";
import { canMove } from "../kernel/state-machine.ts";
import { nowOf } from "../platform/sandbox-clock.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { takeStockCostsBack } from "../supply/stock-costs.ts";
import { deliveredUnits, type WholeOrder } from "./delivered.ts";
import { type ItemRow, orderItemTransitions, progressItem } from "./items.ts";
import type { LineRow, OrderRow } from "./order.ts";
import { progressLine } from "./progress.ts";
import { refundable, refundLines } from "./refund.ts";

/**
 * Ends every undelivered unit of an order as `end`, in one transaction: its money goes back to the wallet as far as it
 * was not refunded before, its eSIMs to the stock, and its items are no longer sent. The delivered units of a
 * partly delivered line stay. Returns the order's row and lines as they are then.
 */
export async function withdrawUndelivered(
  tx: Tx,
  whole: WholeOrder,
  end: "failed" | "cancelled",
): Promise<{ order: OrderRow; lines: LineRow[] }> {
  const { items } = whole;
  const cancelled_at = await nowOf(tx, whole.order);
  const parts = whole.lines.map((line) => ({ line, cents: Math.min(undelivered(line, items), refundable(line)) }));
  const order = await refundLines(tx, whole.order, parts);
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

/** The price of what of a line was not delivered. */
function undelivered(line: LineRow, items: ItemRow[]): number {
  return line.unit_price_cents * (line.quantity - deliveredUnits(line, items));
}

async function endLine(tx: Tx, order: OrderRow, line: LineRow, delivered: number, end: "failed" | "cancelled") {
  const held = stockHeld(order, line);
  if (order.environment === "production") await returnToStock(tx, line, held);
  if (held > 0 && line.assigned > 0) await takeStockCostsBack(tx, line);
  return progressLine(tx, line, { status: delivered > 0 ? "fulfilled" : end });
}

/** Units of the stock that a pending line holds: reserved, possibly assigned, visible to no one. */
function stockHeld(order: OrderRow, line: LineRow): number {
  return line.delivery_method === "stock" && order.reserved ? line.quantity : 0;
}

const unassign = statement((db, t, slot: Slots<{ line_id: OrderLineId }>) =>
  db
    .update(t.esims)
    .set({ order_id: null, line_id: null, partner_id: null, environment: null, assigned_at: null })
    .where(eq(t.esims.line_id, slot.line_id)),
);

/** Gives back what an undelivered line holds: its reservation, and assigned eSIMs whose codes were never shown. */
async function returnToStock(
  tx: Tx,
  line: { id: OrderLineId; product_id: ProductId; assigned: number },
  held: number,
): Promise<void> {
  if (held === 0) return;
  if (line.assigned > 0) await unassign(tx, { line_id: line.id });
  await addToPool(tx, line.product_id, held);
}
