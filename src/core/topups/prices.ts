import type { PartnerId } from "../kernel/brand.ts";
import { priceListOf } from "../prices/lists.ts";
import { pricesByProduct } from "../prices/unit-price.ts";
import type { Row } from "../store/schema/tables.ts";
import type { Read } from "../store/store.ts";

/** Products at the prices of a partner, the cheapest first. */
export async function atPartnerPrices(
  q: Read,
  { partnerId, products }: { partnerId: PartnerId; products: readonly Row<"products">[] },
): Promise<Row<"products">[]> {
  const price = pricesByProduct(q, await priceListOf(q, partnerId));
  const priced: Row<"products">[] = [];
  for (const one of products) priced.push({ ...one, price_cents: (await price(one, 1)).unit_price_cents });
  return priced.toSorted((a, b) => a.price_cents - b.price_cents || (a.sku < b.sku ? -1 : 1));
}
