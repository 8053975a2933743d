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
    activationRequests: travellersOf(body.activation_requests),
    maxTotal: body.max_total_cents ?? null,
    metadata: body.metadata ?? {},
  };
}

/** The items of a bulk request, each with the hash of what was sent for it. */
export function hashedItems(orders: readonly BulkItem[], rawPayload: unknown): { item: BulkItem; hash: string }[] {
  const sent = rawOrders(rawPayload);
  return orders.map((item, index) => ({ item, hash: payloadHash(sent[index]) }));
}

/** The orders as they were sent, unknown fields and all; their shape was checked before. */
function rawOrders(payload: unknown): unknown[] {
  const orders = typeof payload === "object" && payload !== null && "orders" in payload ? payload.orders : [];
  return Array.isArray(orders) ? orders : [];
}

function travellersOf(requests: Order["activation_requests"]): ActivationRequest[] {
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
