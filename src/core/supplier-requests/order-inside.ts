import { listAudit } from "../audit/list.ts";
import { newestEsimsOfOrder } from "../esims/esim.ts";
import type { OrderId, OrderItemId } from "../kernel/brand.ts";
import { isoTime, isoTimeOrNull } from "../kernel/clock.ts";
import { formatCost } from "../kernel/cost.ts";
import { travelerOf } from "../orders/customer.ts";
import { costAt, type ItemRow, itemsOfOrder } from "../orders/items.ts";
import { type LineRow, linesOfOrder, requireOrder } from "../orders/order.ts";
import { waitingOfOrder } from "../orders/waiting-of-order.ts";
import { partnerById } from "../partners/partner.ts";
import { currentOutages } from "../platform/outages.ts";
import type { Read } from "../store/store.ts";
import { attemptsOfItem } from "./outcome.ts";

/** Items whose attempts are read, eSIMs and acts: a screen holds no more, and large orders have very many. */
const WITH_ATTEMPTS = 50;
const MOST_ESIMS = 50;
const MOST_ACTS = 100;

interface InsideItem
  extends Pick<ItemRow, "status" | "supplier" | "supplier_sku" | "quantity" | "cost_currency" | "error_message"> {
  item_id: OrderItemId;
  /** What a unit costs there: a decimal; null: not known. */
  cost: string | null;
  /** Why it is bought there. */
  reason: string | null;
  activation_date: string | null;
  attempts: ReturnType<typeof toAttempt>[];
}

/**
 * What only the operator sees of an order: whose it is, who placed it, for whom it waits, why it waits or ended, when
 * it was fulfilled, the newest 50 ICCIDs, what people did with it, what its suppliers are to deliver, the first 50
 * items with each attempt, and which of them fail. Throws `not_found`.
 */
export async function orderInside(q: Read, id: OrderId) {
  const order = await requireOrder(q, id);
  const { slug } = await partnerById(q, order.partner_id);
  const rows = await itemsOfOrder(q, id);
  const lines = await linesOfOrder(q, id);
  const items: InsideItem[] = [];
  for (const [at, item] of rows.entries()) {
    const { id: item_id, status, supplier, supplier_sku, quantity, error_message } = item;
    const bought = { supplier, supplier_sku, ...costOf(item, lines), reason: item.routed };
    const attempts = at < WITH_ATTEMPTS ? await attemptsOfItem(q, item.id) : [];
    const activation_date = travelerOf(q, item)?.activation_date ?? null;
    const state = { item_id, status, ...bought, quantity, activation_date, error_message };
    items.push({ ...state, attempts: attempts.map(toAttempt) });
  }
  const waiting = await waitingOfOrder(q, order, lines);
  const open = rows.filter(({ status }) => status === "pending" || status === "submitted" || status === "confirmed");
  const outages = await currentOutages(q, { suppliers: open.map(({ supplier }) => supplier) });
  const { environment, reason, created_by } = order;
  const facts = { partner: slug, environment, waiting, reason, created_by };
  const times = { fulfilled_at: isoTimeOrNull(order.fulfilled_at), cancelled_at: isoTimeOrNull(order.cancelled_at) };
  const iccids = (await newestEsimsOfOrder(q, order, MOST_ESIMS)).map(({ iccid }) => iccid).toReversed();
  return { ...facts, ...times, iccids, history: await historyOf(q, id), items, at: isoTime(q.now), outages };
}

function costOf(item: ItemRow, lines: readonly LineRow[]): Pick<InsideItem, "cost" | "cost_currency"> {
  const line = lines.find(({ id }) => id === item.line_id);
  const { cost, cost_currency } = line === undefined ? item : costAt(item, line);
  return { cost: cost === null ? null : formatCost(cost), cost_currency };
}

/** What people and workers did with it, oldest first: approvals, rejections, refunds, deliveries by hand. */
async function historyOf(q: Read, id: OrderId) {
  const lines = await listAudit(q, { target: id, limit: MOST_ACTS });
  return lines.toReversed().map(({ at, actor, action, note }) => ({ at, actor, action, note }));
}

export type OrderInside = Awaited<ReturnType<typeof orderInside>>;

function toAttempt({ at, source, outcome, status_code, latency_ms, answer }: Attempt) {
  return { at: isoTime(at), source, outcome, status_code, latency_ms, answer };
}

type Attempt = Awaited<ReturnType<typeof attemptsOfItem>>[number];
