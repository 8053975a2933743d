import { Type } from "typebox";
import { deliveryKinds } from "../../core/orders/quote.ts";
import { BulkSummary, Cents, Currency, Nullable, named, OneOf, UuidOf } from "./common.ts";
import { BulkOrderError } from "./order.ts";

const QuotedLine = Type.Object(
  {
    product_id: UuidOf<"product">("The product"),
    product_sku: Type.String({ examples: ["ES-EU-5GB-30D"] }),
    product_name: Type.String({ examples: ["Europe 5 GB, 30 days"] }),
    quantity: Type.Integer({ examples: [2] }),
    unit_price_cents: Cents,
    subtotal_cents: Type.Integer({ description: "Minor units of the currency", examples: [2500] }),
    delivery: OneOf(deliveryKinds, {
      description:
        "now: at once; scheduled: on the days of its activation_requests; shipping: by post; review: stock is short, " +
        "and the order waits until the operator has more",
    }),
  },
  named("QuotedLine"),
);

const shortfall_cents = Type.Integer({
  description: "What the wallet lacks, in minor units; 0: it can pay. Always 0 in the sandbox",
  examples: [0],
});

const total_price_cents = Type.Integer({ description: "Minor units of the currency", examples: [2500] });
const balance_cents = Type.Integer({ description: "What the wallet holds in the currency", examples: [10_000] });

/** What an order would cost. */
export const Quote = Type.Object(
  {
    line_items: Type.Array(QuotedLine),
    quantity: Type.Integer({ description: "Sum over the lines", examples: [2] }),
    total_price_cents,
    currency: Currency,
    balance_cents,
    shortfall_cents,
  },
  named("Quote"),
);

const QuotedOrder = Type.Object(
  {
    external_order_id: Type.String({ examples: ["shop-10042"] }),
    status: OneOf(["success", "failed"]),
    total_price_cents: Nullable(
      Type.Integer({ description: "Null where another reason than money refuses the order", examples: [2500] }),
    ),
    currency: Nullable(Currency),
    replayed: Type.Boolean({ description: "Whether an earlier request placed the order: nothing would be charged" }),
    line_items: Type.Array(QuotedLine, { description: "Empty where nothing would be ordered" }),
    error: Type.Optional(BulkOrderError),
  },
  named("QuotedOrder"),
);

const QuotedTotal = Type.Object(
  { currency: Currency, total_price_cents, balance_cents, shortfall_cents },
  named("QuotedTotal", {
    description: "All orders of one currency that are refused for no other reason than money",
  }),
);

/** How a bulk request would end. */
export const BulkQuote = Type.Object(
  { results: Type.Array(QuotedOrder), summary: BulkSummary, totals: Type.Array(QuotedTotal) },
  named("BulkQuote"),
);
