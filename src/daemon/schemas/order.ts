import { Type } from "typebox";
import { productTypes } from "../../core/catalog/product.ts";
import { orderItemStatuses } from "../../core/orders/items.ts";
import { orderStatuses } from "../../core/orders/order-states.ts";
import { Cents, CivilDate, Currency, Nullable, OneOf, Pagination, pageQuery, Timestamp, UuidOf } from "./common.ts";

const Metadata = Type.Record(Type.String(), Type.Unknown(), {
  description: "Free object, at most 16 KiB and 32 levels deep",
  examples: [{ reference: "booking 8841" }],
});

const OrderId = UuidOf<"order">("The order");

const LineItems = Type.Array(
  Type.Object({
    product_id: UuidOf<"product">("A product of the catalog"),
    quantity: Type.Integer({ minimum: 1, maximum: 10_000, examples: [2] }),
  }),
  { minItems: 1, maxItems: 50 },
);

const ActivationRequests = Type.Array(
  Type.Object({
    product_id: UuidOf<"product">("A product of this order that a supplier delivers"),
    customer_email: Type.String({ format: "email", maxLength: 254, examples: ["mia@example.com"] }),
    customer_name: Type.String({ minLength: 1, maxLength: 100, examples: ["Mia Chen"] }),
    activation_date: CivilDate("A day in the time zone given: today or later"),
    customer_phone: Type.Optional(Type.String({ maxLength: 20, examples: ["+61 400 000 000"] })),
    eid_number: Type.Optional(
      Type.String({ pattern: "^\\d{32}$", errorMessage: "must have exactly 32 digits", description: "For EID push" }),
    ),
    timezone: Type.Optional(Type.String({ maxLength: 50, default: "UTC", examples: ["Australia/Sydney"] })),
    selected_plan_id: Type.Optional(UuidOf<"plan">("The plan chosen, where a product has several")),
  }),
  { description: "One for each unit of a product delivered by supplier_email or eid_push" },
);

/** Contract: body of POST /orders. */
export const NewOrder = Type.Object({
  line_items: LineItems,
  activation_requests: Type.Optional(ActivationRequests),
  metadata: Type.Optional(Metadata),
});

/** Contract: body of POST /orders/bulk. */
export const BulkOrders = Type.Object({
  orders: Type.Array(
    Type.Object({
      external_order_id: Type.String({ minLength: 1, maxLength: 255, examples: ["shop-10042"] }),
      line_items: LineItems,
      activation_requests: Type.Optional(ActivationRequests),
      customer: Type.Object({
        email: Type.String({ format: "email", maxLength: 254, examples: ["mia@example.com"] }),
        name: Type.String({ minLength: 1, maxLength: 200, examples: ["Mia Chen"] }),
        phone: Type.Optional(Type.String({ maxLength: 50 })),
      }),
      metadata: Type.Optional(Metadata),
    }),
    { minItems: 1, maxItems: 100 },
  ),
});

/** Contract: bulk order result. What names the order is null for a failure. */
export const BulkResult = Type.Object({
  results: Type.Array(
    Type.Object({
      external_order_id: Type.String(),
      service_order_id: Nullable(Type.String({ format: "uuid" })),
      status: OneOf(["success", "failed"]),
      order_number: Nullable(Type.String({ examples: ["ORD-20260301-7KQ2M"] })),
      total_price_cents: Nullable(Type.Integer({ description: "Minor units of the currency", examples: [1250] })),
      currency: Nullable(Currency),
      replayed: Type.Boolean({ description: "Whether an earlier request placed the order; false for a failure" }),
      error: Type.Optional(
        Type.Object({
          code: Type.String({ examples: ["insufficient_balance"] }),
          message: Type.String(),
        }),
      ),
    }),
  ),
  summary: Type.Object({ total: Type.Integer(), successful: Type.Integer(), failed: Type.Integer() }),
});

export const IdempotencyHeader = Type.Object({
  "idempotency-key": Type.String({
    pattern: "^[\\x20-\\x7e]{1,255}$",
    errorMessage: "must be 1 to 255 printable ASCII characters",
    description: "Repeating a request with the same key never orders twice",
    examples: ["booking-8841"],
  }),
});

const customerFields = {
  email: Type.String({ examples: ["mia@example.com"] }),
  name: Type.String({ examples: ["Mia Chen"] }),
  phone: Nullable(Type.String({ examples: ["+61 400 000 000"] })),
};

/** What the answers to create, list and get say beyond the contract. */
const orderFacts = {
  external_order_id: Nullable(
    Type.String({ description: "Your own id of a bulk order; null for a single order", examples: ["shop-10042"] }),
  ),
  customer: Nullable(Type.Object(customerFields, { description: "As a bulk order named it; null for a single order" })),
  refunded_cents: Type.Integer({
    description: "What was refunded to the wallet so far, in minor units of the currency",
    examples: [0],
  }),
};

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
  ...orderFacts,
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

const Moment = (description: string) =>
  Type.String({ format: "date-time", maxLength: 40, description, examples: ["2026-03-01T09:30:00Z"] });

export const OrderQuery = Type.Object({
  ...pageQuery(),
  status: Type.Optional(OneOf(orderStatuses)),
  created_after: Type.Optional(Moment("Orders created at this time or later")),
  created_before: Type.Optional(Moment("Orders created before this time, not at it")),
  external_order_id: Type.Optional(
    Type.String({ maxLength: 255, description: "The bulk order with this id of yours", examples: ["shop-10042"] }),
  ),
  product_id: Type.Optional(UuidOf<"product">("Orders with a line of this product")),
});

export const OrderParams = Type.Object({ id: OrderId });

/** Contract: OrderWithFulfillment. */
export const OrderWithFulfillment = Type.Object({
  id: OrderId,
  order_number: Type.String(),
  status: Type.String(),
  total_amount_cents: Cents,
  total_price_cents: Cents,
  currency: Currency,
  ...orderFacts,
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

/** Contract: ActivationStatusResponse. */
export const ActivationStatus = Type.Object({
  order_id: OrderId,
  order_number: Type.String(),
  has_scheduled_activations: Type.Boolean(),
  total_activations: Type.Integer(),
  pending_count: Type.Integer(),
  submitted_count: Type.Integer(),
  activated_count: Type.Integer(),
  failed_count: Type.Integer(),
  activations: Type.Array(
    Type.Object({
      item_id: UuidOf<"order_item">("The item"),
      product_name: Type.String(),
      product_sku: Type.String(),
      status: OneOf(orderItemStatuses),
      customer_email: Nullable(Type.String()),
      customer_name: Nullable(Type.String()),
      activation_date: Nullable(Type.String({ format: "date" })),
      timezone: Nullable(Type.String()),
      eid_number: Nullable(Type.String()),
      error_message: Nullable(Type.String()),
      submitted_at: Nullable(Timestamp),
      activated_at: Nullable(Timestamp),
      created_at: Timestamp,
    }),
  ),
});

/** Contract: OrderEsims. */
export const OrderEsims = Type.Object({ order_id: OrderId, esims: Type.Array(Esim), count: Type.Integer() });
