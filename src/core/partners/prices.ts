import { matching } from "../catalog/list.ts";
import { requirePriceList } from "../prices/lists.ts";
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
  const products = await pricesBy(q, price_list);
  return { price_list, rules: price_list === null ? [] : await showPriceList(q, price_list), products };
}

/** The price of a product by the list that a partner has, and by another one. */
export interface PriceMove extends Pick<PartnerPrice, "sku" | "name" | "currency"> {
  now_cents: number;
  then_cents: number;
}

/** The products whose unit would cost a partner another price today by another list; null: by the catalog. */
export async function priceMoves(q: Read, { slug, list }: { slug: string; list: string | null }): Promise<PriceMove[]> {
  const { price_list } = await requirePartner(q, slug);
  if (list !== null) await requirePriceList(q, list);
  const then = await pricesBy(q, list);
  return (await pricesBy(q, price_list)).flatMap(({ sku, name, currency, price_cents: now_cents }, at) => {
    const then_cents = then[at]?.price_cents ?? now_cents;
    return now_cents === then_cents ? [] : { sku, name, currency, now_cents, then_cents };
  });
}

/** What one unit of each active product costs by a list, by SKU; null: by the catalog. */
async function pricesBy(q: Read, price_list: string | null): Promise<PartnerPrice[]> {
  const price = price_list === null ? pricesByProduct(q, null) : await pricesOfList(q, price_list);
  const products: PartnerPrice[] = [];
  for (const row of await matching(q, { status: "active" })) {
    const { sku, name, currency, price_cents: catalog_price_cents } = row;
    const { unit_price_cents: price_cents, price_list: by } = await price(row, 1);
    products.push({ sku, name, price_cents, currency, catalog_price_cents, price_list: by });
  }
  return products.sort((one, other) => (one.sku < other.sku ? -1 : 1));
}
