import { and, eq, isNull, sql } from "drizzle-orm";
import type { OrderId, OrderLineId, PartnerId, ProductId } from "../../kernel/brand.ts";
import { numberAt, type Slots, statement, textAt } from "../statement.ts";
import type { ClaimedUnit, StockClaim, Tx } from "../store.ts";

type Units = { needs: string; units: string };

/** JSON: `needs` lists products and quantities, `units` product, place from 1 on, order, line, partner and moment. */
const assignUnits = statement((db, t, slot: Slots<Units>, dialect) => {
  const { id, product_id, order_id } = t.esims;
  const free = db
    .select({ id })
    .from(t.esims)
    .where(and(eq(product_id, sql`needs.product_id`), isNull(order_id)))
    .orderBy(id)
    // Its type expects a number.
    .limit(sql`needs.quantity` as unknown as number);
  // Chosen once, before they are joined with the units: what chooses them locks them.
  const chosen = sql`select needs.product_id, one.id, one.place
    from (select ${textAt(0)} as product_id, ${numberAt(1)} as quantity from ${dialect.listed(slot.needs)}) as needs
    cross join lateral unnest(array(${dialect.lock(free, { skipLocked: true })})) with ordinality as one(id, place)`;
  const picked = sql`(with chosen as materialized (${chosen})
    select chosen.id, listed.value from chosen
    join ${dialect.listed(slot.units)} on ${textAt(0)} = chosen.product_id and ${numberAt(1)} = chosen.place
  ) as listed`;
  return (
    db
      .update(t.esims)
      .set({
        order_id: textAt<OrderId>(2),
        line_id: textAt<OrderLineId>(3),
        partner_id: textAt<PartnerId>(4),
        environment: "production",
        assigned_at: numberAt(5),
      })
      // As above.
      .from(picked)
      .where(eq(id, sql`listed.id`))
      .returning({ line_id: t.esims.line_id, cost: t.esims.cost, cost_currency: t.esims.cost_currency })
  );
});

/** `Dialect.claim`, all of them by one statement. */
export async function claimTogether(tx: Tx, claims: readonly StockClaim[]): Promise<ClaimedUnit[]> {
  const needs = new Map<ProductId, number>();
  const units = claims.flatMap(({ productId, orderId, lineId, partnerId, quantity, at: moment }) => {
    const before = needs.get(productId) ?? 0;
    needs.set(productId, before + quantity);
    return Array.from({ length: quantity }, (_, at) => [
      productId,
      before + at + 1,
      orderId,
      lineId,
      partnerId,
      moment,
    ]);
  });
  const lists = { needs: JSON.stringify([...needs]), units: JSON.stringify(units) };
  return units.length === 0 ? [] : assignUnits(tx, lists);
}
