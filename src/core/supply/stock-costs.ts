import { and, eq, isNull, sql } from "drizzle-orm";
import type { OrderId, OrderLineId } from "../kernel/brand.ts";
import type { Row } from "../store/schema/tables.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { ClaimedUnit, StockClaim, Tx } from "../store/store.ts";
import { type NewCost, postCosts } from "./costs.ts";

/** Units of the stock for a line, and what one of them costs where the unit itself does not say; null: not known. */
export interface StockSale extends StockClaim {
  cost: number | null;
  cost_currency: string | null;
}

/** Posts what units of the stock cost that were handed to lines, the units of a line at once. Most cost nothing. */
export async function postStockCosts(
  tx: Tx,
  sales: readonly StockSale[],
  units: readonly ClaimedUnit[],
): Promise<void> {
  const sold = new Map(sales.map((sale) => [sale.lineId, sale]));
  const sums = new Map<string, NewCost>();
  for (const unit of units) {
    const sale = unit.line_id === null ? undefined : sold.get(unit.line_id);
    const { cost, cost_currency: currency } = unit.cost === null ? (sale ?? unit) : unit;
    if (sale === undefined || cost === null || currency === null) continue;
    const { orderId, lineId, partnerId, at } = sale;
    const key = `${lineId} ${currency}`;
    const before = sums.get(key);
    const sum = { cost: cost + (before?.cost ?? 0), units: 1 + (before?.units ?? 0) };
    sums.set(key, { kind: "purchase", supplier: null, currency, ...sum, partnerId, orderId, lineId, at });
  }
  await postCosts(tx, [...sums.values()]);
}

const posted = statement((db, t, slot: Slots<{ order_id: OrderId; line_id: OrderLineId }>) =>
  db
    .select({
      currency: t.costs.currency,
      cost: sql`sum(${t.costs.cost})`.mapWith(Number),
      units: sql`sum(${t.costs.units})`.mapWith(Number),
    })
    .from(t.costs)
    .where(and(eq(t.costs.order_id, slot.order_id), eq(t.costs.line_id, slot.line_id), isNull(t.costs.supplier)))
    .groupBy(t.costs.currency)
    .orderBy(t.costs.currency),
);

/** Takes back what was posted for units of a line that go back into stock. */
export async function takeStockCostsBack(
  tx: Tx,
  { id: lineId, order_id: orderId, partner_id: partnerId }: Pick<Row<"orderLines">, "id" | "order_id" | "partner_id">,
): Promise<void> {
  const sums = (await posted(tx, { order_id: orderId, line_id: lineId })).filter(({ cost }) => cost !== 0);
  const about = { kind: "refund", supplier: null, partnerId, orderId, lineId } as const;
  await postCosts(
    tx,
    sums.map(({ cost, ...sum }) => ({ ...about, ...sum, cost: -cost })),
  );
}
