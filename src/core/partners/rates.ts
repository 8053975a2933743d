import type { Row } from "../store/schema/tables.ts";
import type { Tier } from "../store/schema/values.ts";

/** Requests a minute and client id, by tier (contract: Limits). */
const tierLimits: Readonly<Record<Tier, number>> = { standard: 60, premium: 300 };

/** Requests a minute of a partner, as a multiple of those of one credential, unless the operator set a number. */
const CREDENTIALS_AT_ONCE = 5;

type Rated = Pick<Row<"partners">, "tier" | "rate_limit" | "max_requests_per_minute">;

/** The requests a minute that hold for one credential of a partner, and for all of them together. */
export function ratesOf(partner: Rated): { each: number; together: number } {
  const each = partner.rate_limit ?? tierLimits[partner.tier];
  return { each, together: partner.max_requests_per_minute ?? CREDENTIALS_AT_ONCE * each };
}
