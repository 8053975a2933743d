import { and, count, desc, eq, ne } from "drizzle-orm";
import type { EsimRow } from "../esims/esim.ts";
import type { EsimId, OrderId, OrderItemId, OrderLineId } from "../kernel/brand.ts";
import { formatMoney } from "../kernel/money.ts";
import { invalid } from "../kernel/problem.ts";
import { wholeOrder } from "../orders/delivered.ts";
import { findItem, type ItemRow } from "../orders/items.ts";
import type { OrderRow } from "../orders/order.ts";
import { refundable, refundOrder } from "../orders/refund.ts";
import type { Row } from "../store/schema/tables.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { attemptsOfItem } from "../supplier-requests/outcome.ts";
import { postCost } from "../supply/costs.ts";

/** An eSIM of an order. */
export type Sold = EsimRow & { order_id: OrderId };

/** Whether `orders refund` repaid this very unit before; undefined: that was not said. */
export type Repaid = boolean | undefined;

const returned = statement((db, t, slot: Slots<{ line_id: OrderLineId; esim_id: EsimId }>) =>
  db
    .select({ units: count() })
    .from(t.esims)
    .innerJoin(t.esimReturns, eq(t.esimReturns.esim_id, t.esims.id))
    .where(
      and(
        eq(t.esims.line_id, slot.line_id),
        ne(t.esims.id, slot.esim_id),
        eq(t.esimReturns.kind, "refund"),
        eq(t.esimReturns.outcome, "done"),
      ),
    ),
);

/** What there is to repay for a unit, in minor units of the order's currency. */
interface UnitPrice {
  order: OrderRow;
  /** Its number in the order, from 1 on. */
  line: number;
  /** What is left of the unit's price where nothing that went back before was for it. */
  unpaid: number;
  /** The same where that was for it. */
  repaid: number;
  /** What went back of the line by `orders refund`: for which of its units is not known. */
  before: number;
}

async function unitPrice(q: Read, esim: Sold): Promise<UnitPrice> {
  const { order, lines, items } = await wholeOrder(q, esim.order_id);
  const at = lines.findIndex(({ id }) => id === esim.line_id);
  const line = lines[at];
  if (line === undefined) return { order, line: 0, unpaid: 0, repaid: 0, before: 0 };
  const { id: line_id, unit_price_cents: price, refunded_cents } = line;
  const ended = items.filter((item) => item.line_id === line_id && ["cancelled", "failed"].includes(item.status));
  const withdrawn = ended.reduce((sum, item) => sum + item.quantity, 0);
  const { units } = first(await returned(q, { line_id, esim_id: esim.id })) ?? { units: 0 };
  const before = Math.max(0, refunded_cents - price * (withdrawn + units));
  const left = refundable(line);
  const repaid = Math.min(left, Math.max(0, price - before));
  return { order, line: at + 1, unpaid: Math.min(price, left), repaid, before };
}

/**
 * What went back of an eSIM's line by `orders refund`, in words, where it makes a difference for which eSIM that was;
 * null: it makes none.
 */
export async function unclearRefund(q: Read, esim: Sold): Promise<string | null> {
  const { order, line, unpaid, repaid, before } = await unitPrice(q, esim);
  if (unpaid === repaid) return null;
  return `${formatMoney(before, order.currency)} ${order.currency} of line ${line} of ${order.order_number}`;
}

/** Throws `validation` where it has to be said whether a unit was repaid before. */
export async function requireClear(q: Read, esim: Sold, repaid: Repaid): Promise<void> {
  const unclear = repaid === undefined ? await unclearRefund(q, esim) : null;
  if (unclear === null) return;
  throw invalid({ repaid: [`is needed: ${unclear} went back before, and nothing says for which eSIM`] });
}

/**
 * Repays the price of one unit to the partner, as far as neither it nor its line was repaid before, with
 * order.refunded. Returns what that was (minor units). Throws `validation` as `requireClear`.
 */
export async function repayUnit(
  tx: Tx,
  esim: Sold,
  { actor, reason, repaid }: { actor: string; reason: string; repaid: Repaid },
) {
  await requireClear(tx, esim, repaid);
  const { order, line, ...cents } = await unitPrice(tx, esim);
  const due = repaid === true ? cents.repaid : cents.unpaid;
  if (due === 0) return 0;
  const amount = formatMoney(due, order.currency);
  await refundOrder(tx, { id: order.id, line, units: null, amount, reason, actor });
  return due;
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
