import { ALL_ESIMS, type EsimRow, esimPage } from "../esims/esim.ts";
import { esimLinks } from "../esims/links.ts";
import { shownCodes } from "../esims/sealed-codes.ts";
import type { OrderId, OrderLineId } from "../kernel/brand.ts";
import { isoTime, isoTimeOrNull } from "../kernel/clock.ts";
import type { Owner } from "../kernel/owner.ts";
import type { OrderItemStatus } from "../store/schema/values.ts";
import type { Read } from "../store/store.ts";
import { travelerOf } from "./customer.ts";
import { type ItemRow, itemsOfOrder } from "./items.ts";
import { type LineRow, linesOfOrder, type OrderRow, orderFacts, requireOwnOrder } from "./order.ts";

/** Whose order to read, which one, and where links lead. */
export interface OrderRequest {
  owner: Owner;
  id: OrderId;
  publicUrl: string;
}

/** An order with more units is read page by page, so that no read is long. */
export const MAX_INLINE_ESIMS = 1_000;

/** One order with what was delivered (contract: OrderWithFulfillment), except the eSIMs of the lines in `open`. */
export interface ShownOrder {
  order: OrderWithFulfillment;
  /** Lines of a large order whose `esims` are empty here: `lineEsims` reads them. */
  open: Set<OrderLineId>;
}

type OrderWithFulfillment = Awaited<ReturnType<typeof toOrderWithFulfillment>>;

/**
 * One order with what was delivered; of an order with more than `most` units the eSIMs are left to `lineEsims`. They
 * are of the same state: what a fulfilled line delivered never changes. Throws `not_found`.
 */
export async function showOrder(q: Read, input: OrderRequest & { most: number }): Promise<ShownOrder> {
  const order = await requireOwnOrder(q, input.owner, input.id);
  const lines = await linesOfOrder(q, order.id);
  const delivered = lines.filter((line) => line.status === "fulfilled" && line.product_type !== "physical_sim");
  const large = order.quantity > input.most;
  const esims = large || delivered.length === 0 ? [] : await esimPage(q, order, ALL_ESIMS);
  const pushed = delivered.some((line) => line.product_type === "esim_eid_push");
  const items = pushed ? await itemsOfOrder(q, order.id) : [];
  return {
    order: toOrderWithFulfillment(q, order, lines, (line) => {
      const own = esims.filter(({ esim }) => esim.line_id === line.id);
      return fulfillmentOf(q, line, {
        esims: own.map(({ esim }) => toLineEsim(q, input.publicUrl, esim, line)),
        items,
      });
    }),
    open: new Set(large ? delivered.map((line) => line.id) : []),
  };
}

/** How many eSIMs an order shows with their codes. */
export function codesIn({ order, open }: ShownOrder): number {
  const shown = order.line_items.map(({ id, quantity, fulfillment: { esims } }) =>
    open.has(id) ? quantity : Array.isArray(esims) ? esims.length : 0,
  );
  return shown.reduce((sum, esims) => sum + esims, 0);
}

function toOrderWithFulfillment(
  q: Read,
  order: OrderRow,
  lines: LineRow[],
  fulfillment: (line: LineRow) => Record<string, unknown>,
) {
  return {
    id: order.id,
    order_number: order.order_number,
    status: order.status,
    total_amount_cents: order.total_cents,
    total_price_cents: order.total_cents,
    currency: order.currency,
    ...orderFacts(q, order),
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
      fulfillment: fulfillment(line),
    })),
  };
}

/** What a line's delivery looks like, by product type; nothing shows before the line is fulfilled. */
function fulfillmentOf(
  q: Read,
  line: LineRow,
  { esims, items }: { esims: ReturnType<typeof toLineEsim>[]; items: ItemRow[] },
): Record<string, unknown> {
  if (line.status === "cancelled") return { status: "cancelled" };
  if (line.product_type === "physical_sim") return shippingOf(line);
  if (line.status !== "fulfilled") return { status: line.status };
  return { status: "fulfilled", ...(line.product_type === "esim_eid_push" ? eidsOf(q, line, items) : {}), esims };
}

/** An eSIM as the line that delivered it shows it. */
export function toLineEsim(q: Read, publicUrl: string, esim: EsimRow, line: LineRow) {
  const { confirmation_code, ...codes } = shownCodes(q, esim);
  return {
    iccid: esim.iccid,
    ...codes,
    ...esimLinks(q.vault, publicUrl, esim.id),
    ...(line.product_type === "esim_eid_push" ? { eid_number: esim.eid } : {}),
  };
}

/** The EIDs that profiles were pushed to; also those of units whose supplier returned no eSIM. */
function eidsOf(q: Read, line: LineRow, items: ItemRow[]) {
  const pushed = items.filter((item) => item.line_id === line.id && item.status === "activated");
  const eid_numbers = pushed.flatMap((item) => travelerOf(q, item)?.eid_number ?? []);
  const [eid_number = null, ...others] = new Set(eid_numbers);
  return { eid_number: others.length === 0 ? eid_number : null, eid_numbers };
}

function shippingOf(line: LineRow): Record<string, unknown> {
  if (line.shipping === null) return { status: line.status };
  const { carrier, tracking_number, tracking_url, shipped_at } = line.shipping;
  return { status: "shipped", carrier, tracking_number, tracking_url, shipped_at: isoTime(shipped_at) };
}

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
