import { activationCode, type EsimRow, esimsOfOrder } from "../esims/esim.ts";
import { esimLinks } from "../esims/links.ts";
import type { OrderId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import type { Read } from "../store/store.ts";
import { itemsOfOrder } from "./items.ts";
import { type LineRow, linesOfOrder, type Owner, orderFacts, requireOrder, requireOwnOrder } from "./order.ts";

/** One order with what was delivered (contract: OrderWithFulfillment). Throws `not_found`. */
export async function showOrder(q: Read, input: { owner: Owner; id: OrderId; publicUrl: string }) {
  const order = await requireOwnOrder(q, input.owner, input.id);
  const lines = await linesOfOrder(q, order.id);
  const delivered = lines.some((line) => line.status === "fulfilled" && line.product_type !== "physical_sim");
  const esims = delivered ? (await esimsOfOrder(q, order.id)).map(({ esim }) => esim) : [];
  return {
    id: order.id,
    order_number: order.order_number,
    status: order.status,
    total_amount_cents: order.total_cents,
    total_price_cents: order.total_cents,
    currency: order.currency,
    ...orderFacts(order),
    metadata: order.metadata,
    created_at: isoTime(order.created_at),
    updated_at: isoTime(order.updated_at),
    line_items: lines.map((line) => ({
      id: line.id,
      product_name: line.product_name,
      product_sku: line.product_sku,
      product_type: line.product_type,
      quantity: line.quantity,
      price_per_unit_cents: line.unit_price_cents,
      subtotal_cents: line.unit_price_cents * line.quantity,
      fulfillment: fulfillmentOf(q, input.publicUrl, line, esims),
    })),
  };
}

/** What only the operator sees of an order: why it waits or ended, and what its suppliers are to deliver. */
export async function orderInside(q: Read, id: OrderId) {
  const { reason } = await requireOrder(q, id);
  const items = (await itemsOfOrder(q, id)).map(({ id: item_id, status, supplier, quantity, traveller, ...item }) => ({
    item_id,
    status,
    supplier,
    quantity,
    activation_date: traveller?.activation_date ?? null,
    error_message: item.error_message,
  }));
  return { reason, items };
}

export type OrderInside = Awaited<ReturnType<typeof orderInside>>;

export type OrderWithFulfillment = Awaited<ReturnType<typeof showOrder>>;

/** What a line's delivery looks like, by product type; nothing shows before the line is fulfilled. */
function fulfillmentOf(q: Read, publicUrl: string, line: LineRow, esims: EsimRow[]): Record<string, unknown> {
  if (line.status === "cancelled") return { status: "cancelled" };
  if (line.product_type === "physical_sim") return shippingOf(line);
  if (line.status !== "fulfilled") return { status: line.status };
  return {
    status: "fulfilled",
    esims: esims
      .filter((esim) => esim.line_id === line.id)
      .map((esim) => ({
        iccid: esim.iccid,
        activation_code: activationCode(esim),
        smdp_address: esim.smdp_address,
        matching_id: esim.matching_id,
        ...esimLinks(q.vault, publicUrl, esim.id),
        ...(line.product_type === "esim_eid_push" ? { eid_number: esim.eid } : {}),
      })),
  };
}

function shippingOf(line: LineRow): Record<string, unknown> {
  if (line.shipping === null) return { status: line.status };
  const { carrier, tracking_number, tracking_url, shipped_at } = line.shipping;
  return { status: "shipped", carrier, tracking_number, tracking_url, shipped_at: isoTime(shipped_at) };
}
