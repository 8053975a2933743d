import { type TSchema, Type } from "typebox";
import { MOST_MARKUP, STANDARD_MARKUP } from "../../core/catalog/retail-price.ts";
import { syncFormats } from "../../core/catalog/sync/sync.ts";
import { planTypes, productPurposes, productStatuses } from "../../core/store/schema/values.ts";
import {
  Cents,
  CountryFilter,
  Currency,
  Discriminated,
  Nullable,
  named,
  OneOf,
  RegionFilter,
  shownAs,
  Timestamp,
  UuidOf,
} from "./common.ts";

/** Contract: GET /catalog/sync. */
export const SyncQuery = Type.Object({
  format: OneOf(syncFormats, { default: "generic", description: "platform_a: Shopify; platform_b: WooCommerce" }),
  include_images: OneOf(["true", "false"], { default: "true" }),
  region: Type.Optional(RegionFilter),
  country: Type.Optional(CountryFilter),
  type: Type.Optional(OneOf(planTypes)),
  purpose: Type.Optional(
    OneOf(productPurposes, { description: "topup: products that eSIMs are topped up with. Left out: plans" }),
  ),
  currency: Type.Optional({ ...Currency, description: "Only products with prices in this currency" }),
  markup: Type.Number({
    minimum: 0,
    maximum: MOST_MARKUP,
    default: STANDARD_MARKUP,
    description: "Percent on top of the wholesale price, with at most 6 decimals",
    examples: [STANDARD_MARKUP],
  }),
});

const CatalogImage = Type.Object(
  {
    src: Type.String({ format: "uri", examples: ["https://esim.reseller.net/media/products/0199a0b1.svg"] }),
    alt: Type.String({ examples: ["Europe 5 GB, 30 days"] }),
  },
  named("CatalogImage"),
);
const Images = Type.Array(CatalogImage);
const Price = Type.String({ description: "In the product's own currency", examples: ["16.25"] });
const sku = Type.String({ examples: ["ES-EU-5GB-30D"] });

const GenericItem = Type.Object(
  {
    id: UuidOf<"product">("The product"),
    sku,
    name: Type.String({ examples: ["Europe 5 GB, 30 days"] }),
    description: Nullable(Type.String()),
    region: Type.String({ examples: ["Europe"] }),
    coverage: Type.Array(Type.String(), { examples: [["FR", "DE", "ES"]] }),
    data_amount_mb: Type.Number({ examples: [5120] }),
    validity_days: Type.Integer({ examples: [30] }),
    type: OneOf(planTypes),
    status: OneOf(productStatuses),
    wholesale_price_cents: Cents,
    suggested_retail_price_cents: { ...Cents, examples: [1625] },
    currency: Currency,
    images: Images,
  },
  named("CatalogItem"),
);

const PresentmentPrice = Type.Object(
  {
    price: Type.Object({ amount: Price, currency_code: Currency }),
    compare_at_price: Type.Null({ description: "No former price" }),
  },
  named("PresentmentPrice"),
);

const ShopifyVariant = Type.Object(
  {
    sku,
    price: Price,
    presentment_prices: Type.Array(PresentmentPrice, { description: "The same price with its currency" }),
    inventory_management: Type.Null({ description: "Not tracked" }),
    requires_shipping: Type.Boolean(),
  },
  named("ShopifyVariant"),
);

const ShopifyItem = Type.Object(
  {
    handle: Type.String({ examples: ["es-eu-5gb-30d-9a31f0"] }),
    title: Type.String(),
    body_html: Type.String(),
    vendor: Type.String(),
    product_type: Type.String(),
    tags: Type.String(),
    status: Type.Literal("active"),
    variants: Type.Array(ShopifyVariant),
    images: Images,
  },
  named("ShopifyItem"),
);

const WoocommerceItem = Type.Object(
  {
    name: Type.String(),
    type: Type.Literal("simple"),
    sku,
    regular_price: Price,
    description: Type.String(),
    short_description: Type.String(),
    categories: Type.Array(Type.Object({ name: Type.String() })),
    virtual: Type.Boolean(),
    images: Images,
    meta_data: Type.Array(Type.Object({ key: Type.String(), value: Type.String() })),
  },
  named("WoocommerceItem"),
);

const catalog = {
  generated_at: Timestamp,
  currency_note: Type.String({ examples: ["Prices are in each product's own currency."] }),
  count: Type.Integer({ examples: [1] }),
};

/** The export as one format writes it. */
function catalogOf(name: string, format: (typeof syncFormats)[number], item: TSchema) {
  return Type.Object({ format: OneOf([format]), ...catalog, products: Type.Array(item) }, named(name));
}

export const CatalogSync = Type.Object(
  {
    format: OneOf(syncFormats),
    ...catalog,
    products: Type.Array(Type.Union([GenericItem, ShopifyItem, WoocommerceItem])),
  },
  shownAs(
    Discriminated("CatalogSync", "format", {
      generic: catalogOf("GenericCatalog", "generic", GenericItem),
      platform_a: catalogOf("ShopifyCatalog", "platform_a", ShopifyItem),
      platform_b: catalogOf("WoocommerceCatalog", "platform_b", WoocommerceItem),
    }),
  ),
);

/** Contract: GET /inventory/status. */
export const InventoryQuery = Type.Object({
  product_ids: Type.Optional(Type.String({ maxLength: 8_000, description: "At most 200 ids, commas between" })),
  skus: Type.Optional(Type.String({ maxLength: 8_000, description: "At most 200 SKUs, commas between" })),
  region: Type.Optional(RegionFilter),
});

const InventoryItem = Type.Object(
  {
    product_id: UuidOf<"product">("The product"),
    sku,
    name: Type.String({ examples: ["Europe 5 GB, 30 days"] }),
    region: Type.String({ examples: ["Europe"] }),
    status: OneOf(productStatuses),
    available: Nullable(
      Type.Integer({ description: "eSIMs in stock; null where nothing is stocked", examples: [120] }),
    ),
  },
  named("InventoryItem"),
);

export const Inventory = Type.Object(
  {
    data: Type.Array(InventoryItem),
    count: Type.Integer({ examples: [1] }),
  },
  named("Inventory"),
);
