import { type AuditEntry, recordAudit } from "../audit/record.ts";
import type { OrderId } from "../kernel/brand.ts";
import { invalid, Problem } from "../kernel/problem.ts";
import { nowOf } from "../platform/sandbox-clock.ts";
import type { Tx } from "../store/store.ts";
import { indexOrder } from "./customer.ts";
import { announceCorrected, completeOrder } from "./finish.ts";
import { type LineRow, linesOfOrder, type OrderRow, requireOrder } from "./order.ts";
import { progressLine, progressOrder } from "./progress.ts";

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
  const { order, cards, ...sent } = await shipmentOf(tx, input);
  const open = cards.filter((line) => line.status === "pending");
  if (cards.length === 0) throw new Problem("conflict", `Order ${order.order_number} has no SIM cards to ship.`);
  if (open.length === 0 && cards.some(({ shipping }) => shipping !== null)) {
    throw new Problem("conflict", `The SIM cards of order ${order.order_number} are all shipped already.`);
  }
  if (open.length === 0 || (order.status !== "paid" && order.status !== "waiting_review")) {
    throw new Problem("conflict", `Order ${order.order_number} is ${order.status}; there is nothing to ship.`);
  }
  const shipping = { ...sent, shipped_at: await nowOf(tx, order) };
  for (const line of open) await progressLine(tx, line, { status: "fulfilled", shipping });
  await indexOrder(tx, order, await linesOfOrder(tx, order.id));
  await auditShipment(tx, order, { actor: input.actor, action: "orders.ship", note: sent.carrier });
  return completeOrder(tx, order);
}

/**
 * Replaces the carrier, tracking number and address of physical SIMs that were shipped. A fulfilled order sends
 * order.fulfilled again, with `corrected_at`. Throws `not_found`, `validation`, `conflict` when nothing was shipped or
 * nothing changes.
 */
export async function correctShipment(tx: Tx, input: Shipment): Promise<OrderRow> {
  const { order, cards, ...sent } = await shipmentOf(tx, input);
  const shipped = order.environment === "production" ? cards.filter(({ shipping }) => shipping !== null) : [];
  if (shipped.length === 0) {
    throw new Problem("conflict", `Order ${order.order_number} has no SIM cards that were shipped.`);
  }
  const changed = shipped.filter(({ shipping }) => !sameShipment(shipping, sent));
  if (changed.length === 0) throw new Problem("conflict", `Order ${order.order_number} says so already.`);
  for (const line of changed) {
    await progressLine(tx, line, { shipping: { ...sent, shipped_at: line.shipping?.shipped_at ?? tx.now } });
  }
  await indexOrder(tx, order, await linesOfOrder(tx, order.id));
  const fields = ["carrier", "tracking_number", "tracking_url"];
  await auditShipment(tx, order, { actor: input.actor, action: "orders.correct_shipment", fields, note: sent.carrier });
  const corrected = await progressOrder(tx, order, {});
  if (order.status === "fulfilled") await announceCorrected(tx, corrected);
  return corrected;
}

/** The order, its lines of SIM cards, and what is said of their shipment. Throws `not_found`, `validation`. */
async function shipmentOf(tx: Tx, input: Shipment) {
  const order = await requireOrder(tx, input.id);
  const [carrier, tracking_number] = [input.carrier.trim(), input.tracking.trim()];
  if (carrier === "") throw invalid({ carrier: ["is required"] });
  if (tracking_number === "") throw invalid({ tracking: ["is required"] });
  const cards = (await linesOfOrder(tx, order.id)).filter((line) => line.delivery_method === "shipping");
  return { order, cards, carrier, tracking_number, tracking_url: input.trackingUrl ?? null };
}

function sameShipment(known: LineRow["shipping"], sent: Omit<NonNullable<LineRow["shipping"]>, "shipped_at">): boolean {
  return (
    known?.carrier === sent.carrier &&
    known.tracking_number === sent.tracking_number &&
    known.tracking_url === sent.tracking_url
  );
}

type Recorded = Pick<AuditEntry, "actor" | "action" | "fields" | "note">;

function auditShipment(tx: Tx, order: OrderRow, entry: Recorded): Promise<void> {
  return recordAudit(tx, { ...entry, targetKind: "order", targetId: order.id, partnerId: order.partner_id });
}
