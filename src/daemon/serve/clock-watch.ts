import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import type { Clock } from "../../core/kernel/clock.ts";
import { clockAhead, isClockOff } from "../../core/store/clock-difference.ts";
import { isUnavailable } from "../../core/store/problems.ts";
import type { Store } from "../../core/store/store.ts";

/** How often the clocks are compared (ms). */
const BETWEEN_MS = 2_000;

/** Compares this machine's clock with the database's, as leases of several nodes need it. */
export interface ClockWatch {
  /** How far this machine's clock was ahead when it was last compared (ms). */
  aheadMs(): number;
  /** Whether that is too much: then this node takes no leases. */
  isOff(): boolean;
  stop(): Promise<void>;
}

/** Watches until it is stopped, and logs when the clock goes off and when it is right again. Compares once at first. */
export async function watchClock(deps: {
  store: Pick<Store, "ping">;
  clock: Clock;
  log: Pick<Logger, "error" | "info">;
}): Promise<ClockWatch> {
  const { store, clock, log } = deps;
  const stopping = new AbortController();
  const { signal } = stopping;
  let ahead = 0;

  async function compare(): Promise<void> {
    const wasOff = isClockOff(ahead);
    try {
      ahead = await clockAhead(store, clock);
    } catch (error) {
      // What was found last holds. The outage is logged where it is watched (outages.ts).
      if (!isUnavailable(error)) throw error;
    }
    if (isClockOff(ahead) && !wasOff) {
      const words = "this machine's clock differs from the database's: no work is taken until it is right";
      log.error({ event: "clock_off", ahead_ms: ahead }, words);
    }
    if (!isClockOff(ahead) && wasOff) log.info({ event: "clock_right", ahead_ms: ahead }, "the clock is right again");
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      await pause(BETWEEN_MS, undefined, { ref: false, signal }).catch(() => undefined);
      if (!signal.aborted) await compare().catch((error: unknown) => log.error({ err: error }, "clocks not compared"));
    }
  }

  await compare();
  const done = run();
  return {
    aheadMs: () => ahead,
    isOff: () => isClockOff(ahead),
    async stop() {
      stopping.abort();
      await done;
    },
  };
}
