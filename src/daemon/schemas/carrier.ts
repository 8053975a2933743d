import { Type } from "typebox";
import { named, OneOf, UuidOf } from "./common.ts";

const answer = {
  mobile_number: Type.Optional(
    Type.String({ minLength: 3, maxLength: 40, description: "Needed with activated", examples: ["+61491570156"] }),
  ),
  confirmation_number: Type.Optional(Type.String({ minLength: 1, maxLength: 100, examples: ["CN-20417"] })),
  error_type: Type.Optional(
    Type.String({
      pattern: "^[A-Za-z0-9_.-]{1,64}$",
      errorMessage: "must be 1 to 64 letters, digits, dots, hyphens and underscores",
      examples: ["identity_not_verified"],
    }),
  ),
  error_message: Type.Optional(
    Type.String({ minLength: 1, maxLength: 500, description: "For people; identity data in it is blotted out" }),
  ),
};

/** What a carrier answers to a request (docs/carriers.md). */
export const CarrierAnswer = Type.Object({
  outcome: OneOf(["accepted", "confirmed", "activated", "refused", "temporary"]),
  ...answer,
});

export type CarrierAnswer = Type.Static<typeof CarrierAnswer>;

/** What a carrier calls back with. */
export const CarrierCallback = Type.Object(
  {
    reference: UuidOf<"activation">("The reference of the request that this answers"),
    outcome: OneOf(["accepted", "confirmed", "activated", "refused"]),
    ...answer,
  },
  named("CarrierCallback", {
    examples: [
      {
        reference: "0199a0b1-0000-7000-8000-000000000002",
        outcome: "activated",
        mobile_number: "+61491570156",
        confirmation_number: "CN-20417",
      },
    ],
  }),
);

export const CarrierCallbackParams = Type.Object({
  prefix: Type.String({ minLength: 1, maxLength: 20, description: "The carrier's ICCID prefix", examples: ["896103"] }),
});

export const CarrierCallbackAnswer = Type.Object(
  {
    ok: Type.Boolean(),
    applied: Type.Boolean({ description: "False: it was known already, or came after a later step" }),
  },
  named("CallbackResult", { examples: [{ ok: true, applied: true }] }),
);
