import { Type } from "typebox";
import { answerLimits, ERROR_TYPE_WORDS } from "../../core/carriers/answer-limits.ts";
import { named } from "./common.ts";

/** What a callback reports; a response to a request may also be `temporary`. */
export const reportedOutcomes = ["accepted", "confirmed", "activated", "refused"] as const;

/** The number under which a carrier or a supplier keeps a request. */
export const ConfirmationNumber = Type.Optional(
  Type.String({ minLength: 1, maxLength: answerLimits.confirmationNumber, examples: ["CN-20417"] }),
);

/** Why a request was refused, for programs. */
export const errorType = (example: string) =>
  Type.Optional(
    Type.String({
      pattern: answerLimits.errorType,
      errorMessage: ERROR_TYPE_WORDS,
      examples: [example],
    }),
  );

/** The same, for people. */
export const errorMessage = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: answerLimits.errorMessage, description }));

/** The response to a callback of a carrier or a supplier. */
export const CallbackResult = Type.Object(
  {
    ok: Type.Boolean(),
    applied: Type.Boolean({ description: "False: it was known already, or came after a later step" }),
  },
  named("CallbackResult", { examples: [{ ok: true, applied: true }] }),
);
