import { Type } from "typebox";
import { named } from "./common.ts";

/** What a callback reports; a response to a request may also be `temporary`. */
export const reportedOutcomes = ["accepted", "confirmed", "activated", "refused"] as const;

/** The number under which a carrier or a supplier keeps a request. */
export const ConfirmationNumber = Type.Optional(Type.String({ minLength: 1, maxLength: 100, examples: ["CN-20417"] }));

/** Why a request was refused, for programs. */
export const errorType = (example: string) =>
  Type.Optional(
    Type.String({
      pattern: "^[A-Za-z0-9_.-]{1,64}$",
      errorMessage: "must be 1 to 64 letters, digits, dots, hyphens and underscores",
      examples: [example],
    }),
  );

/** The response to a callback of a carrier or a supplier. */
export const CallbackResult = Type.Object(
  {
    ok: Type.Boolean(),
    applied: Type.Boolean({ description: "False: it was known already, or came after a later step" }),
  },
  named("CallbackResult", { examples: [{ ok: true, applied: true }] }),
);
