import type { Tier } from "../store/schema/values.ts";

/** Requests a minute and client id, by tier (contract: Limits). */
export const tierLimits: Readonly<Record<Tier, number>> = { standard: 60, premium: 300 };

/** Requests a minute of a partner, as a multiple of those of one credential, unless the operator set a number. */
export const CREDENTIALS_AT_ONCE = 5;
