// The values of columns that have a fixed set of them, and what lists are sorted by. Without imports that run:
// the terminal reads them as it starts.
import type { IdentityField, simFields } from "../../kernel/identity-fields.ts";

/** What partners see of a physical-SIM activation request and filter by. */
export const activationStatuses = ["pending", "processing", "completed", "failed", "cancelled"] as const;
export type ActivationStatus = (typeof activationStatuses)[number];

/** How far the carrier is with a request. */
export const processingStatuses = [
  "pending",
  "processing",
  "confirmed",
  "completed",
  "failed",
  "manual_required",
] as const;
export type ProcessingStatus = (typeof processingStatuses)[number];

/** Whether a request goes to the carrier at once or on its date. */
export const processingModes = ["immediate", "scheduled"] as const;
export type ProcessingMode = (typeof processingModes)[number];

/** How a carrier is reached: by staff in its portal, by a signed HTTP request, or not at all. */
export const carrierAdapters = ["manual", "http", "simulator"] as const;
export type CarrierAdapter = (typeof carrierAdapters)[number];

/** The identity fields that a carrier may demand (contract: carrier mapping), in the order of messages. */
export const kycFields = [
  "first_name",
  "last_name",
  "title",
  "passport_no",
  "passport_country",
  "passport_expiry",
  "date_of_birth",
  "address",
  "suburb",
  "state",
  "postcode",
  "sim_last4",
  "puk",
] as const satisfies readonly (IdentityField | keyof typeof simFields)[];
export type KycField = (typeof kycFields)[number];

/** The tiers of partners; each has its rate limit. */
export const tiers = ["standard", "premium"] as const;
export type Tier = (typeof tiers)[number];

/** The highest rate limit that a partner can be given: requests a minute and client id. */
export const MOST_PER_MINUTE = 10_000_000;

/** The bounds of a partner that the operator can set. `default` holds until then; null: no bound. */
export const partnerBounds = {
  /** Webhook endpoints in one environment. */
  max_endpoints: { default: 100, most: 10_000 },
  /** Passports in the pool of one environment. */
  max_pool: { default: null, most: 10_000_000 },
  /** Open activation requests in production. */
  max_open_activations: { default: null, most: 10_000_000 },
  /** The same in the sandbox, whose requests hold ICCIDs of the same queue. */
  max_sandbox_activations: { default: 1_000, most: 10_000_000 },
  /** Deliveries that wait for one endpoint. */
  max_pending_deliveries: { default: null, most: 10_000_000 },
  /** Days from today to an activation date. */
  max_days_ahead: { default: null, most: 3_650 },
  /** Requests a minute in one environment over all its credentials; by default five times those of one. */
  max_requests_per_minute: { default: null, most: MOST_PER_MINUTE },
} as const;
export type PartnerBound = keyof typeof partnerBounds;

/** The thresholds of a partner's eSIMs that the operator can set, each a list of whole numbers from 1 on. */
export const esimThresholds = {
  /** Percents of an eSIM's data: esim.data_low. */
  low_data: { default: [50, 80, 100], most: 100 },
  /** Days before an eSIM expires: esim.expiring. */
  expiry_days: { default: [3, 1], most: 365 },
} as const;
export type EsimThreshold = keyof typeof esimThresholds;

/** Most numbers in one of these lists. */
export const MOST_THRESHOLDS = 10;

/** Contract: Webhook status. */
export const webhookStatuses = ["active", "disabled", "failed"] as const;
export type WebhookStatus = (typeof webhookStatuses)[number];

/** Contract: Product status. */
/** What becomes of a product when its stock ends: its orders wait for staff, or it goes off sale until a refill. */
export const whenShorts = ["review", "out_of_stock"] as const;
export type WhenShort = (typeof whenShorts)[number];

export const productStatuses = ["active", "inactive", "out_of_stock"] as const;
export type ProductStatus = (typeof productStatuses)[number];

export const planTypes = ["data_only", "voice_data"] as const;
export type PlanType = (typeof planTypes)[number];

export const productTypes = ["physical_sim", "esim_qr_pregen", "esim_qr_api", "esim_eid_push"] as const;
export type ProductType = (typeof productTypes)[number];

export const deliveryMethods = ["stock", "supplier_api", "supplier_email", "eid_push", "shipping"] as const;
export type DeliveryMethod = (typeof deliveryMethods)[number];

/** With these each unit is for one traveler, on the day of its activation request. */
export const scheduledMethods = ["supplier_email", "eid_push"] as const satisfies readonly DeliveryMethod[];

/** Contract: Order status. */
export const orderStatuses = ["pending_payment", "paid", "waiting_review", "fulfilled", "failed", "cancelled"] as const;
export type OrderStatus = (typeof orderStatuses)[number];

