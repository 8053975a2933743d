import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import type { Clock } from "../../core/kernel/clock.ts";
import { clockAhead, isClockOff } from "../../core/platform/clock-difference.ts";
import { isUnavailable } from "../../core/store/problems.ts";
import type { Store } from "../../core/store/store.ts";

/** How often the clocks are compared (ms). */
const BETWEEN_MS = 2_000;

/** Compares this machine's clock with the database's, as leases of several nodes need it. */
export interface ClockWatch {
  /** How far this machine's clock was ahead when it was last compared (ms); null: no comparison has succeeded yet. */
  aheadMs(): number | null;
  /** Whether that is too much or not known: then this node takes no leases. */
  isOff(): boolean;
  stop(): Promise<void>;
}

/** Watches until it is stopped, and logs when the clock goes off and when it is right again. Compares at first. */
export async function watchClock(
  { store, clock, log }: { store: Pick<Store, "ping">; clock: Clock; log: Pick<Logger, "error" | "info"> },
  betweenMs = BETWEEN_MS,
): Promise<ClockWatch> {
  const stopping = new AbortController();
  const { signal } = stopping;
  let ahead: number | null = null;
  let loggedAsOff = false;

  async function compare(): Promise<void> {
    try {
      // What was found last holds where the exchange took too long, as in an outage.
      ahead = (await clockAhead(store, clock)) ?? ahead;
    } catch (error) {
      // The outage is logged where it is watched (outages.ts).
      if (!isUnavailable(error)) throw error;
    }
  }

  function report(): void {
    const isOff = isClockOff(ahead);
    if (isOff && !loggedAsOff) {
      const how = ahead === null ? "could not be compared with" : "differs from";
      const words = `this machine's clock ${how} the database's: no work is taken until it is right`;
      log.error({ event: "clock_off", ahead_ms: ahead }, words);
    }
    if (!isOff && loggedAsOff) log.info({ event: "clock_right", ahead_ms: ahead }, "the clock is right again");
    loggedAsOff = isOff;
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      await pause(betweenMs, undefined, { ref: false, signal }).catch(() => undefined);
      if (signal.aborted) return;
      await compare().catch((error: unknown) => log.error({ err: error }, "clocks not compared"));
      report();
    }
  }

  await compare();
  // The first exchange may have had to make its connection.
  if (ahead === null) await compare();
  report();
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
