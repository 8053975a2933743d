import { Type } from "typebox";
import {
  esimStatuses,
  orderEsimStatuses,
  orderItemStatuses,
  orderScenarios,
  orderStatuses,
  sandboxScenarios,
} from "../../core/store/schema/values.ts";
import {
  BulkSummary,
  Cents,
  CivilDate,
  Currency,
  Moment,
  Nullable,
  named,
  OneOf,
  Pagination,
  pageQuery,
  Timestamp,
  UuidOf,
  unreadable,
} from "./common.ts";
import { DataUsage } from "./esim.ts";

/** A free object of the partner's own. */
export const Metadata = Type.Record(Type.String(), Type.Unknown(), {
  ...named("Metadata"),
  description: "Free object, at most 16 KiB and 32 levels deep",
  examples: [{ reference: "booking 8841" }],
});

export const OrderId = UuidOf<"order">("The order");

const NewLineItem = Type.Object(
  {
    product_id: UuidOf<"product">("A product of the catalog"),
    quantity: Type.Integer({ minimum: 1, maximum: 10_000, examples: [2] }),
  },
  named("NewLineItem"),
);

const LineItems = Type.Array(NewLineItem, { minItems: 1, maxItems: 50 });

const ActivationRequest = Type.Object(
  {
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
  },
  named("OrderActivationRequest"),
);

const ActivationRequests = Type.Array(ActivationRequest, {
  description: "One for each unit of a product delivered by supplier_email or eid_push",
});

const MaxTotal = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description:
    "The highest total that you accept, in minor units of the currency: a dearer order is refused with price_changed",
  examples: [2500],
});

const ExternalOrderId = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: "\\S",
  errorMessage: "must be 1 to 255 characters and not blank",
  examples: ["shop-10042"],
});

/** Contract: body of POST /orders; `max_total_cents` and `external_order_id` are beyond it. */
export const NewOrder = Type.Object(
  {
    external_order_id: Type.Optional(
      Type.String({
        ...ExternalOrderId,
        description: "Your own id, kept with the order and a filter of its list. It is no idempotency key",
      }),
    ),
    line_items: LineItems,
    activation_requests: Type.Optional(ActivationRequests),
    max_total_cents: Type.Optional(MaxTotal),
    metadata: Type.Optional(Metadata),
  },
  named("NewOrder"),
);

const Customer = Type.Object(
  {
    email: Type.String({ format: "email", maxLength: 254, examples: ["mia@example.com"] }),
    name: Type.String({ minLength: 1, maxLength: 200, examples: ["Mia Chen"] }),
    phone: Type.Optional(Type.String({ maxLength: 50 })),
  },
  named("Customer"),
);

const BulkOrder = Type.Object(
  {
    external_order_id: ExternalOrderId,
    line_items: LineItems,
    activation_requests: Type.Optional(ActivationRequests),
    customer: Customer,
    max_total_cents: Type.Optional(MaxTotal),
    metadata: Type.Optional(Metadata),
  },
  named("BulkOrder"),
);

/** Contract: body of POST /orders/bulk. */
export const BulkOrders = Type.Object(
  { orders: Type.Array(BulkOrder, { minItems: 1, maxItems: 100 }) },
  named("BulkOrders"),
);

/** Why an item of a bulk request fails. */
export const BulkOrderError = Type.Object(
  {
    code: Type.String({ description: "The type of problem", examples: ["insufficient_balance"] }),
    message: Type.String({ examples: ["The wallet holds AUD 10.00; the order costs AUD 25.00."] }),
  },
  named("BulkOrderError"),
);

const BulkOrderOutcome = Type.Object(
  {
    external_order_id: Type.String({ examples: ["shop-10042"] }),
    service_order_id: Nullable(Type.String({ format: "uuid" })),
    status: OneOf(["success", "failed"]),
    order_number: Nullable(Type.String({ examples: ["ORD-20260301-7KQ2M"] })),
    total_price_cents: Nullable(Type.Integer({ description: "Minor units of the currency", examples: [1250] })),
    currency: Nullable(Currency),
    replayed: Type.Boolean({ description: "Whether an earlier request placed the order; false for a failure" }),
    error: Type.Optional(BulkOrderError),
  },
  named("BulkOrderOutcome", {
    examples: [
      {
        external_order_id: "shop-10042",
        service_order_id: "0199a0b1-0000-7000-8000-000000000001",
        status: "success",
        order_number: "ORD-20260301-7KQ2M",
        total_price_cents: 2500,
        currency: "AUD",
        replayed: false,
      },
      {
        external_order_id: "shop-10043",
        service_order_id: null,
        status: "failed",
        order_number: null,
        total_price_cents: null,
        currency: null,
        replayed: false,
        error: { code: "insufficient_balance", message: "The wallet holds AUD 10.00; the order costs AUD 25.00." },
      },
    ],
  }),
);