export const orderLineStatuses = ["pending", "fulfilled", "failed", "cancelled"] as const;
export type OrderLineStatus = (typeof orderLineStatuses)[number];

/** What X-Sandbox-Scenario may ask for. */
export const orderScenarios = ["stock_short", "supplier_refused", "supplier_timeout"] as const;
export type OrderScenario = (typeof orderScenarios)[number];
/** An insufficient balance makes no order. */
export const sandboxScenarios = [...orderScenarios, "insufficient_balance"] as const;
export type SandboxScenario = (typeof sandboxScenarios)[number];

/** Contract: order-item activation status. */
export const orderItemStatuses = ["pending", "submitted", "confirmed", "activated", "failed", "cancelled"] as const;
export type OrderItemStatus = (typeof orderItemStatuses)[number];

/** Contract: eSIM status. */
export const esimStatuses = ["active", "inactive", "suspended", "expired"] as const;
export type EsimStatus = (typeof esimStatuses)[number];

/** Contract: OrderEsims, which knows no expiry. */
export const orderEsimStatuses = ["active", "inactive", "suspended"] as const satisfies EsimStatus[];
export type OrderEsimStatus = (typeof orderEsimStatuses)[number];

/** What may be reported of a sandbox eSIM. */
export const sandboxEsimEvents = ["activated", "usage", "suspended", "resumed", "expired"] as const;
export type SandboxEsimEvent = (typeof sandboxEsimEvents)[number];

/** The same states as the status record's `activation_status` names them. */
export const esimActivationStatuses = ["not_activated", "activated", "suspended", "expired"] as const;
export type EsimActivationStatus = (typeof esimActivationStatuses)[number];

/** Providers whose own API is spoken: units are bought one by one. */
export const providerAdapters = ["esimaccess", "airalo", "esimgo"] as const;
export type ProviderAdapter = (typeof providerAdapters)[number];

/** How a supplier is reached: by a signed HTTP request, by e-mail, or by a provider's own API. */
export const supplierAdapters = ["http", "email", ...providerAdapters] as const;
export type SupplierAdapter = (typeof supplierAdapters)[number];

/** Whether a supplier is asked: `open` not at all, `half_open` for one unit, to see whether it works again. */
export const circuitStates = ["closed", "open", "half_open"] as const;
export type CircuitState = (typeof circuitStates)[number];

/** Whether a plan of a supplier is still in its catalog. */
export type SourceStatus = "active" | "gone";

/** What a product is bought for: a plan of its own, or more data on an eSIM that is sold already. */
export const productPurposes = ["plan", "topup"] as const;
export type ProductPurpose = (typeof productPurposes)[number];

/** How far a top-up is (beyond.md: eSIMs). */
export const topupStatuses = ["paid", "applied", "failed"] as const;
export type TopupStatus = (typeof topupStatuses)[number];

/** How far a mail to a traveler is. */
const travelerMailStatuses = ["waiting", "sent", "not_sent"] as const;
export type TravelerMailStatus = (typeof travelerMailStatuses)[number];

/** Why an eSIM cannot be topped up. */
export const notToppableReasons = ["expired", "suspended", "not_supported"] as const;
export type NotToppableReason = (typeof notToppableReasons)[number];

/** What posts cost: units bought, top-ups, and what a supplier gave back. */
export type CostKind = "purchase" | "topup" | "refund";

/** What is asked of a supplier after the sale. */
export const returnKinds = ["refund", "replace"] as const;
export type ReturnKind = (typeof returnKinds)[number];

/**
 * How that ends: by the supplier at once, by its people later, or not at all. `asked`: it is not known yet, and asking
 * again is safe.
 */
export type ReturnOutcome = "asked" | "done" | "requested" | "not_available";

/** What a phone has made of an eSIM, as far as its supplier shows it. */
export const installStates = ["not_downloaded", "downloaded", "installed", "enabled", "disabled", "deleted"] as const;
export type InstallState = (typeof installStates)[number];

/** A step in a purchase at a provider, as its adapter remembers it. It holds references only: no secret, no person. */
export type Memory = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

export const partnerStatuses = ["active", "suspended"] as const;
export type PartnerStatus = (typeof partnerStatuses)[number];

/** What the operator may decide about a passport. */
export const passportVerdicts = ["verified", "rejected"] as const;
/** The state of a passport's verification; never leaves by the API. */
export type Verification = "pending" | (typeof passportVerdicts)[number];

/** How far money is that a partner announces. */
export const fundingStatuses = ["requested", "credited", "cancelled"] as const;
export type FundingStatus = (typeof fundingStatuses)[number];

/** What moves money in the ledger. `draw`: from a credit line into the wallet; `repayment`: back to it. */
export const ledgerKinds = ["credit", "debit", "charge", "topup", "refund", "draw", "repayment"] as const;
export type LedgerKind = (typeof ledgerKinds)[number];

