import { and, asc, eq } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import { priceListOf } from "../prices/lists.ts";
import { pricesOfList } from "../prices/unit-price.ts";
import type { ProductPurpose, ProductStatus } from "../store/schema/values.ts";
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

const byName = statement((db, t, slot: Slots<{ status: ProductStatus; purpose: ProductPurpose; most: number }>) =>
  db
    .select()
    .from(t.products)
    .where(and(eq(t.products.status, slot.status), eq(t.products.purpose, slot.purpose)))
    .orderBy(asc(t.products.name), asc(t.products.id))
    .limit(slot.most),
);

/** The first 100 products that can be ordered, by name, at the prices of a partner. */
export async function offeredProducts(q: Read, partnerId: PartnerId): Promise<Offered[]> {
  const list = await priceListOf(q, partnerId);
  const price = list === null ? null : await pricesOfList(q, list);
  const offered: Offered[] = [];
  for (const row of await byName(q, { status: "active", purpose: "plan", most: MOST })) {
    const { sku, name, currency } = row;
    const price_cents = price === null ? row.price_cents : (await price(row, 1)).unit_price_cents;
    offered.push({ sku, name, price_cents, currency });
  }
  return offered;
}
