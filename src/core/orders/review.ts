import { recordAudit } from "../audit/record.ts";
import { reserveStock } from "../esims/stock.ts";
import type { OrderId } from "../kernel/brand.ts";
import { Problem } from "../kernel/problem.ts";
import type { Tx } from "../store/store.ts";
import { needsOf } from "./fulfil.ts";
import { failOrder } from "./item-outcome.ts";
import { itemsOfOrder } from "./items.ts";
import { linesOfOrder, type OrderRow, progressOrder, requireOrder } from "./order.ts";
import { deliveredUnits } from "./refund.ts";

/**
 * Passes a held order: its stock is reserved and a worker delivers it. Throws `not_found`, `conflict` when it is not in
 * review or the stock is still short; then nothing changes.
 */
export async function approveOrder(tx: Tx, input: { id: OrderId; actor: string }): Promise<OrderRow> {
  const order = await inReview(tx, input.id);
  const lines = await linesOfOrder(tx, order.id);
  const needs = needsOf(lines);
  if (needs.length === 0) {
    throw new Problem("conflict", `Order ${order.order_number} has nothing left to deliver from stock.`);
  }
  const short = await reserveStock(tx, needs);
  if (short.length > 0) {
    const words = short.map(({ sku, needed, available }) => `${sku} needs ${needed}, has ${available}`);
    throw new Problem("conflict", `The stock is still short: ${words.join("; ")}. Import more, then approve again.`);
  }
  const approved = await progressOrder(tx, order, { reserved: true, reason: null, due_at: tx.now, leased_until: null });
  await recordAudit(tx, auditOf(order, "orders.approve", input.actor));
  tx.signal("fulfilment");
  return approved;
}

/**
 * Refuses a held order of which nothing was delivered: it fails and is refunded in full, in one transaction. Throws
 * `not_found`, `conflict`.
 */
export async function rejectOrder(tx: Tx, input: { id: OrderId; reason: string; actor: string }): Promise<OrderRow> {
  const order = await inReview(tx, input.id);
  const lines = await linesOfOrder(tx, order.id);
  const items = await itemsOfOrder(tx, order.id);
  if (order.reserved || lines.some((line) => deliveredUnits(line, items) > 0)) {
    throw new Problem("conflict", `Order ${order.order_number} is partly delivered: cancel it instead.`);
  }
  const rejected = await failOrder(tx, order, lines, items, input.reason);
  await recordAudit(tx, { ...auditOf(order, "orders.reject", input.actor), note: input.reason });
  return rejected;
}

async function inReview(tx: Tx, id: OrderId): Promise<OrderRow> {
  const order = await requireOrder(tx, id);
  if (order.status !== "waiting_review") {
    throw new Problem("conflict", `Order ${order.order_number} is ${order.status}, not waiting_review.`);
  }
  if (order.reserved && order.due_at !== null) {
    throw new Problem("conflict", `Order ${order.order_number} was approved and is being delivered.`);
  }
  return order;
}

function auditOf(order: OrderRow, action: string, actor: string) {
  return { actor, action, targetKind: "order", targetId: order.id, partnerId: order.partner_id };
}