/** The state of one event on its way to one endpoint. */
export const deliveryStatuses = ["pending", "delivered", "exhausted", "held"] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** Why a delivery was held from the start; one that is held with its endpoint has no reason of its own. */
export type HeldReason = "pending_limit";

/** Where an attempt came from: our request, a callback, or a record by the operator. */
export const attemptSources = ["request", "callback", "operator"] as const;
export type AttemptSource = (typeof attemptSources)[number];

/** What the daemon runs by the clock. */
export const cronJobs = [
  "activation_calendar",
  "esim_expiry",
  "esim_notices",
  "head_signing",
  "passport_notices",
  "sandbox_retention",
  "webhook_retention",
] as const;
export type CronJob = (typeof cronJobs)[number];

/** What the operator is alerted of. */
export const alertKinds = [
  "stock.low",
  "product.held",
  "wallet.low",
  "order.review",
  "webhook.failing",
  "supplier.failing",
  "supplier.low",
  "carrier.failing",
  "cron.missed",
  "disk.low",
  "clock.off",
] as const;
export type AlertKind = (typeof alertKinds)[number];

/** How an alert reaches the operator. */
export const alertChannels = ["email", "webhook"] as const;
export type AlertChannel = (typeof alertChannels)[number];

/** What a notice of an alert reports: it was raised, or is over. */
export const alertStates = ["raised", "over"] as const;
export type AlertState = (typeof alertStates)[number];

/** With whom exchanges fail. */
export const outageKinds = ["supplier", "carrier"] as const;
export type OutageKind = (typeof outageKinds)[number];

/** What new orders are refused for: all of them, or those of one supplier's products. */
export type PauseKind = "orders" | "supplier";

/** What a data key is for. A new database gets one key for each. */
export const keyPurposes = ["cell", "index", "link", "credential"] as const;
/** `field` is that of earlier versions: where such a key is, sealed values are not yet bound to their cells. */
export type KeyPurpose = (typeof keyPurposes)[number] | "field";

/** The kinds of records that the index of people leads to. */
export const namedKinds = ["order", "order_item", "activation", "passport"] as const;
export type NamedKind = (typeof namedKinds)[number];

/** Whose name for an order it is: an Idempotency-Key's, or a bulk order's external_order_id. */
export const orderKeySpaces = ["bulk", "single"] as const;
export type OrderKeySpace = (typeof orderKeySpaces)[number];

/** What the catalog is sorted by. */
export const productSorts = ["created_at", "price_cents", "name"] as const;
export type ProductSort = (typeof productSorts)[number];

export const sortOrders = ["asc", "desc"] as const;
export type SortOrder = (typeof sortOrders)[number];

/** Whom a SIM is activated for, as the request named them. */
export interface ActivationCustomer {
  customer_name: string;
  customer_email: string | null;
  customer_phone: string | null;
}

/** The number that a carrier gave a SIM. */
export interface MobileNumber {
  mobile_number: string;
}

/** Whom a bulk order names as its customer. */
export interface OrderCustomer {
  email: string;
  name: string;
  phone: string | null;
}

/** How a physical SIM line went out. */
export interface Shipping {
  carrier: string;
  tracking_number: string;
  tracking_url: string | null;
  shipped_at: number;
}

/** What one order and the orders of one UTC day may cost. Amounts are decimals in the currency's own units. */
export interface SpendCap {
  /** Null: every currency without a cap of its own. */
  currency: string | null;
  per_order: string | null;
  per_day: string | null;
}

/** An activation request of an order (contract: activation_requests). */
export interface Traveler {
  customer_email: string;
  customer_name: string;
  customer_phone: string | null;
  /** YYYY-MM-DD, in `timezone`. */
  activation_date: string;
  timezone: string;
  eid_number: string | null;
  selected_plan_id: string | null;
}

/** A value before and after an act. */
export interface FieldChange {
  field: string;
  from: string | number | boolean | null;
  to: string | number | boolean | null;
}

/** The `pool_key` of a passport in its pool. */
export const IN_POOL = "";

/** What the operator's people may do, and what a partner's may: accounts/roles.ts says it of each. */
export const staffRoles = ["admin", "support", "finance", "viewer"] as const;
export type StaffRole = (typeof staffRoles)[number];
export const partnerRoles = ["owner", "developer", "agent", "viewer"] as const;
export type PartnerRole = (typeof partnerRoles)[number];

/** Whether a user has chosen a password yet, and may sign in. */
export const userStatuses = ["invited", "active", "disabled"] as const;
export type UserStatus = (typeof userStatuses)[number];

/** What proves a user beside the password. A recovery code is used once. */
export const factorKinds = ["totp", "passkey", "recovery"] as const;
export type FactorKind = (typeof factorKinds)[number];
