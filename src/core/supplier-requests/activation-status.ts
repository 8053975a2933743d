import type { OrderId } from "../kernel/brand.ts";
import { isoTime, isoTimeOrNull } from "../kernel/clock.ts";
import type { Owner } from "../kernel/owner.ts";
import { travelerOf } from "../orders/customer.ts";
import { type ItemRow, itemsOfOrder } from "../orders/items.ts";
import { type LineRow, linesOfOrder, requireOwnOrder } from "../orders/order.ts";
import type { OrderItemStatus } from "../store/schema/values.ts";
import type { Read } from "../store/store.ts";

/** The progress of the scheduled activations of an order (contract: ActivationStatusResponse). Throws `not_found`. */
export async function activationStatus(q: Read, input: { owner: Owner; id: OrderId }) {
  const order = await requireOwnOrder(q, input.owner, input.id);
  const lines = new Map((await linesOfOrder(q, order.id)).map((line) => [line.id, line]));
  const items = (await itemsOfOrder(q, order.id)).filter((item) => item.traveller_sealed !== null);
  const count = (...statuses: OrderItemStatus[]) => items.filter((item) => statuses.includes(item.status)).length;
  return {
    order_id: order.id,
    order_number: order.order_number,
    has_scheduled_activations: items.length > 0,
    total_activations: items.length,
    pending_count: count("pending"),
    // A confirmed activation is still in progress at the supplier.
    submitted_count: count("submitted", "confirmed"),
    activated_count: count("activated"),
    failed_count: count("failed"),
    activations: items.map((item) => toEntry(q, item, lines.get(item.line_id))),
  };
}

function toEntry(q: Read, item: ItemRow, line: LineRow | undefined) {
  const traveler = travelerOf(q, item);
  return {
    item_id: item.id,
    product_name: line?.product_name ?? "",
    product_sku: line?.product_sku ?? "",
    status: item.status,
    customer_email: traveler?.customer_email ?? null,
    customer_name: traveler?.customer_name ?? null,
    activation_date: traveler?.activation_date ?? null,
    timezone: traveler?.timezone ?? null,
    eid_number: traveler?.eid_number ?? null,
    error_message: item.error_message,
    submitted_at: isoTimeOrNull(item.submitted_at),
    activated_at: isoTimeOrNull(item.activated_at),
    created_at: isoTime(item.created_at),
  };
}
