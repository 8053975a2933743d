import { Type } from "typebox";
import { OneOf, UuidOf } from "./common.ts";

const SuppliedEsim = Type.Object({
  iccid: Type.String({ pattern: "^\\d{19,20}$", errorMessage: "must have 19 or 20 digits" }),
  activation_code: Type.String({ maxLength: 300, examples: ["LPA:1$smdp.example.net$K2-7YTQ1-AB"] }),
  confirmation_code: Type.Optional(Type.String({ maxLength: 50 })),
});

const answer = {
  confirmation_number: Type.Optional(Type.String({ minLength: 1, maxLength: 100, examples: ["CN-20417"] })),
  esims: Type.Optional(Type.Array(SuppliedEsim, { maxItems: 500, description: "What was delivered, with activated" })),
  error_type: Type.Optional(
    Type.String({
      pattern: "^[A-Za-z0-9_.-]{1,64}$",
      errorMessage: "must be 1 to 64 letters, digits, dots, hyphens and underscores",
      examples: ["plan_withdrawn"],
    }),
  ),
  error_message: Type.Optional(Type.String({ minLength: 1, maxLength: 500, description: "For people" })),
};

/** What a supplier answers to a request (docs/suppliers.md). */
export const SupplierAnswer = Type.Object({
  outcome: OneOf(["accepted", "confirmed", "activated", "refused", "temporary"]),
  ...answer,
});

export type SupplierAnswer = Type.Static<typeof SupplierAnswer>;

/** What a supplier calls back with. */
export const SupplierCallback = Type.Object({
  reference: UuidOf<"order_item">("The reference of the request that this answers"),
  outcome: OneOf(["accepted", "confirmed", "activated", "refused"]),
  ...answer,
});

export const SupplierCallbackParams = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 63, description: "The supplier", examples: ["northwind"] }),
});
