/** The wait after each failed attempt (ms); after the last of them no attempt follows (contract: Delivery rules). */
export const retryDelays: readonly number[] = [1_000, 2_000, 4_000, 8_000, 16_000];

/** Deliveries exhausted in a row that make an endpoint `failed`. */
export const FAILURES_TO_GIVE_UP = 20;

/** The receiver's time from the connection's first byte to its answer (ms). */
export const ANSWER_LIMIT_MS = 10_000;

/** What an attempt means: arrived; unwanted for good (410); to be retried after a wait; or not retried any more. */
export type Verdict = { kind: "delivered" | "gone" | "exhausted" } | { kind: "retry"; delayMs: number };

/** What the `attempt`-th attempt (from 1) means, by the status code that came or null for no answer. */
export function verdictOn(statusCode: number | null, attempt: number): Verdict {
  if (statusCode !== null && statusCode >= 200 && statusCode < 300) return { kind: "delivered" };
  if (statusCode === 410) return { kind: "gone" };
  const delayMs = retryDelays[attempt - 1];
  return delayMs === undefined ? { kind: "exhausted" } : { kind: "retry", delayMs };
}

/** Attempts in a row, cut off at the bound of bytes, after which an endpoint waits before its next one. */
export const CUTS_TO_WAIT = 3;

/** How long (ms) an endpoint gets nothing after so many attempts in a row were cut off; null: it does not wait. */
export function cutDelay(cutAttempts: number): number | null {
  if (cutAttempts < CUTS_TO_WAIT) return null;
  return retryDelays[cutAttempts - CUTS_TO_WAIT] ?? retryDelays.at(-1) ?? null;
}
