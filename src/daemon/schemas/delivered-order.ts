import { type TSchema, Type } from "typebox";
import { orderLineStatuses, orderStatuses, type ProductType, productTypes } from "../../core/store/schema/values.ts";
import {
  Cents,
  Currency,
  Discriminated,
  Nullable,
  named,
  OneOf,
  shownAs,
  Timestamp,
  UuidOf,
  unreadable,
} from "./common.ts";
import { Metadata, OrderId, orderFacts } from "./order.ts";

const delivered = {
  iccid: Type.String({ examples: ["8999031415926535893"] }),
  activation_code: Type.String({ examples: ["LPA:1$smdp.example.net$K2-7YTQ1-AB"] }),
  smdp_address: Type.String({ examples: ["smdp.example.net"] }),
  matching_id: Type.String({ examples: ["K2-7YTQ1-AB"] }),
  qr_code_url: Type.String({ format: "uri", examples: ["https://esim.reseller.net/qr/3fK9w.png"] }),
  install_url: Type.String({ format: "uri", examples: ["https://esim.reseller.net/install/3fK9w"] }),
};

const sample = Object.fromEntries(
  Object.entries(delivered).map(([name, schema]) => [name, Reflect.get(schema, "examples")?.[0]]),
);

const DeliveredEsim = Type.Object({ ...delivered, unreadable }, named("DeliveredEsim"));

const PushedEsim = Type.Object(
  { ...delivered, unreadable, eid_number: Nullable(Type.String({ examples: ["89049032000000000000000000000024"] })) },
  named("PushedEsim", { description: "An eSIM that was pushed to a device" }),
);

const status = OneOf(orderLineStatuses, { examples: ["fulfilled"] });
const present = "Present once the line is fulfilled";

const EsimFulfillment = Type.Object(
  { status, esims: Type.Optional(Type.Array(DeliveredEsim, { description: present, examples: [[sample]] })) },
  named("EsimFulfillment"),
);

const eid = Type.String({ examples: ["89049032000000000000000000000024"] });

const EidPushFulfillment = Type.Object(
  {
    status,
    eid_number: Type.Optional(Nullable({ ...eid, description: `The EID that all were pushed to, if one. ${present}` })),
    eid_numbers: Type.Optional(Type.Array(eid, { description: `The EID of each profile pushed. ${present}` })),
    esims: Type.Optional(Type.Array(PushedEsim, { description: present })),
  },
  named("EidPushFulfillment"),
);

const shipped = { description: "Present once the card is shipped" };

const ShippingFulfillment = Type.Object(
  {
    status: OneOf([...orderLineStatuses, "shipped"], { examples: ["shipped"] }),
    carrier: Type.Optional(Type.String({ ...shipped, examples: ["Post"] })),
    tracking_number: Type.Optional(Type.String({ ...shipped, examples: ["TR-4471"] })),
    tracking_url: Type.Optional(Nullable(Type.String(shipped))),
    shipped_at: Type.Optional(Type.String({ ...shipped, format: "date-time" })),
  },
  named("ShippingFulfillment"),
);

const line = {
  id: UuidOf<"order_line">("The line"),
  product_name: Type.String({ examples: ["Europe 5 GB, 30 days"] }),
  product_sku: Type.String({ examples: ["ES-EU-5GB-30D"] }),
  quantity: Type.Integer({ examples: [1] }),
  price_per_unit_cents: Cents,
  subtotal_cents: Cents,
};

function lineOf(name: string, productType: ProductType, fulfillment: TSchema) {
  return Type.Object({ ...line, product_type: OneOf([productType]), fulfillment }, named(name));
}

const lines = {
  esim_qr_pregen: lineOf("EsimQrPregenLine", "esim_qr_pregen", EsimFulfillment),
  esim_qr_api: lineOf("EsimQrApiLine", "esim_qr_api", EsimFulfillment),
  esim_eid_push: lineOf("EsimEidPushLine", "esim_eid_push", EidPushFulfillment),
  physical_sim: lineOf("PhysicalSimLine", "physical_sim", ShippingFulfillment),
} satisfies Record<ProductType, TSchema>;

/** A line as it is serialized: in one shape, since a serializer would try each shape of the union on each line. */
export const DeliveredLine = Type.Object(
  { ...line, product_type: OneOf(productTypes), fulfillment: Type.Record(Type.String(), Type.Unknown()) },
  shownAs(Discriminated("DeliveredLine", "product_type", lines)),
);

/** Contract: OrderWithFulfillment. */
export const OrderWithFulfillment = Type.Object(
  {
    id: OrderId,
    order_number: Type.String({ examples: ["ORD-20260301-7KQ2M"] }),
    status: OneOf(orderStatuses, { examples: ["fulfilled"] }),
    total_amount_cents: Cents,
    total_price_cents: Cents,
    currency: Currency,
    ...orderFacts,
    metadata: Metadata,
    created_at: Timestamp,
    updated_at: Timestamp,
    line_items: Type.Array(DeliveredLine),
  },
  named("OrderWithFulfillment"),
);
