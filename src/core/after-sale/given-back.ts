import { desc, eq } from "drizzle-orm";
import type { EsimRow } from "../esims/esim.ts";
import type { OrderId, OrderItemId } from "../kernel/brand.ts";
import { formatMoney } from "../kernel/money.ts";
import { findItem, type ItemRow } from "../orders/items.ts";
import { linesOfOrder, requireOrder } from "../orders/order.ts";
import { refundable, refundOrder } from "../orders/refund.ts";
import type { Row } from "../store/schema/tables.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { attemptsOfItem } from "../supplier-requests/outcome.ts";
import { postCost } from "../supply/costs.ts";

type Sold = EsimRow & { order_id: OrderId };

/**
 * Repays the price of one unit to the partner, as far as its line has not been repaid, with order.refunded. Returns
 * what that was (minor units).
 */
export async function repayUnit(tx: Tx, esim: Sold, { actor, reason }: { actor: string; reason: string }) {
  const order = await requireOrder(tx, esim.order_id);
  const lines = await linesOfOrder(tx, order.id);
  const at = lines.findIndex(({ id }) => id === esim.line_id);
  const line = lines[at];
  const cents = line === undefined ? 0 : Math.min(line.unit_price_cents, refundable(line));
  if (cents === 0) return 0;
  const amount = formatMoney(cents, order.currency);
  await refundOrder(tx, { id: order.id, line: at + 1, units: null, amount, reason, actor });
  return cents;
}

/** Posts that the supplier gave back what a unit cost; nothing where its cost was not known. */
export async function postGivenBack(tx: Tx, esim: Sold, { reference }: { reference: string | null }): Promise<void> {
  const bought = await purchaseOf(tx, esim);
  if (bought === null) return;
  const { supplier, currency, cost, units, partner_id: partnerId, order_id: orderId, line_id: lineId } = bought;
  const of = { partnerId, orderId, lineId, itemId: bought.item_id, esimId: esim.id };
  const back = { kind: "refund", supplier, currency, cost: -Math.round(cost / units), units: 1 } as const;
  await postCost(tx, { ...back, ...of, reference: reference ?? bought.reference });
}

const purchases = statement((db, t, slot: Slots<{ order_id: OrderId }>) =>
  db.select().from(t.costs).where(eq(t.costs.order_id, slot.order_id)).orderBy(desc(t.costs.id)),
);

/** The purchase of a unit; null: none was posted, or it cannot be seen which of several it was. */
async function purchaseOf(q: Read, esim: Sold): Promise<Row<"costs"> | null> {
  const posted = await purchases(q, { order_id: esim.order_id });
  const all = posted.filter(
    ({ kind, line_id, supplier }) =>
      kind === "purchase" && line_id === esim.line_id && supplier === esim.supplier && supplier !== null,
  );
  const [first] = all;
  if (first === undefined || all.length === 1) return first ?? null;
  for (const one of all) if (one.item_id !== null && (await delivered(q, one.item_id, esim.iccid))) return one;
  // Whichever it was, it cost the same.
  return all.every(({ cost, units }) => cost * first.units === first.cost * units) ? first : null;
}

async function delivered(q: Read, item: OrderItemId, iccid: string): Promise<boolean> {
  const attempts = await attemptsOfItem(q, item);
  return attempts.some(({ outcome, answer }) => outcome === "activated" && answer === iccid);
}

const items = statement((db, t, slot: Slots<{ order_id: OrderId }>) =>
  db
    .select({ id: t.orderItems.id, line_id: t.orderItems.line_id })
    .from(t.orderItems)
    .where(eq(t.orderItems.order_id, slot.order_id)),
);

/** The order item that an eSIM was delivered for; null: it cannot be seen which. */
export async function itemOf(q: Read, esim: Sold): Promise<ItemRow | null> {
  for (const { id, line_id } of await items(q, { order_id: esim.order_id })) {
    if (line_id === esim.line_id && (await delivered(q, id, esim.iccid))) return findItem(q, id);
  }
  return null;
}
