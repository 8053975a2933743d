import { matching } from "../catalog/list.ts";
import { type RuleInList, showPriceList } from "../prices/show.ts";
import { pricesByProduct, pricesOfList } from "../prices/unit-price.ts";
import type { Read } from "../store/store.ts";
import { requirePartner } from "./partner.ts";

/** What one unit of a product costs a partner. */
export interface PartnerPrice {
  sku: string;
  name: string;
  price_cents: number;
  currency: string;
  catalog_price_cents: number;
  /** The list whose rule makes the price; null: it is the catalog's. */
  price_list: string | null;
}

/** The prices of a partner: its list with its rules, and every active product by SKU. */
export interface PartnerPrices {
  price_list: string | null;
  rules: RuleInList[];
  products: PartnerPrice[];
}

/** What a partner pays today for one unit of each active product. Throws `not_found`. */
export async function partnerPrices(q: Read, slug: string): Promise<PartnerPrices> {
  const { price_list } = await requirePartner(q, slug);
  const price = price_list === null ? pricesByProduct(q, null) : await pricesOfList(q, price_list);
  const products: PartnerPrice[] = [];
  for (const row of await matching(q, { status: "active" })) {
    const { sku, name, currency, price_cents: catalog_price_cents } = row;
    const { unit_price_cents: price_cents, price_list: by } = await price(row, 1);
    products.push({ sku, name, price_cents, currency, catalog_price_cents, price_list: by });
  }
  products.sort((one, other) => (one.sku < other.sku ? -1 : 1));
  return { price_list, rules: price_list === null ? [] : await showPriceList(q, price_list), products };
}