/** Contract: bulk order result. What names the order is null for a failure. */
export const BulkResult = Type.Object(
  { results: Type.Array(BulkOrderOutcome), summary: BulkSummary },
  named("BulkOrderResult"),
);

const scenario = {
  "x-sandbox-scenario": Type.Optional(
    OneOf(sandboxScenarios, {
      description:
        "In the sandbox: end the order as production may end it. Kept with the order; a replay shows the order as it " +
        "was created, whatever scenario it names. 403 with a production credential",
      examples: ["stock_short"],
    }),
  ),
};

/** Headers of POST /orders/bulk: the scenario is that of each of its orders. */
export const ScenarioHeader = Type.Object(scenario);

/** Headers of POST /orders. */
export const NewOrderHeaders = Type.Object({
  ...scenario,
  "idempotency-key": Type.String({
    pattern: "^[\\x20-\\x7e]{1,255}$",
    errorMessage: "must be 1 to 255 printable ASCII characters",
    description: "Repeating a request with the same key never orders twice",
    examples: ["booking-8841"],
  }),
});

const OrderCustomer = Type.Object(
  {
    email: Type.String({ examples: ["mia@example.com"] }),
    name: Type.String({ examples: ["Mia Chen"] }),
    phone: Nullable(Type.String({ examples: ["+61 400 000 000"] })),
  },
  named("OrderCustomer", { description: "As a bulk order named it" }),
);

/** What the answers to create, list and get say beyond the contract. */
export const orderFacts = {
  external_order_id: Nullable(
    Type.String({
      description: "Your own id of the order; null where it was placed without one",
      examples: ["shop-10042"],
    }),
  ),
  customer: Nullable(OrderCustomer),
  refunded_cents: Type.Integer({
    description: "What was refunded to the wallet so far, in minor units of the currency",
    examples: [0],
  }),
  sandbox_scenario: Type.Optional(
    OneOf(orderScenarios, { description: "Of a sandbox order that was created with X-Sandbox-Scenario" }),
  ),
};

const OrderedLine = Type.Object(
  {
    product_id: UuidOf<"product">("The product"),
    product_sku: Type.String({ examples: ["ES-EU-5GB-30D"] }),
    quantity: Type.Integer({ examples: [1] }),
    unit_price_cents: Cents,
  },
  named("OrderedLine"),
);

const order = {
  id: OrderId,
  order_number: Type.String({ examples: ["ORD-20260301-7KQ2M"] }),
  partner_id: UuidOf<"partner">("Whose order it is"),
  product_id: Type.String({
    description: "Of the first line",
    examples: ["0199a0b1-0000-7000-8000-000000000001"],
  }),
  product_sku: Type.String({ description: "Of the first line", examples: ["ES-EU-5GB-30D"] }),
  quantity: Type.Integer({ description: "Sum over the lines", examples: [1] }),
  unit_price_cents: Cents,
  total_price_cents: Cents,
  total_amount_cents: Cents,
  currency: Currency,
  status: OneOf(orderStatuses),
  ...orderFacts,
  line_items: Type.Array(OrderedLine),
  metadata: Metadata,
  created_at: Timestamp,
  updated_at: Timestamp,
};

/** Contract: Order, as the list answers it. */
export const Order = Type.Object(order, named("Order"));

/** Contract: Order, as creating it answers. */
export const CreatedOrder = Type.Object({ ...order, wallet_balance_after_cents: Cents }, named("CreatedOrder"));

export const OrderPage = Type.Object({ data: Type.Array(Order), pagination: Pagination }, named("OrderPage"));

export const OrderQuery = Type.Object({
  ...pageQuery(),
  status: Type.Optional(OneOf(orderStatuses)),
  created_after: Type.Optional(Moment("Orders created at this time or later")),
  created_before: Type.Optional(Moment("Orders created before this time, not at it")),
  external_order_id: Type.Optional(
    Type.String({ maxLength: 255, description: "Orders with this id of yours", examples: ["shop-10042"] }),
  ),
  product_id: Type.Optional(UuidOf<"product">("Orders with a line of this product")),
});

/** Beyond the contract: without either, a body has all eSIMs of the order. */
export const OrderEsimsQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000, description: "eSIMs a page; left out, all of the order" }),
  ),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 500, description: "next_cursor of the page before; 1,000 a page" }),
  ),
});

