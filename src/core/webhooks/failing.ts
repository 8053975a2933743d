/** An endpoint whose attempts have failed for longer than this (ms) is failing: shorter, a retry may still arrive. */
export const FAILING_AFTER_MS = 5 * 60_000;
