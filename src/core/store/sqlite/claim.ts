import { and, eq, isNull } from "drizzle-orm";
import type { EsimId, ProductId } from "../../kernel/brand.ts";
import { type Slots, statement } from "../statement.ts";
import type { ClaimedUnit, StockClaim, Tx } from "../store.ts";

const choose = statement((db, t, slot: Slots<{ productId: ProductId; quantity: number }>) =>
  db
    .select({ id: t.esims.id, cost: t.esims.cost, cost_currency: t.esims.cost_currency })
    .from(t.esims)
    .where(and(eq(t.esims.product_id, slot.productId), isNull(t.esims.order_id)))
    .orderBy(t.esims.id)
    .limit(slot.quantity),
);

type Owner = Omit<StockClaim, "productId" | "quantity"> & { id: EsimId };

const assign = statement((db, t, { id, orderId, lineId, partnerId, at }: Slots<Owner>) =>
  db
    .update(t.esims)
    .set({ order_id: orderId, line_id: lineId, partner_id: partnerId, environment: "production", assigned_at: at })
    .where(and(eq(t.esims.id, id), isNull(t.esims.order_id))),
);

/**
 * `Dialect.claim`, eSIM by eSIM: an update that chooses from its own table keeps what it has chosen in a table of its
 * own, which takes longer.
 */
export async function claimEach(tx: Tx, claims: readonly StockClaim[]): Promise<ClaimedUnit[]> {
  const claimed: ClaimedUnit[] = [];
  for (const { productId, quantity, ...owner } of claims) {
    for (const { id, ...cost } of await choose(tx, { productId, quantity })) {
      if ((await assign(tx, { ...owner, id })).changes > 0) claimed.push({ line_id: owner.lineId, ...cost });
    }
  }
  return claimed;
}
