import { ALL_ESIMS, activationCode, type Esim, type EsimRow, esimPage, toEsim } from "../esims/esim.ts";
import { esimLinks } from "../esims/links.ts";
import type { OrderId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import type { Owner } from "../kernel/owner.ts";
import { Problem } from "../kernel/problem.ts";
import type { Read } from "../store/store.ts";
import { type ItemRow, itemsOfOrder } from "./items.ts";
import { type LineRow, linesOfOrder, orderFacts, requireOrder, requireOwnOrder } from "./order.ts";

/** One order with what was delivered (contract: OrderWithFulfillment). Throws `not_found`. */
export async function showOrder(q: Read, input: { owner: Owner; id: OrderId; publicUrl: string }) {
  const order = await requireOwnOrder(q, input.owner, input.id);
  const lines = await linesOfOrder(q, order.id);
  const fulfilled = lines.filter((line) => line.status === "fulfilled");
  const delivered = fulfilled.some((line) => line.product_type !== "physical_sim");
  const esims = delivered ? (await esimPage(q, order, ALL_ESIMS)).map(({ esim }) => esim) : [];
  const pushed = fulfilled.some((line) => line.product_type === "esim_eid_push");
  const items = pushed ? await itemsOfOrder(q, order.id) : [];
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
      fulfillment: fulfillmentOf(q, input.publicUrl, line, { esims, items }),
    })),
  };
}

/** Contract: OrderEsims. */
export interface OrderEsims {
  order_id: OrderId;
  esims: Esim[];
  count: number;
}

/** The eSIMs of a fulfilled order (contract: GET /orders/{id}/esims). Throws `not_found`, `order_not_fulfilled`. */
export async function orderEsims(
  q: Read,
  input: { owner: Owner; id: OrderId; publicUrl: string },
): Promise<OrderEsims> {
  const order = await requireOwnOrder(q, input.owner, input.id);
  if (order.status !== "fulfilled") {
    throw new Problem(
      "order_not_fulfilled",
      `Order ${order.order_number} is ${order.status}; eSIMs come when it is fulfilled.`,
    );
  }
  const rows = await esimPage(q, order, ALL_ESIMS);
  const esims = rows.map(({ esim, activation_policy }) => toEsim(q, input.publicUrl, esim, activation_policy));
  return { order_id: order.id, esims, count: esims.length };
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

/** What a line's delivery looks like, by product type; nothing shows before the line is fulfilled. */
function fulfillmentOf(
  q: Read,
  publicUrl: string,
  line: LineRow,
  { esims, items }: { esims: EsimRow[]; items: ItemRow[] },
): Record<string, unknown> {
  if (line.status === "cancelled") return { status: "cancelled" };
  if (line.product_type === "physical_sim") return shippingOf(line);
  if (line.status !== "fulfilled") return { status: line.status };
  const isPush = line.product_type === "esim_eid_push";
  return {
    status: "fulfilled",
    ...(isPush ? eidsOf(line, items) : {}),
    esims: esims
      .filter((esim) => esim.line_id === line.id)
      .map((esim) => ({
        iccid: esim.iccid,
        activation_code: activationCode(esim),
        smdp_address: esim.smdp_address,
        matching_id: esim.matching_id,
        ...esimLinks(q.vault, publicUrl, esim.id),
        ...(isPush ? { eid_number: esim.eid } : {}),
      })),
  };
}

/** The EIDs that profiles were pushed to; also those of units whose supplier returned no eSIM. */
function eidsOf(line: LineRow, items: ItemRow[]) {
  const pushed = items.filter((item) => item.line_id === line.id && item.status === "activated");
  const eid_numbers = pushed.flatMap(({ traveller }) => traveller?.eid_number ?? []);
  const [eid_number = null, ...others] = new Set(eid_numbers);
  return { eid_number: others.length === 0 ? eid_number : null, eid_numbers };
}

function shippingOf(line: LineRow): Record<string, unknown> {
  if (line.shipping === null) return { status: line.status };
  const { carrier, tracking_number, tracking_url, shipped_at } = line.shipping;
  return { status: "shipped", carrier, tracking_number, tracking_url, shipped_at: isoTime(shipped_at) };
}
