import { Type } from "typebox";
import {
  deliveryMethods,
  planTypes,
  productPurposes,
  productSorts,
  productStatuses,
  productTypes,
  sortOrders,
} from "../../core/store/schema/values.ts";
import {
  Cents,
  CountryFilter,
  Currency,
  Nullable,
  named,
  OneOf,
  Pagination,
  pageQuery,
  RegionFilter,
  Timestamp,
  UuidOf,
} from "./common.ts";

const fields = {
  id: UuidOf<"product">("The product"),
  sku: Type.String({ examples: ["ES-EU-5GB-30D"] }),
  name: Type.String({ examples: ["Europe 5 GB, 30 days"] }),
  description: Nullable(Type.String({ examples: ["Data in 38 countries"] })),
  region: Type.String({ examples: ["Europe"] }),
  coverage: Type.Array(Type.String(), { examples: [["FR", "DE", "ES"]] }),
  data_amount_mb: Type.Number({ examples: [5120] }),
  validity_days: Type.Integer({ examples: [30] }),
  price_cents: Cents,
  currency: Currency,
  type: OneOf(planTypes),
  status: OneOf(productStatuses),
  product_type: OneOf(productTypes, { examples: ["esim_qr_pregen"] }),
  delivery_method: OneOf(deliveryMethods),
  created_at: Timestamp,
  updated_at: Timestamp,
  purpose: Type.Optional(
    OneOf(["topup"], { description: "Tops up an eSIM that is sold, and cannot be ordered. Plans have no such field" }),
  ),
};

/** Contract: Product (list item). */
export const Product = Type.Object(fields, named("Product"));

/** Contract: ProductDetail. */
export const ProductDetail = Type.Object(
  {
    ...fields,
    features: Nullable(Type.Array(Type.String(), { examples: [["Hotspot"]] })),
    activation_policy: Nullable(Type.String({ examples: ["on_first_use"] })),
    network_type: Nullable(Type.String({ examples: ["4G/5G"] })),
    compatible_devices: Nullable(Type.Array(Type.String())),
  },
  named("ProductDetail"),
);

export const ProductPage = Type.Object({ data: Type.Array(Product), pagination: Pagination }, named("ProductPage"));

export const ProductQuery = Type.Object({
  ...pageQuery(),
  region: Type.Optional(RegionFilter),
  country: Type.Optional(CountryFilter),
  type: Type.Optional(OneOf(planTypes)),
  purpose: Type.Optional(
    OneOf(productPurposes, { description: "topup: products that eSIMs are topped up with. Left out: plans" }),
  ),
  status: OneOf(productStatuses, { default: "active" }),
  sort_by: OneOf(productSorts, { default: "created_at" }),
  sort_order: OneOf(sortOrders, { default: "desc" }),
});
