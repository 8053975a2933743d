import { Type } from "typebox";
import { productTypes } from "../../core/catalog/product.ts";
import { orderStatuses } from "../../core/orders/order-states.ts";
import { Cents, Currency, Nullable, OneOf, Pagination, pageQuery, Timestamp, UuidOf } from "./common.ts";

const Metadata = Type.Record(Type.String(), Type.Unknown(), {
  description: "Free object, at most 16 KiB and 32 levels deep",
  examples: [{ reference: "booking 8841" }],
});

const OrderId = UuidOf<"order">("The order");

/** Contract: body of POST /orders. */
export const NewOrder = Type.Object({
  line_items: Type.Array(
    Type.Object({
      product_id: UuidOf<"product">("A product of the catalog"),
      quantity: Type.Integer({ minimum: 1, maximum: 10_000, examples: [2] }),
    }),
    { minItems: 1, maxItems: 50 },
  ),
  metadata: Type.Optional(Metadata),
});

export const IdempotencyHeader = Type.Object({
  "idempotency-key": Type.String({
    pattern: "^[\\x20-\\x7e]{1,255}$",
    errorMessage: "must be 1 to 255 printable ASCII characters",
    description: "Repeating a request with the same key never orders twice",
    examples: ["booking-8841"],
  }),
});

const order = {
  id: OrderId,
  order_number: Type.String({ examples: ["ORD-20260301-7KQ2M"] }),
  partner_id: UuidOf<"partner">("Whose order it is"),
  product_id: Type.String({ description: "Of the first line" }),
  product_sku: Type.String({ description: "Of the first line" }),
  quantity: Type.Integer({ description: "Sum over the lines" }),
  unit_price_cents: Cents,
  total_price_cents: Cents,
  total_amount_cents: Cents,
  currency: Currency,
  status: OneOf(orderStatuses),
  line_items: Type.Array(
    Type.Object({
      product_id: UuidOf<"product">("The product"),
      product_sku: Type.String(),
      quantity: Type.Integer(),
      unit_price_cents: Cents,
    }),
  ),
  metadata: Metadata,
  created_at: Timestamp,
  updated_at: Timestamp,
};

/** Contract: Order, as the list answers it. */
export const Order = Type.Object(order);

/** Contract: Order, as creating it answers. */
export const CreatedOrder = Type.Object({ ...order, wallet_balance_after_cents: Cents });

export const OrderPage = Type.Object({ data: Type.Array(Order), pagination: Pagination });

export const OrderQuery = Type.Object({ ...pageQuery(), status: Type.Optional(OneOf(orderStatuses)) });

export const OrderParams = Type.Object({ id: OrderId });

/** Contract: OrderWithFulfillment. */
export const OrderWithFulfillment = Type.Object({
  id: OrderId,
  order_number: Type.String(),
  status: Type.String(),
  total_amount_cents: Cents,
  total_price_cents: Cents,
  currency: Currency,
  metadata: Metadata,
  created_at: Timestamp,
  updated_at: Timestamp,
  line_items: Type.Array(
    Type.Object({
      id: UuidOf<"order_line">("The line"),
      product_name: Type.String(),
      product_sku: Type.String(),
      product_type: OneOf(productTypes),
      quantity: Type.Integer(),
      price_per_unit_cents: Cents,
      subtotal_cents: Cents,
      fulfillment: Type.Record(Type.String(), Type.Unknown(), {
        description: "What was delivered: eSIMs, or how a physical SIM was shipped",
        examples: [{ status: "pending" }],
      }),
    }),
  ),
});

const Esim = Type.Object({
  id: UuidOf<"esim">("The eSIM"),
  iccid: Type.String({ examples: ["8999031415926535893"] }),
  eid: Nullable(Type.String()),
  smdp_address: Type.String({ examples: ["smdp.example.net"] }),
  matching_id: Type.String(),
  activation_code: Type.String({ examples: ["LPA:1$smdp.example.net$K2-7YTQ1-AB"] }),
  confirmation_code: Nullable(Type.String()),
  qr_code_url: Type.String({ format: "uri" }),
  install_url: Type.String({ format: "uri" }),
  status: OneOf(["active", "inactive", "suspended", "expired"]),
  activation_policy: Type.String(),
  created_at: Timestamp,
  activated_at: Nullable(Timestamp),
  is_test: Type.Optional(Type.Boolean({ description: "Sandbox only: cannot be installed" })),
});

/** Contract: OrderEsims. */
export const OrderEsims = Type.Object({ order_id: OrderId, esims: Type.Array(Esim), count: Type.Integer() });