export const OrderParams = Type.Object({ id: OrderId });

const orderEsim = {
  id: UuidOf<"esim">("The eSIM"),
  iccid: Type.String({ examples: ["8999031415926535893"] }),
  eid: Nullable(Type.String({ description: "The EID it was pushed to" })),
  smdp_address: Type.String({ examples: ["smdp.example.net"] }),
  matching_id: Type.String({ examples: ["K2-7YTQ1-AB"] }),
  activation_code: Type.String({ examples: ["LPA:1$smdp.example.net$K2-7YTQ1-AB"] }),
  confirmation_code: Nullable(Type.String()),
  qr_code_url: Type.String({ format: "uri", examples: ["https://esim.reseller.net/qr/3fK9w.png"] }),
  install_url: Type.String({ format: "uri", examples: ["https://esim.reseller.net/install/3fK9w"] }),
  status: OneOf(orderEsimStatuses, {
    description: "`inactive` once it has expired too: `expired` is in the status record, GET /esims/{iccid}/status",
  }),
  activation_policy: Type.String({ examples: ["on_first_use"] }),
  created_at: Timestamp,
  activated_at: Nullable(Type.String({ format: "date-time" })),
  is_test: Type.Optional(Type.Boolean({ description: "Sandbox only: cannot be installed" })),
  unreadable,
};

/** An eSIM of an order (contract: OrderEsims). */
export const OrderEsim = Type.Object(orderEsim, named("OrderEsim"));

const OwnEsim = Type.Object(
  {
    ...orderEsim,
    status: OneOf(esimStatuses),
    order_id: OrderId,
    order_number: Type.String({ examples: ["ORD-20260301-7KQ2M"] }),
    product_sku: Type.String({ examples: ["ES-EU-5GB-30D"] }),
    expires_at: Nullable(Type.String({ format: "date-time", description: "Null: it was never activated" })),
    data_usage: DataUsage,
  },
  named("Esim"),
);

/** Beyond the contract: a page of a partner's eSIMs. */
export const EsimPage = Type.Object({ data: Type.Array(OwnEsim), pagination: Pagination }, named("EsimPage"));

export const EsimQuery = Type.Object({
  ...pageQuery(),
  status: Type.Optional(OneOf(esimStatuses)),
  order_id: Type.Optional(UuidOf<"order">("eSIMs of this order")),
  product_id: Type.Optional(UuidOf<"product">("eSIMs of this product")),
  expires_before: Type.Optional(Moment("eSIMs with an expiry before this time; the soonest comes first")),
});

const OrderActivation = Type.Object(
  {
    item_id: UuidOf<"order_item">("The item"),
    product_name: Type.String({ examples: ["Japan 10 GB, 15 days"] }),
    product_sku: Type.String({ examples: ["ES-JP-10GB-15D"] }),
    status: OneOf(orderItemStatuses),
    customer_email: Nullable(Type.String({ examples: ["mia@example.com"] })),
    customer_name: Nullable(Type.String({ examples: ["Mia Chen"] })),
    activation_date: Nullable(Type.String({ format: "date", examples: ["2026-12-24"] })),
    timezone: Nullable(Type.String({ examples: ["Australia/Sydney"] })),
    eid_number: Nullable(Type.String()),
    error_message: Nullable(Type.String()),
    submitted_at: Nullable(Type.String({ format: "date-time" })),
    activated_at: Nullable(Type.String({ format: "date-time" })),
    created_at: Timestamp,
  },
  named("OrderActivation"),
);

/** Contract: ActivationStatusResponse. */
export const ActivationStatus = Type.Object(
  {
    order_id: OrderId,
    order_number: Type.String({ examples: ["ORD-20260301-7KQ2M"] }),
    has_scheduled_activations: Type.Boolean({ examples: [true] }),
    total_activations: Type.Integer({ examples: [1] }),
    pending_count: Type.Integer({ examples: [1] }),
    submitted_count: Type.Integer(),
    activated_count: Type.Integer(),
    failed_count: Type.Integer(),
    activations: Type.Array(OrderActivation),
  },
  named("OrderActivationStatus"),
);

/** Contract: OrderEsims. */
export const OrderEsims = Type.Object(
  {
    order_id: OrderId,
    esims: Type.Array(OrderEsim),
    count: Type.Integer({ description: "eSIMs in this body", examples: [1] }),
    // Present if the request has a limit or a cursor.
    pagination: Type.Optional(Pagination),
  },
  named("OrderEsims"),
);
