/**
 * Every refusal a caller may meet: slug → status, title and what to do next. Thrown in core as a `Problem`, rendered
 * once by the daemon (problem+json) and once by the terminal. Contract: Errors; the slugs beyond its table are decided.
 */
export const problems = {
  validation: {
    status: 400,
    title: "Validation Failed",
    hint: "Correct the fields named in errors and send it again.",
  },
  invalid_request: {
    status: 400,
    title: "Invalid Request",
    hint: "Send a well-formed request as the API reference shows.",
  },
  invalid_cursor: {
    status: 400,
    title: "Invalid Cursor",
    hint: "Start again without a cursor, with the same filters and sort.",
  },
  invalid_iccid: { status: 400, title: "Invalid ICCID", hint: "Look at it again: nothing but its digits, no spaces." },
  invalid_activation_date: {
    status: 400,
    title: "Invalid Activation Date",
    hint: "Choose a real calendar date that is not past and not further ahead than detail allows.",
  },
  missing_kyc: { status: 400, title: "Missing Identity Fields", hint: "Send the identity fields named in detail." },
  order_not_fulfilled: {
    status: 400,
    title: "Order Not Fulfilled",
    hint: "Wait until the order's status is fulfilled.",
  },
  unauthorized: {
    status: 401,
    title: "Unauthorized",
    hint: "Send Authorization: Bearer with a token of POST /api/v1/oauth/token.",
  },
  token_expired: { status: 401, title: "Token Expired", hint: "Request a new token and repeat the request." },
  insufficient_balance: {
    status: 402,
    title: "Insufficient Balance",
    hint: "Top up the wallet and repeat the same request.",
  },
  insufficient_scope: {
    status: 403,
    title: "Insufficient Scope",
    hint: "Request a token with the scope named in detail.",
  },
  forbidden: {
    status: 403,
    title: "Not Allowed",
    hint: "Ask the owner of your team, or the operator, for a role that allows it.",
  },
  ip_not_allowed: {
    status: 403,
    title: "Address Not Allowed",
    hint: "Send requests from an address that the operator allows for this credential, or ask for another one.",
  },
  spend_cap_exceeded: {
    status: 403,
    title: "Spend Cap Exceeded",
    hint: "Place a smaller order, wait until resets_at, or ask the operator for a higher cap.",
  },
  production_not_enabled: {
    status: 403,
    title: "Production Not Enabled",
    hint: "Ask the operator to enable production.",
  },
  production_token_required: {
    status: 403,
    title: "Production Token Required",
    hint: "Use a token of a production credential.",
  },
  identity_not_allowed: {
    status: 403,
    title: "Identity Not Allowed",
    hint: "Use a credential that may handle identities, or ask the operator.",
  },
  guard_rails_apply: {
    status: 403,
    title: "Guard Rails Apply",
    hint: "Use the credential itself or one without guard rails, or ask the operator.",
  },
  partner_suspended: { status: 403, title: "Partner Suspended", hint: "Ask the operator to resume the account." },
  sandbox_activations_disabled: {
    status: 403,
    title: "Sandbox Activations Disabled",
    hint: "Use a production credential, or ask the operator to allow activation requests in the sandbox.",
  },
  sandbox_only: {
    status: 403,
    title: "Sandbox Only",
    hint: "Use a sandbox credential, whose client id begins with sk_test_.",
  },
  esim_forbidden: { status: 403, title: "eSIM Not Accessible", hint: "Only eSIMs of your own orders can be read." },
  not_found: { status: 404, title: "Not Found", hint: "Check the address and the id." },
  method_not_allowed: { status: 405, title: "Method Not Allowed", hint: "Use one of the methods in the Allow header." },
  duplicate: { status: 409, title: "Duplicate", hint: "It exists already; read it instead of creating it again." },
  not_acceptable: {
    status: 406,
    title: "Not Acceptable",
    hint: "Name a media type in Accept that detail names, or leave the header out.",
  },
  date_conflict: {
    status: 409,
    title: "Activation Date Conflict",
    hint: "Repeat with confirm_date_change: true to change the date.",
  },
  idempotency_conflict: { status: 409, title: "Idempotency Conflict", hint: "Use a new key for a different payload." },
  price_changed: {
    status: 409,
    title: "Price Changed",
    hint: "Look at the new total; to order at it, repeat the same request with a higher max_total_cents.",
  },
  esim_not_toppable: {
    status: 409,
    title: "eSIM Not Toppable",
    hint: "Look at reason: a suspended eSIM can be topped up once it is resumed; otherwise order a new eSIM.",
  },
  not_editable: { status: 409, title: "Not Editable", hint: "Only a pending request can be changed." },
  not_cancellable: { status: 409, title: "Not Cancellable", hint: "Only a pending request can be cancelled." },
  passport_in_use: {
    status: 409,
    title: "Passport In Use",
    hint: "A passport used for an activation can no longer be changed.",
  },
  passport_conflict: { status: 409, title: "Passport Conflict", hint: "Another record of your pool has this number." },
  too_many_endpoints: {
    status: 409,
    title: "Too Many Endpoints",
    hint: "Delete an endpoint that is no longer used, or ask the operator for a higher limit.",
  },
  too_many_credentials: {
    status: 409,
    title: "Too Many Credentials",
    hint: "Delete a credential that is no longer used.",
  },
  last_credential: {
    status: 409,
    title: "Last Credential",
    hint: "Create another credential with all six scopes first.",
  },
  too_many_activations: {
    status: 409,
    title: "Too Many Activations",
    hint: "Wait until open requests are completed, cancel some, or ask the operator for a higher limit.",
  },
  pool_full: {
    status: 409,
    title: "Pool Full",
    hint: "Withdraw passports that are no longer used, or ask the operator for a higher limit.",
  },
  conflict: { status: 409, title: "Conflict", hint: "Look at the current state before trying again." },
  cursor_expired: {
    status: 410,
    title: "Cursor Expired",
    hint: "Read the records themselves for what was missed, then begin the feed again with since or after=now.",
  },
  payload_too_large: { status: 413, title: "Payload Too Large", hint: "A body has at most 1 MiB; split the request." },
  unsupported_media_type: { status: 415, title: "Unsupported Media Type", hint: "Send application/json." },
  expectation_failed: { status: 417, title: "Expectation Failed", hint: "Leave the Expect header out." },
  carrier_not_supported: {
    status: 422,
    title: "Carrier Not Supported",
    hint: "Only ICCIDs of the supported carriers can be activated.",
  },
  no_agent_record: { status: 422, title: "No Agent Record", hint: "Ask the operator to set your agent record." },
  rate_limit_exceeded: { status: 429, title: "Rate Limit Exceeded", hint: "Wait as long as Retry-After says." },
  internal: {
    status: 500,
    title: "Internal Error",
    hint: "Repeat the request later; quote the request id if it stays.",
  },
  paused: {
    status: 503,
    title: "Paused",
    hint: "Wait as long as Retry-After says, then repeat the same request with the same Idempotency-Key.",
  },
  supplier_unreachable: {
    status: 503,
    title: "Supplier Unreachable",
    hint: "Repeat it later; suppliers check shows what a supplier answers.",
  },
  unavailable: {
    status: 503,
    title: "Service Unavailable",
    hint: "Wait as long as Retry-After says, then repeat the same request with the same Idempotency-Key.",
  },
} as const;

