import { Type } from "typebox";
import { ConfirmationNumber, errorMessage, errorType, reportedOutcomes } from "./callback.ts";
import { named, OneOf, UuidOf } from "./common.ts";

const answer = {
  mobile_number: Type.Optional(
    Type.String({ minLength: 3, maxLength: 40, description: "Needed with activated", examples: ["+61491570156"] }),
  ),
  confirmation_number: ConfirmationNumber,
  error_type: errorType("identity_not_verified"),
  error_message: errorMessage("For people; identity data in it is redacted"),
};

/** What a carrier answers to a request (docs/carriers.md). */
export const CarrierResponse = Type.Object({
  outcome: OneOf([...reportedOutcomes, "temporary"]),
  ...answer,
});

export type CarrierResponse = Type.Static<typeof CarrierResponse>;

/** What a carrier calls back with. */
export const CarrierCallback = Type.Object(
  {
    reference: UuidOf<"activation">("The reference of the request that this answers"),
    outcome: OneOf(reportedOutcomes),
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
