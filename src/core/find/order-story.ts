import { eq } from "drizzle-orm";
import type { EsimRow } from "../esims/esim.ts";
import { formatMoney } from "../kernel/money.ts";
import { type ItemRow, itemsOfOrder } from "../orders/items.ts";
import { linesOfOrder, type OrderRow } from "../orders/order.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { attemptsOfItem } from "../supplies/outcome.ts";
import { attemptWords, type Moment, momentsOf } from "./moment.ts";

const money = statement((db, t, slot: Slots<{ order_id: string }>) =>
  db
    .select()
    .from(t.ledgerTransactions)
    .where(eq(t.ledgerTransactions.order_id, slot.order_id))
    .orderBy(t.ledgerTransactions.id),
);

/** What happened to an order: its states, its money, what suppliers said of its items, what was shipped. */
export async function orderStory(q: Read, order: OrderRow): Promise<Moment[]> {
  const lines = await linesOfOrder(q, order.id);
  const bought = lines.map((line) => `${line.quantity} × ${line.product_sku}`).join(", ");
  const price = `${formatMoney(order.total_cents, order.currency)} ${order.currency}`;
  const reason = order.reason === null ? "" : `: ${order.reason}`;
  const moments = momentsOf("order", order.id, [
    [order.created_at, `${order.order_number} ordered: ${bought} for ${price}`, order.request_id],
    [order.fulfilled_at, `${order.order_number} fulfilled`],
    [order.cancelled_at, `${order.order_number} cancelled${reason}`],
  ]);
  for (const { shipping } of lines) {
    if (shipping === null) continue;
    const text = `shipped by ${shipping.carrier}, tracking ${shipping.tracking_number}`;
    moments.push({ at: shipping.shipped_at, kind: "order", id: order.id, text });
  }
  return [...moments, ...(await moneyStory(q, order)), ...(await itemStory(q, order))];
}

async function moneyStory(q: Read, order: OrderRow): Promise<Moment[]> {
  const rows = await money(q, { order_id: order.id });
  return rows.map(({ id, created_at: at, kind, amount_cents, currency }) => {
    return { at, kind: "money", id, text: `${kind} of ${formatMoney(amount_cents, currency)} ${currency}` };
  });
}

async function itemStory(q: Read, order: OrderRow): Promise<Moment[]> {
  const moments: Moment[] = [];
  for (const item of await itemsOfOrder(q, order.id)) {
    const what = `item ${item.position + 1} (${item.supplier})`;
    moments.push(...itemMoments(item, what));
    for (const attempt of await attemptsOfItem(q, item.id)) {
      const text = `${what} ${attemptWords(attempt)}`;
      moments.push({ at: attempt.at, kind: "supplier", id: item.id, text, request_id: attempt.request_id });
    }
  }
  return moments;
}

/** Its states, and what is to come by itself. */
function itemMoments(item: ItemRow, what: string): Moment[] {
  const number = item.confirmation_number === null ? "" : `, number ${item.confirmation_number}`;
  const failed = item.status === "failed" ? item.updated_at : null;
  return momentsOf("item", item.id, [
    [item.submitted_at, `${what} submitted to its supplier`],
    [item.confirmed_at, `${what} confirmed${number}`],
    [item.activated_at, `${what} activated`],
    [item.cancelled_at, `${what} cancelled`],
    [failed, `${what} failed: ${item.error_type ?? "unknown"}, ${item.error_message ?? ""}`],
    [item.due_at, `${what} is to go to its supplier${item.attempts === 0 ? "" : " again"}`],
    [item.deadline_at, `${what} is to have its supplier's final answer`],
  ]);
}

/** What happened to an eSIM. */
export function esimStory(esim: EsimRow, now: number): Moment[] {
  // What was in stock came before it was assigned.
  const supplied = esim.assigned_at === esim.created_at;
  const usage = `${esim.iccid} used ${esim.used_mb ?? 0} MB`;
  const place = [esim.country, esim.network].filter((word) => word !== null).join(", ");
  const expired = esim.expires_at !== null && esim.expires_at <= now ? esim.expires_at : null;
  return momentsOf("esim", esim.id, [
    [esim.assigned_at, `${esim.iccid} ${supplied ? "delivered by its supplier" : "assigned from stock"}`],
    [esim.activated_at, `${esim.iccid} activated`],
    [esim.usage_at, usage],
    [esim.location_at, `${esim.iccid} seen in ${place || "an unknown network"}`],
    [expired, `${esim.iccid} expired`],
  ]);
}
