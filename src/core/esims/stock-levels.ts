import { eq } from "drizzle-orm";
import { statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

/** How much of one product is free. */
export interface StockLevel {
  product_id: string;
  sku: string;
  name: string;
  status: string;
  available: number;
}

const levels = statement((db, t, _slot) =>
  db
    .select({
      product_id: t.products.id,
      sku: t.products.sku,
      name: t.products.name,
      status: t.products.status,
      available: t.stockPools.available,
    })
    .from(t.stockPools)
    .innerJoin(t.products, eq(t.products.id, t.stockPools.product_id))
    .where(eq(t.products.delivery_method, "stock"))
    .orderBy(t.products.sku),
);

/** The stock of every stocked product, by sku; `below` leaves only those on sale with fewer. */
export async function stockLevels(q: Read, input: { below: number | null }): Promise<StockLevel[]> {
  const all = await levels(q, {});
  const { below } = input;
  return below === null ? all : all.filter(({ available, status }) => available < below && status !== "inactive");
}
