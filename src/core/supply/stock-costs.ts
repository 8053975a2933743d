import { and, eq, isNull } from "drizzle-orm";
import type { StockSale } from "../esims/stock.ts";
import type { OrderId, OrderLineId } from "../kernel/brand.ts";
import type { Row } from "../store/schema/tables.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { ClaimedUnit, Tx } from "../store/store.ts";
import { type NewCost, postCosts } from "./costs.ts";

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
    .select({ currency: t.costs.currency, cost: t.costs.cost, units: t.costs.units })
    .from(t.costs)
    .where(and(eq(t.costs.order_id, slot.order_id), eq(t.costs.line_id, slot.line_id), isNull(t.costs.supplier))),
);

/** Takes back what was posted for units of a line that go back into stock. */
export async function takeStockCostsBack(
  tx: Tx,
  { id: lineId, order_id: orderId, partner_id: partnerId }: Pick<Row<"orderLines">, "id" | "order_id" | "partner_id">,
): Promise<void> {
  const rows = Map.groupBy(await posted(tx, { order_id: orderId, line_id: lineId }), ({ currency }) => currency);
  const about = { kind: "refund", supplier: null, partnerId, orderId, lineId } as const;
  const back = [...rows].map(([currency, all]) => {
    const sum = (of: "cost" | "units") => all.reduce((total, one) => total + one[of], 0);
    return { ...about, currency, units: sum("units"), cost: -sum("cost") };
  });
  await postCosts(
    tx,
    back.filter(({ cost }) => cost !== 0),
  );
}
