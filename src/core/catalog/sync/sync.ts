import { isoTime } from "../../kernel/clock.ts";
import { requireCurrency } from "../../kernel/money.ts";
import { pricesOfList } from "../../prices/unit-price.ts";
import type { PlanType, ProductPurpose } from "../../store/schema/values.ts";
import type { Read } from "../../store/store.ts";
import { pageOfProducts } from "../list.ts";
import { type GenericItem, toGeneric } from "./generic.ts";
import { type Offer, type OfferTerms, toOffer } from "./offer.ts";
import { type ShopifyItem, toShopify } from "./shopify.ts";
import { toWoocommerce, type WoocommerceItem } from "./woocommerce.ts";

export const syncFormats = ["platform_a", "platform_b", "generic"] as const;
export type SyncFormat = (typeof syncFormats)[number];

/** Which products a sync is to list, and in whose shape. */
export interface SyncRequest extends OfferTerms {
  format: SyncFormat;
  region?: string | undefined;
  country?: string | undefined;
  type?: PlanType | undefined;
  /** Left out: plans. */
  purpose?: ProductPurpose | undefined;
  /** ISO 4217; left out: all currencies. */
  currency?: string | undefined;
  /** Whose prices it shows; null: the catalog's. */
  priceList: string | null;
}

/** The catalog for an e-commerce platform (contract: GET /catalog/sync). */
export interface CatalogSync {
  format: SyncFormat;
  generated_at: string;
  currency_note: string;
  count: number;
  products: (GenericItem | ShopifyItem | WoocommerceItem)[];
}

/** What a reader of prices has to know. */
export const CURRENCY_NOTE =
  "Each price is in its product's own wholesale currency. Nothing is converted: " +
  "a shop that sells in another currency must convert first.";

/** What each format makes of an offer. */
export const itemOf: Record<SyncFormat, (offer: Offer) => CatalogSync["products"][number]> = {
  generic: toGeneric,
  platform_a: toShopify,
  platform_b: toWoocommerce,
};

const ROWS_A_QUERY = 500;

/**
 * The active products with suggested retail prices, oldest first. Throws `validation` when a price gets too large, and
 * for an unknown country or currency.
 */
export async function catalogSync(
  q: Read,
  { format, region, country, type, purpose, currency, priceList, ...terms }: SyncRequest,
): Promise<CatalogSync> {
  if (currency !== undefined) requireCurrency(currency);
  const filter = {
    limit: ROWS_A_QUERY,
    region,
    country,
    type,
    purpose,
    status: "active",
    sort_by: "created_at",
    sort_order: "asc",
    priceList,
  } as const;
  const price = priceList === null ? null : await pricesOfList(q, priceList);
  const products: CatalogSync["products"] = [];
  let cursor: string | undefined;
  do {
    const { data, pagination } = await pageOfProducts(q, { ...filter, cursor }, price);
    const wanted = data.filter((product) => currency === undefined || product.currency === currency);
    for (const product of wanted) products.push(itemOf[format](toOffer(product, terms)));
    cursor = pagination.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return { format, generated_at: isoTime(q.now), currency_note: CURRENCY_NOTE, count: products.length, products };
}
