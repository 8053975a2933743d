import { Type } from "typebox";
import { esimEvents } from "../../core/esims/supplier-report.ts";
import { ConfirmationNumber, errorMessage, errorType, reportedOutcomes } from "./callback.ts";
import { named, OneOf, Timestamp, UuidOf } from "./common.ts";

const Iccid = Type.String({ pattern: "^\\d{19,20}$", errorMessage: "must be 19 or 20 digits and nothing else" });

const SuppliedEsim = Type.Object(
  {
    iccid: Iccid,
    activation_code: Type.String({ maxLength: 300, examples: ["LPA:1$smdp.example.net$K2-7YTQ1-AB"] }),
    confirmation_code: Type.Optional(Type.String({ maxLength: 50 })),
  },
  named("SuppliedEsim"),
);

const answer = {
  confirmation_number: ConfirmationNumber,
  esims: Type.Optional(Type.Array(SuppliedEsim, { maxItems: 500, description: "What was delivered, with activated" })),
  error_type: errorType("plan_withdrawn"),
  error_message: errorMessage("For people"),
};

/** What a supplier answers to a request (docs/suppliers.md). */
export const SupplierResponse = Type.Object({
  outcome: OneOf([...reportedOutcomes, "temporary"]),
  ...answer,
});

export type SupplierResponse = Type.Static<typeof SupplierResponse>;

/** What a supplier calls back with. */
export const SupplierCallback = Type.Object(
  {
    reference: UuidOf<"order_item">("The reference of the request that this answers"),
    outcome: OneOf(reportedOutcomes),
    ...answer,
  },
  named("SupplierCallback", {
    examples: [
      {
        reference: "0199a0b1-0000-7000-8000-000000000003",
        outcome: "activated",
        esims: [{ iccid: "8944590004463637008", activation_code: "LPA:1$smdp.example.net$K2-7YTQ1-AB" }],
      },
    ],
  }),
);

const Megabytes = Type.Integer({ minimum: 0, maximum: 999_999_999_999_999, examples: [1204] });

/** What a supplier reports on an eSIM that it delivered. */
export const SupplierEsimReport = Type.Object(
  {
    iccid: Iccid,
    event: OneOf(esimEvents, { description: "usage needs used_mb or a place; the others may carry them too" }),
    at: Type.Optional({ ...Timestamp, description: "Of when this is; left out: now. Older words change nothing" }),
    used_mb: Type.Optional({ ...Megabytes, description: "Used so far" }),
    total_mb: Type.Optional({ ...Megabytes, description: "Left out: as before, at first what the product promises" }),
    country: Type.Optional(Type.String({ maxLength: 100, examples: ["JP"] })),
    network: Type.Optional(Type.String({ maxLength: 100, examples: ["NTT Docomo"] })),
  },
  named("SupplierEsimReport", {
    examples: [{ iccid: "8944590004463637008", event: "usage", used_mb: 1204, country: "JP" }],
  }),
);

export type SupplierEsimReport = Type.Static<typeof SupplierEsimReport>;

export const SupplierCallbackParams = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 63, description: "The supplier", examples: ["northwind"] }),
});
