import { Type } from "typebox";
import { topupStatuses } from "../../core/store/schema/values.ts";
import { Cents, Currency, Nullable, named, OneOf, Pagination, pageQuery, Timestamp, UuidOf } from "./common.ts";
import { Product } from "./product.ts";

/** What an eSIM can be topped up with. */
export const TopupProducts = Type.Object(
  { data: Type.Array(Product), count: Type.Integer({ description: "Products", examples: [1] }) },
  named("TopupProducts"),
);

/** Body of POST /esims/{iccid}/topups. */
export const NewTopup = Type.Object(
  {
    product_id: UuidOf<"product">("One of the eSIM's topup-products"),
    max_total_cents: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: "The highest price that you accept, in minor units: a dearer one is refused with price_changed",
        examples: [2500],
      }),
    ),
  },
  named("NewTopup"),
);

/** More data, or a longer validity, for an eSIM that is sold. */
export const Topup = Type.Object(
  {
    id: UuidOf<"topup">("The top-up"),
    iccid: Type.String({ examples: ["8944590004463637008"] }),
    product_id: UuidOf<"product">("The product"),
    product_sku: Type.String({ examples: ["ES-EU-TOPUP-3GB"] }),
    price_cents: Cents,
    currency: Currency,
    status: OneOf(topupStatuses, {
      description: "paid: it is being bought; applied: it is on the eSIM; failed: it was refunded",
      examples: ["paid"],
    }),
    wallet_balance_after_cents: Cents,
    created_at: Timestamp,
    applied_at: Nullable(Timestamp),
    failure_reason: Nullable(Type.String({ description: "Why it failed; null: it did not" })),
  },
  named("Topup"),
);

export const TopupQuery = Type.Object(pageQuery());

export const TopupPage = Type.Object({ data: Type.Array(Topup), pagination: Pagination }, named("TopupPage"));

export const TopupParams = Type.Object({ id: UuidOf<"topup">("The top-up") });
