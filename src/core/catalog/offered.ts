import { asc, eq } from "drizzle-orm";
import type { ProductStatus } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

/** Products that are offered at once: more are no help to who types a SKU. */
const MOST = 100;

/** As much of a product as is shown while its SKU is typed. */
export interface Offered {
  sku: string;
  name: string;
  price_cents: number;
  currency: string;
}

const byName = statement((db, t, slot: Slots<{ status: ProductStatus; most: number }>) =>
  db
    .select({
      sku: t.products.sku,
      name: t.products.name,
      price_cents: t.products.price_cents,
      currency: t.products.currency,
    })
    .from(t.products)
    .where(eq(t.products.status, slot.status))
    .orderBy(asc(t.products.name), asc(t.products.id))
    .limit(slot.most),
);

/** The first 100 products that can be ordered, by name. */
export function offeredProducts(q: Read): Promise<Offered[]> {
  return byName(q, { status: "active", most: MOST });
}
