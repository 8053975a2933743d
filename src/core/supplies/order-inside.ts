import type { OrderId, OrderItemId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import { travellerOf } from "../orders/customer.ts";
import { type ItemRow, itemsOfOrder } from "../orders/items.ts";
import { linesOfOrder, requireOrder } from "../orders/order.ts";
import { waitingOfOrder } from "../orders/waiting.ts";
import { partnerById } from "../partners/partner.ts";
import { currentOutages } from "../platform/outages.ts";
import type { Read } from "../store/store.ts";
import { attemptsOfItem } from "./outcome.ts";

/** Items whose attempts are read: a screen holds no more, and large orders have very many. */
const WITH_ATTEMPTS = 50;

interface InsideItem extends Pick<ItemRow, "status" | "supplier" | "quantity" | "error_message"> {
  item_id: OrderItemId;
  activation_date: string | null;
  attempts: ReturnType<typeof toAttempt>[];
}

/**
 * What only the operator sees of an order: whose it is, who placed it, for whom it waits, why it waits or ended, what
 * its suppliers are to deliver, the first 50 items with each attempt, and which of them fail. Throws `not_found`.
 */
export async function orderInside(q: Read, id: OrderId) {
  const order = await requireOrder(q, id);
  const { slug } = await partnerById(q, order.partner_id);
  const rows = await itemsOfOrder(q, id);
  const items: InsideItem[] = [];
  for (const [at, item] of rows.entries()) {
    const { id: item_id, status, supplier, quantity, error_message } = item;
    const attempts = at < WITH_ATTEMPTS ? await attemptsOfItem(q, item.id) : [];
    const activation_date = travellerOf(q, item)?.activation_date ?? null;
    const state = { item_id, status, supplier, quantity, activation_date, error_message };
    items.push({ ...state, attempts: attempts.map(toAttempt) });
  }
  const waiting = await waitingOfOrder(q, order, await linesOfOrder(q, id));
  const open = rows.filter(({ status }) => status === "pending" || status === "submitted" || status === "confirmed");
  const outages = await currentOutages(q, { suppliers: open.map(({ supplier }) => supplier) });
  const { environment, reason, created_by } = order;
  return { partner: slug, environment, waiting, reason, created_by, items, at: isoTime(q.now), outages };
}

export type OrderInside = Awaited<ReturnType<typeof orderInside>>;

function toAttempt({ at, source, outcome, status_code, latency_ms, answer }: Attempt) {
  return { at: isoTime(at), source, outcome, status_code, latency_ms, answer };
}

type Attempt = Awaited<ReturnType<typeof attemptsOfItem>>[number];
