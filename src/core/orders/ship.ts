import { recordAudit } from "../audit/record.ts";
import type { OrderId } from "../kernel/brand.ts";
import { invalid, Problem } from "../kernel/problem.ts";
import type { Tx } from "../store/store.ts";
import { completeOrder } from "./finish.ts";
import { linesOfOrder, type OrderRow, requireOrder } from "./order.ts";
import { progressLine } from "./progress.ts";

/** A shipment of the physical SIMs of an order. */
export interface Shipment {
  id: OrderId;
  carrier: string;
  tracking: string;
  trackingUrl?: string | null;
  actor: string;
}

/**
 * Records that an order's physical SIMs were shipped; the order is fulfilled when nothing else is left. Throws
 * `not_found`, `validation`, `conflict` when there is nothing (left) to ship.
 */
export async function shipOrder(tx: Tx, input: Shipment): Promise<OrderRow> {
  const order = await requireOrder(tx, input.id);
  const [carrier, tracking_number] = [input.carrier.trim(), input.tracking.trim()];
  if (carrier === "") throw invalid({ carrier: ["is required"] });
  if (tracking_number === "") throw invalid({ tracking: ["is required"] });
  const cards = (await linesOfOrder(tx, order.id)).filter((line) => line.delivery_method === "shipping");
  const open = cards.filter((line) => line.status === "pending");
  if (cards.length === 0) throw new Problem("conflict", `Order ${order.order_number} has no SIM cards to ship.`);
  if (open.length === 0 && cards.some(({ shipping }) => shipping !== null)) {
    throw new Problem("conflict", `The SIM cards of order ${order.order_number} are all shipped already.`);
  }
  if (open.length === 0 || (order.status !== "paid" && order.status !== "waiting_review")) {
    throw new Problem("conflict", `Order ${order.order_number} is ${order.status}; there is nothing to ship.`);
  }
  const shipping = { carrier, tracking_number, tracking_url: input.trackingUrl ?? null, shipped_at: tx.now };
  for (const line of open) await progressLine(tx, line, { status: "fulfilled", shipping });
  await recordAudit(tx, {
    actor: input.actor,
    action: "orders.ship",
    targetKind: "order",
    targetId: order.id,
    partnerId: order.partner_id,
    note: carrier,
  });
  return completeOrder(tx, order);
}
