// The values of columns that have a fixed set of them. Without imports: the terminal reads them as it starts.

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
] as const;
export type KycField = (typeof kycFields)[number];

/** The tiers of partners; each has its rate limit. */
export const tiers = ["standard", "premium"] as const;
export type Tier = (typeof tiers)[number];

/** Contract: Webhook status. */
export const webhookStatuses = ["active", "disabled", "failed"] as const;
export type WebhookStatus = (typeof webhookStatuses)[number];
