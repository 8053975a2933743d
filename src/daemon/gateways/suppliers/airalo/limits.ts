import type { Limit } from "../../../../core/supply/limit.ts";
import type { Call } from "../calls.ts";

const MINUTE = 60_000;

/**
 * Every call. The sandbox allows five a second over all endpoints, and which mode an account is in does not show. In
 * production the same is published for usage alone, and nothing at all for orders.
 */
const account: Limit = { bucket: "account", most: 5, windowMs: 1_000 };

/**
 * What a call takes of the limits. One of its own comes first: a 429 then holds up its like, and not the account. As it
 * is far below that of the account, it is the one that a 429 of such a call speaks of.
 */
function limits(...own: Limit[]): Call["limits"] {
  return [...own, account].map((limit) => ({ limit, cost: 1 }));
}

function aMinute(bucket: string, most: number): Limit {
  return { bucket, most, windowMs: MINUTE };
}

/** What has no limit of its own. */
export const anyCall = limits();
export const tokenCall = limits(aMinute("token", 3));
/** The page says 80 a minute, and 40. */
export const packagesCall = limits(aMinute("packages", 40));
export const refundCall = limits(aMinute("refund", 5));

/** The usage of one eSIM. */
export function usageCall(iccid: string): Call["limits"] {
  return limits(aMinute(`usage ${iccid}`, 10));
}
