import { and, desc, eq, inArray, isNull } from "drizzle-orm";
import { type Actor, recordAudit } from "../audit/record.ts";
import type { ProductId } from "../kernel/brand.ts";
import { counted } from "../kernel/counted.ts";
import { invalid, Problem } from "../kernel/problem.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { stockedProduct } from "./import-stock.ts";
import { addToPool, availableStock, reserveStock } from "./stock.ts";

const relabel = statement((db, t, slot: Slots<{ from: ProductId; to: ProductId; count: number }>) =>
  db
    .update(t.esims)
    .set({ product_id: slot.to })
    .where(
      inArray(
        t.esims.id,
        db
          .select({ id: t.esims.id })
          .from(t.esims)
          .where(and(eq(t.esims.product_id, slot.from), isNull(t.esims.order_id)))
          // Orders are given the oldest: these are the ones that they need last.
          .orderBy(desc(t.esims.id))
          .limit(slot.count),
      ),
    )
    .returning({ id: t.esims.id }),
);

/** What moved, and what both products have now. */
export interface StockMoved {
  moved: number;
  from: { sku: string; available: number };
  to: { sku: string; available: number };
}

/**
 * Moves free eSIMs of one product to another, the newest first; what orders have reserved stays. Throws `not_found`,
 * `validation`, `conflict` when a product is not delivered from stock or has fewer free: then nothing moves.
 */
export async function moveStock(
  tx: Tx,
  input: { from: string; to: string; count: number; actor: Actor },
): Promise<StockMoved> {
  const { from, to, count, actor } = input;
  if (!Number.isSafeInteger(count) || count < 1) throw invalid({ count: ["must be a whole number of 1 or more"] });
  const [{ id: source }, { id: target }] = [await stockedProduct(tx, from), await stockedProduct(tx, to)];
  if (source === target) throw invalid({ to: ["must be another product"] });
  const [short] = await reserveStock(tx, [{ productId: source, sku: from, quantity: count }]);
  if (short !== undefined) {
    throw new Problem("conflict", `${from} has ${counted(short.available, "free eSIM")}, fewer than ${count}.`);
  }
  const moved = await relabel(tx, { from: source, to: target, count });
  if (moved.length !== count) throw new Error("the stock holds fewer eSIMs than its pool says");
  await addToPool(tx, target, count);
  const act = { actor, action: "stock.move", targetKind: "product", note: `${counted(count, "eSIM")} ${from} → ${to}` };
  for (const targetId of [source, target]) await recordAudit(tx, { ...act, targetId });
  return {
    moved: count,
    from: { sku: from, available: await availableStock(tx, source) },
    to: { sku: to, available: await availableStock(tx, target) },
  };
}
