import { imagesOf, type Offer } from "./offer.ts";

/** The platform-neutral item of the catalog export. */
export function toGeneric(offer: Offer) {
  const { id, sku, name, description, region, coverage, data_amount_mb, validity_days } = offer.product;
  return {
    id,
    sku,
    name,
    description,
    region,
    coverage,
    data_amount_mb,
    validity_days,
    type: offer.product.type,
    status: offer.product.status,
    wholesale_price_cents: offer.product.price_cents,
    suggested_retail_price_cents: offer.retail,
    currency: offer.product.currency,
    images: imagesOf(offer, "svg"),
  };
}

export type GenericItem = ReturnType<typeof toGeneric>;
