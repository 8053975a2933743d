import { Type } from "typebox";
import { planTypes, productStatuses } from "../../core/catalog/product.ts";
import { MOST_MARKUP, STANDARD_MARKUP } from "../../core/catalog/retail-price.ts";
import { syncFormats } from "../../core/catalog/sync.ts";
import { Cents, CountryFilter, Currency, Nullable, OneOf, RegionFilter, Timestamp, UuidOf } from "./common.ts";

/** Contract: GET /catalog/sync. */
export const SyncQuery = Type.Object({
  format: OneOf(syncFormats, { default: "generic", description: "platform_a: Shopify; platform_b: WooCommerce" }),
  include_images: OneOf(["true", "false"], { default: "true" }),
  region: Type.Optional(RegionFilter),
  country: Type.Optional(CountryFilter),
  type: Type.Optional(OneOf(planTypes)),
  markup: Type.Number({
    minimum: 0,
    maximum: MOST_MARKUP,
    default: STANDARD_MARKUP,
    description: "Percent on top of the wholesale price, with at most 6 decimals",
    examples: [STANDARD_MARKUP],
  }),
});

const Images = Type.Array(Type.Object({ src: Type.String({ format: "uri" }), alt: Type.String() }));
const Price = Type.String({ description: "In the product's own currency", examples: ["16.25"] });
const sku = Type.String({ examples: ["ES-EU-5GB-30D"] });

const GenericItem = Type.Object({
  id: UuidOf<"product">("The product"),
  sku,
  name: Type.String(),
  description: Nullable(Type.String()),
  region: Type.String(),
  coverage: Type.Array(Type.String()),
  data_amount_mb: Type.Number(),
  validity_days: Type.Integer(),
  type: OneOf(planTypes),
  status: OneOf(productStatuses),
  wholesale_price_cents: Cents,
  suggested_retail_price_cents: Cents,
  currency: Currency,
  images: Images,
});

const ShopifyItem = Type.Object({
  handle: Type.String({ examples: ["es-eu-5gb-30d-9a31f0"] }),
  title: Type.String(),
  body_html: Type.String(),
  vendor: Type.String(),
  product_type: Type.String(),
  tags: Type.String(),
  status: Type.Literal("active"),
  variants: Type.Array(
    Type.Object({
      sku,
      price: Price,
      presentment_prices: Type.Array(
        Type.Object({
          price: Type.Object({ amount: Price, currency_code: Currency }),
          compare_at_price: Type.Null({ description: "No former price" }),
        }),
        { description: "The same price with its currency" },
      ),
      inventory_management: Type.Null({ description: "Not tracked" }),
      requires_shipping: Type.Boolean(),
    }),
  ),
  images: Images,
});

const WoocommerceItem = Type.Object({
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
});

export const CatalogSync = Type.Object({
  format: OneOf(syncFormats),
  generated_at: Timestamp,
  currency_note: Type.String(),
  count: Type.Integer(),
  products: Type.Array(Type.Union([GenericItem, ShopifyItem, WoocommerceItem]), {
    description: "All of the shape that the format names",
  }),
});

/** Contract: GET /inventory/status. */
export const InventoryQuery = Type.Object({
  product_ids: Type.Optional(Type.String({ maxLength: 8_000, description: "At most 200 ids, commas between" })),
  skus: Type.Optional(Type.String({ maxLength: 8_000, description: "At most 200 SKUs, commas between" })),
  region: Type.Optional(RegionFilter),
});

export const Inventory = Type.Object({
  data: Type.Array(
    Type.Object({
      product_id: UuidOf<"product">("The product"),
      sku,
      name: Type.String(),
      region: Type.String(),
      status: OneOf(productStatuses),
      available: Nullable(Type.Integer({ description: "eSIMs in stock; null where nothing is stocked" })),
    }),
  ),
  count: Type.Integer(),
});
