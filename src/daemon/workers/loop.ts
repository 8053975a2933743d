import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import { isUnavailable } from "../../core/store/problems.ts";

/** Does all that is due now; resolves once nothing more is. Stops early when `signal` says so. */
export type Step = (signal: AbortSignal) => Promise<void>;

/** Repeats `some` until it does less than `whole`, and returns how much it did in all. */
export async function drained(signal: AbortSignal, some: () => Promise<number>, whole = 1): Promise<number> {
  let total = 0;
  while (!signal.aborted) {
    const done = await some();
    total += done;
    if (done < whole) break;
  }
  return total;
}

/** A loop that runs. */
export interface Worker {
  /** Looks for work at once instead of at the next poll. */
  wake(): void;
  /** Lets the step under way finish, then resolves. */
  stop(): Promise<void>;
}

/** One piece of work that runs by itself. */
interface LoopOptions {
  name: string;
  /** How often it looks by itself: for what other processes left, and after a wake-up that got lost. */
  pollMs: number;
  step: Step;
  log: Pick<Logger, "error">;
  /** Whether the clock is too far off: no step is run meanwhile. Left out: it never is, or does not matter. */
  isClockOff?: (() => boolean) | undefined;
}

/** While the database is unavailable a step is tried again after this long, then after twice as long each time. */
const FIRST_REST_MS = 1_000;
const LONGEST_REST_MS = 5_000;

/**
 * Runs `step` whenever woken and every `pollMs`, never twice at a time; one that throws is logged and tried again. One
 * that the database's being unavailable ends is tried again with back-off.
 */
export function startWorker({ name, pollMs, step, log, isClockOff }: LoopOptions): Worker {
  const stopping = new AbortController();
  let woken = true;
  let resume: () => void = () => {};
  const wake = () => {
    woken = true;
    resume();
  };
  const timer = setInterval(wake, pollMs);

  let outages = 0;

  async function once(): Promise<void> {
    if (isClockOff?.() === true) return;
    try {
      await step(stopping.signal);
      outages = 0;
    } catch (error) {
      if (!isUnavailable(error)) return log.error({ err: error, worker: name }, "worker failed");
      // The outage is logged where it is watched (outages.ts); here the database gets some rest.
      const rest = Math.min(FIRST_REST_MS * 2 ** outages++, LONGEST_REST_MS);
      await pause(rest, undefined, { signal: stopping.signal }).catch(() => undefined);
      woken = true;
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      if (!woken) {
        await new Promise<void>((resolve) => {
          resume = resolve;
        });
        continue;
      }
      woken = false;
      await once();
    }
  }

  const done = run();
  return {
    wake,
    async stop() {
      stopping.abort();
      clearInterval(timer);
      resume();
      await done;
    },
  };
}
