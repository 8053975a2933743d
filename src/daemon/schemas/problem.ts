import { type TProperties, type TSchema, Type } from "typebox";
import { tokenErrors } from "../../core/credentials/token-refusal.ts";
import { type ProblemSlug, problems } from "../../core/kernel/problem.ts";
import { activationStatuses, notToppableReasons } from "../../core/store/schema/values.ts";
import { Cents, Currency, Nullable, named, OneOf, Timestamp, UuidOf } from "./common.ts";

const FieldErrors = Type.Record(Type.String(), Type.Array(Type.String()), {
  description: "Sentences by dotted field path",
  examples: [{ "line_items.0.quantity": ["must be between 1 and 10000"] }],
});

const members = {
  title: Type.String({ description: "The type in words", examples: ["Not Found"] }),
  status: Type.Integer({ description: "The HTTP status", examples: [404] }),
  detail: Type.String({ description: "What is wrong with this request", examples: ["No such order."] }),
  instance: Type.Optional(Type.String({ description: "Path of the request", examples: ["/api/v1/orders"] })),
  requestId: Type.String({
    description: "The response's X-Request-Id",
    examples: ["0199a0b1-0000-7000-8000-000000000001"],
  }),
  timestamp: Timestamp,
};

const type = { format: "uri", description: "Address of a page about this type of problem" };

/** Contract: Errors. The body of every refusal outside the token endpoint; some types add members of their own. */
const Problem = Type.Object(
  {
    type: Type.String({ ...type, examples: ["https://esim.reseller.net/docs/errors/not_found"] }),
    ...members,
    errors: Type.Optional(FieldErrors),
  },
  named("Problem", { additionalProperties: true, description: "A refusal (RFC 7807)" }),
);

const CarrierName = Type.String({ examples: ["Carrier B (Australia)"] });
const limit = Type.Integer({ description: "How many may exist", minimum: 0 });
const current_status = OneOf(activationStatuses, { description: "The status of the activation now" });

/** Contract: Errors, "extra fields". The members that a type of problem always has beside those of all. */
const ownMembers = {
  validation: { errors: FieldErrors },
  missing_kyc: {
    carrier: CarrierName,
    region: Type.String({ examples: ["AU"] }),
    required_fields: Type.Array(Type.String(), { description: "All fields that the carrier requires" }),
  },
  insufficient_balance: {
    currency: Currency,
    balance_cents: Cents,
    required_cents: Cents,
    shortfall_cents: Cents,
    available_credit_cents: Type.Optional(
      Type.Integer({ description: "What the credit line still allows to draw; absent without one" }),
    ),
  },
  spend_cap_exceeded: {
    cap: OneOf(["per_order", "per_day"], { description: "Which of the caps" }),
    currency: Currency,
    cap_cents: Cents,
    spent_cents: Type.Integer({ description: "What today's orders cost; 0 for the cap per order" }),
    required_cents: Cents,
    resets_at: Nullable(Type.String({ format: "date-time", description: "When the day ends; null per order" })),
  },
  paused: { reason: Type.String({ description: "Why, in the operator's words" }) },
  too_many_credentials: { limit },
  duplicate: {
    differs: Type.Optional(
      Type.Array(Type.String(), {
        description: "Fields in which your own request for this ICCID and date has another value",
        examples: [["passport_no", "last_name"]],
      }),
    ),
    current_status: Type.Optional(current_status),
  },
  date_conflict: {
    existing_date: Type.String({ format: "date", description: "The date of your pending request" }),
    existing_request_id: UuidOf<"activation">("Your pending request"),
  },
  price_changed: {
    total_price_cents: Type.Integer({ description: "What the order costs now", examples: [2750] }),
    max_total_cents: Type.Integer({ description: "What the request allowed", examples: [2500] }),
    currency: Currency,
  },
  esim_not_toppable: { reason: OneOf(notToppableReasons, { description: "Why" }) },
  not_editable: { current_status },
  not_cancellable: { current_status },
  too_many_endpoints: { limit },
  too_many_activations: { limit },
  pool_full: { limit },
  carrier_not_supported: {
    carrier: Type.String({ description: "unknown: no carrier has this prefix" }),
    supported_carriers: Type.Array(CarrierName),
  },
} satisfies Partial<Record<ProblemSlug, TProperties>>;

/** The schema of a type of problem: its own where it has members of its own. */
export function problemSchema(slug: ProblemSlug): TSchema {
  return own.get(slug) ?? Problem;
}

const own = new Map<string, TSchema>(
  Object.entries(ownMembers).map(([slug, properties]) => [
    slug,
    ownProblem(slug as keyof typeof ownMembers, properties),
  ]),
);

function ownProblem(slug: keyof typeof ownMembers, properties: TProperties): TSchema {
  const { title, status } = problems[slug];
  const fields = {
    type: Type.String({ ...type, pattern: `/errors/${slug}$` }),
    ...members,
    status: Type.Unsafe<number>({ type: "integer", const: status }),
    ...properties,
  };
  const name = `${slug.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Problem`;
  return Type.Object(fields, named(name, { additionalProperties: true, description: title }));
}

/** The error object of the token endpoint (RFC 6749, 5.2). */
export const OauthError = Type.Object(
  {
    error: OneOf(tokenErrors),
    error_description: Type.String({ description: "What is wrong, for people" }),
  },
  named("OauthError", {
    description: "A refusal of the token endpoint (RFC 6749, 5.2)",
    examples: [{ error: "invalid_client", error_description: "The client_id or client_secret is wrong." }],
  }),
);
