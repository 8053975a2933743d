import type { Static } from "typebox";
import { payloadHash } from "../../core/kernel/canonical.ts";
import type { ActivationRequest } from "../../core/orders/activation-requests.ts";
import type { BulkOrders, NewOrder } from "../schemas/order.ts";

type Order = Static<typeof NewOrder>;
type BulkItem = Static<typeof BulkOrders>["orders"][number];

/** What the body of an order asks for, with what was left out filled in: of a single order or an item in bulk. */
export function askedOf(body: Pick<Order, "line_items" | "activation_requests" | "max_total_cents" | "metadata">) {
  return {
    lines: body.line_items,
    activationRequests: travelersOf(body.activation_requests),
    maxTotal: body.max_total_cents ?? null,
    metadata: body.metadata ?? {},
  };
}

/** The items of a bulk request, each with the hash of what was sent for it. */
export function hashedItems(orders: readonly BulkItem[], rawPayload: unknown): { item: BulkItem; hash: string }[] {
  const sent = rawOrders(rawPayload);
  return orders.map((item, index) => ({ item, hash: payloadHash(plainId(sent[index])) }));
}

/** An id of the partner's own as ids are compared: without blanks around it, in NFC; null: none was sent. */
export function ownId(sent: string | undefined): string | null {
  return sent?.trim().normalize("NFC") ?? null;
}

/** An order as it was sent, with its id as ids are compared. */
export function plainId(order: unknown): unknown {
  if (typeof order !== "object" || order === null || !("external_order_id" in order)) return order;
  const { external_order_id } = order;
  return typeof external_order_id === "string" ? { ...order, external_order_id: ownId(external_order_id) } : order;
}

/** The orders as they were sent, unknown fields and all; their shape was checked before. */
function rawOrders(payload: unknown): unknown[] {
  const orders = typeof payload === "object" && payload !== null && "orders" in payload ? payload.orders : [];
  return Array.isArray(orders) ? orders : [];
}

function travelersOf(requests: Order["activation_requests"]): ActivationRequest[] {
  return (requests ?? []).map((request) => ({
    product_id: request.product_id,
    customer_email: request.customer_email,
    customer_name: request.customer_name,
    customer_phone: request.customer_phone ?? null,
    activation_date: request.activation_date,
    timezone: request.timezone ?? "UTC",
    eid_number: request.eid_number ?? null,
    selected_plan_id: request.selected_plan_id ?? null,
  }));
}