export type ProblemSlug = keyof typeof problems;

/** Sentences by dotted field path, e.g. {"line_items.0.quantity": ["must be between 1 and 10000"]}. */
export type FieldErrors = Record<string, string[]>;

interface ProblemExtras {
  /** Field errors of a validation problem. */
  errors?: FieldErrors;
  /** Further members of the body, e.g. required_cents. Plain data, never identity data. */
  members?: Record<string, unknown>;
}

/** A refusal with words for a person. `detail` may be shown to the caller: no secrets, no identity data in it. */
export class Problem extends Error {
  readonly slug: ProblemSlug;
  readonly errors: FieldErrors | undefined;
  readonly members: Record<string, unknown>;

  constructor(slug: ProblemSlug, detail: string, extras: ProblemExtras = {}) {
    super(detail);
    this.name = "Problem";
    this.slug = slug;
    this.errors = extras.errors;
    this.members = extras.members ?? {};
  }

  get status(): number {
    return problems[this.slug].status;
  }

  get title(): string {
    return problems[this.slug].title;
  }

  get hint(): string {
    return problems[this.slug].hint;
  }
}

/** A validation problem; its detail repeats the first field in words. `members` go into the body as they are. */
export function invalid(errors: FieldErrors, members: Record<string, unknown> = {}): Problem {
  const fields = Object.keys(errors);
  const first = fields[0] ?? "body";
  const more = fields.length > 1 ? ` (and ${fields.length - 1} more)` : "";
  const detail = `${first} ${errors[first]?.[0] ?? "is invalid"}${more}.`;
  return new Problem("validation", detail, { errors, members });
}

/** What can be looked up and missed, and the word for it. */
const resources = {
  activation: "activation",
  alert_target: "alert target",
  credential: "credential",
  delivery: "delivery",
  esim: "eSIM",
  event: "event",
  funding_request: "funding request",
  invitation: "invitation",
  order: "order",
  order_item: "order item",
  partner: "partner",
  passport: "passport",
  price_list: "price list",
  product: "product",
  qr_code: "QR code",
  session: "session",
  source: "source",
  supplier: "supplier",
  topup: "top-up",
  user: "user",
  webhook: "webhook",
} as const;

export type ResourceKind = keyof typeof resources;

/**
 * A record that is missing or not the caller's: both look the same. `name` is what the caller called it. The member
 * `resource` says to a program which kind it is.
 */
export function notFound(resource: ResourceKind, name?: string): Problem {
  const what = name === undefined ? resources[resource] : `${resources[resource]}: ${name}`;
  return new Problem("not_found", `No such ${what}.`, { members: { resource } });
}
