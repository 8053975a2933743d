import { and, eq, or, sql } from "drizzle-orm";
import { statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { updateProduct } from "./import.ts";

const behind = statement((db, t, _slot) =>
  db
    .select({ sku: t.products.sku, available: t.stockPools.available })
    .from(t.products)
    .innerJoin(t.stockPools, eq(t.stockPools.product_id, t.products.id))
    .where(
      and(
        // As the partial index has it.
        sql`when_short = 'out_of_stock'`,
        eq(t.products.delivery_method, "stock"),
        or(
          and(eq(t.products.status, "active"), eq(t.stockPools.available, 0)),
          and(eq(t.products.status, "out_of_stock"), sql`${t.stockPools.available} > 0`),
        ),
      ),
    ),
);

/** Whether a product that follows its stock is behind it. */
export async function isBehindStock(q: Read): Promise<boolean> {
  return (await behind(q, {})).length > 0;
}

/** Takes products that follow their stock off sale once it has ended, and puts them on sale once it is refilled. */
export async function followStock(tx: Tx): Promise<void> {
  for (const { sku, available } of await behind(tx, {})) {
    const status = available === 0 ? "out_of_stock" : "active";
    await updateProduct(tx, { sku, status, actor: "worker" });
  }
}
