import type { Clock } from "../kernel/clock.ts";
import type { Store } from "../store/store.ts";

/** A node whose clock differs from the database's by more than this (ms) takes no leases. */
export const CLOCK_TOLERANCE_MS = 2_000;

/** The clocks of two nodes that take leases differ by no more than this (ms): one may be ahead, the other behind. */
export const CLOCKS_APART_MS = 2 * CLOCK_TOLERANCE_MS;

/**
 * How far this machine's clock is at least ahead of the database's, in ms; negative: behind; 0: it agrees, as far as
 * the time of the exchange lets one see, or the database has no clock of its own. Null: the exchange took so long that
 * the clock may be right or off. Throws `StoreUnavailable`.
 */
export async function clockAhead({ ping }: Pick<Store, "ping">, clock: Clock): Promise<number | null> {
  const before = clock.now();
  const { now } = await ping();
  const after = clock.now();
  if (now === null) return 0;
  // The server looked at its clock between the two: the difference is between these.
  const [least, most] = [Math.round(before - now), Math.round(after - now)];
  const nearest = Math.max(least, Math.min(most, 0));
  if (isClockOff(nearest)) return nearest;
  return isClockOff(least) || isClockOff(most) ? null : nearest;
}

/** Whether such a difference is too large to take leases, or is not known. */
export function isClockOff(aheadMs: number | null): boolean {
  return aheadMs === null || Math.abs(aheadMs) > CLOCK_TOLERANCE_MS;
}
