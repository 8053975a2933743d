import type { Clock } from "../kernel/clock.ts";
import type { Store } from "./store.ts";

/** A node whose clock differs from the database's by more than this (ms) takes no leases. */
export const CLOCK_TOLERANCE_MS = 2_000;

/** The clocks of two nodes that take leases differ by no more than this (ms): one may be ahead, the other behind. */
export const CLOCKS_APART_MS = 2 * CLOCK_TOLERANCE_MS;

/**
 * How far this machine's clock is certainly ahead of the database's, in ms; negative: behind; 0: it agrees, as far as
 * the time of the exchange lets one see, or the database has no clock of its own. Throws `StoreUnavailable`.
 */
export async function clockAhead({ ping }: Pick<Store, "ping">, clock: Clock): Promise<number> {
  const before = clock.now();
  const { now } = await ping();
  const after = clock.now();
  if (now === null) return 0;
  if (before > now) return Math.round(before - now);
  return after < now ? Math.round(after - now) : 0;
}

/** Whether such a difference is too large to take leases. */
export function isClockOff(aheadMs: number): boolean {
  return Math.abs(aheadMs) > CLOCK_TOLERANCE_MS;
}
