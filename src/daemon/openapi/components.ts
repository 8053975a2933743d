import { Problem, type ProblemSlug, problems } from "../../core/kernel/problem.ts";
import type { DaemonContext } from "../context/context.ts";
import type { ResponseHeader } from "../context/fastify.ts";
import { problemBody } from "../plugins/problems.ts";

/** The headers that every response, or every refusal of a kind, carries. */
export const headers = {
  "X-Request-Id": {
    description: "Names this request in logs; your own X-Request-Id if it was well-formed",
    schema: { type: "string", maxLength: 128 },
    example: "0199a0b1-0000-7000-8000-000000000001",
  },
  "X-RateLimit-Limit": {
    description: "Requests allowed in this minute",
    schema: { type: "integer" },
    example: 60,
  },
  "X-RateLimit-Remaining": {
    description: "Requests left in this minute",
    schema: { type: "integer" },
    example: 59,
  },
  "X-RateLimit-Reset": {
    description: "When the minute ends, in Unix seconds",
    schema: { type: "integer" },
    example: 1772443860,
  },
  "Retry-After": {
    description: "Seconds to wait before the next request",
    schema: { type: "integer", minimum: 1 },
    example: 42,
  },
  "WWW-Authenticate": {
    description: "How to authenticate",
    schema: { type: "string" },
    example: 'Bearer realm="Partner API", error="invalid_token"',
  },
  ETag: {
    description: "Names this state of the response, for If-None-Match. An order with more than 1,000 units has none",
    schema: { type: "string" },
    example: 'W/"m3ZkQz6a0m0c1y0xHnYV2g"',
  },
  Location: {
    description: "Path of what was created",
    schema: { type: "string" },
    example: "/api/v1/orders/0199a0b1-0000-7000-8000-000000000001",
  },
  "Idempotent-Replayed": {
    description: "true when the key was used before: this is the order of then",
    schema: { type: "string", enum: ["true"] },
    example: "true",
  },
  "Cache-Control": {
    description: "no-store: no cache may keep the response. private, no-cache: its caller may, and asks each time",
    schema: { type: "string" },
    example: "no-store",
  },
  Deprecation: {
    description: "Since when the endpoint is deprecated (RFC 9745)",
    schema: { type: "string" },
    example: "@1767225600",
  },
  Sunset: {
    description: "When the endpoint will be gone (RFC 8594)",
    schema: { type: "string" },
    example: "Thu, 31 Dec 2026 23:59:59 GMT",
  },
  Link: {
    description: "Where to read about the deprecation",
    schema: { type: "string" },
    example: '<https://esim.reseller.net/docs>; rel="deprecation"',
  },
} as const satisfies Record<ResponseHeader, object> & Record<string, object>;

const REQUIRED = "first_name last_name passport_no passport_country passport_expiry date_of_birth address title".split(
  " ",
);

const SAMPLES: Partial<Record<ProblemSlug, Problem>> = {
  validation: new Problem("validation", "line_items.0.quantity must be between 1 and 10000.", {
    errors: { "line_items.0.quantity": ["must be between 1 and 10000"] },
  }),
  carrier_not_supported: new Problem("carrier_not_supported", "ICCIDs that start with 894101 cannot be activated.", {
    members: { carrier: "unknown", supported_carriers: ["Carrier A (Australia)", "Carrier B (Australia)"] },
  }),
  missing_kyc: new Problem("missing_kyc", "date_of_birth and title are missing.", {
    members: {
      carrier: "Carrier B (Australia)",
      region: "AU",
      required_fields: REQUIRED,
    },
  }),
  date_conflict: new Problem("date_conflict", "This ICCID has a pending request for 2026-03-09.", {
    members: { existing_date: "2026-03-09", existing_request_id: "0199a0b1-0000-7000-8000-000000000002" },
  }),
  too_many_endpoints: new Problem(
    "too_many_endpoints",
    "At most 100 webhook endpoints may be registered in production.",
    { members: { limit: 100 } },
  ),
  too_many_activations: new Problem(
    "too_many_activations",
    "At most 1000 activation requests may be open in sandbox.",
    { members: { limit: 1000 } },
  ),
  pool_full: new Problem("pool_full", "The pool may hold at most 5000 passports. Nothing was stored.", {
    members: { limit: 5000 },
  }),
  price_changed: new Problem("price_changed", "The order costs 27.50 AUD, more than 25.00 AUD.", {
    members: { total_price_cents: 2750, max_total_cents: 2500, currency: "AUD" },
  }),
  too_many_credentials: new Problem("too_many_credentials", "At most 100 credentials may be active in sandbox.", {
    members: { limit: 100 },
  }),
  spend_cap_exceeded: new Problem(
    "spend_cap_exceeded",
    "The order costs 25.00 AUD; this credential may spend 1000.00 AUD per day, and has spent 990.00 AUD today.",
    {
      members: {
        cap: "per_day",
        currency: "AUD",
        cap_cents: 100_000,
        spent_cents: 99_000,
        required_cents: 2500,
        resets_at: "2026-03-03T00:00:00.000Z",
      },
    },
  ),
  paused: new Problem("paused", "New orders are paused: maintenance at our supplier until 18:00 UTC", {
    members: { reason: "maintenance at our supplier until 18:00 UTC" },
  }),
  esim_not_toppable: new Problem("esim_not_toppable", "eSIM 8944590004463637008 cannot be topped up: it has expired.", {
    members: { reason: "expired" },
  }),
  not_editable: new Problem("not_editable", "The activation is processing.", {
    members: { current_status: "processing" },
  }),
  not_cancellable: new Problem("not_cancellable", "The activation is processing.", {
    members: { current_status: "processing" },
  }),
  insufficient_balance: new Problem("insufficient_balance", "The wallet holds AUD 10.00; the order costs AUD 25.00.", {
    members: { currency: "AUD", balance_cents: 1000, required_cents: 2500, shortfall_cents: 1500 },
  }),
};

/** What a problem of this type looks like, for the reference and its page. */
export function sampleProblem(slug: ProblemSlug, context: DaemonContext) {
  const problem = SAMPLES[slug] ?? new Problem(slug, problems[slug].hint);
  const occasion = { instance: "/api/v1/orders", requestId: "0199a0b1-0000-7000-8000-000000000001" };
  return { ...problemBody(problem, occasion, context), timestamp: "2026-03-02T09:30:00.000Z" };
}
