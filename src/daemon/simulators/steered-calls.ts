import type { SimulatedCall, SimulatedOutcome, Steered } from "./steering.ts";

/** How one call ends: what becomes of it (null: as the protocol has it), and how much later it is answered. */
export interface Fate {
  steered: { outcome: Exclude<SimulatedOutcome, "delay">; delay_ms: number } | null;
  delay_ms: number;
}

/** The calls that a simulated provider got, and how the next ones end. */
export interface SteeredCalls {
  /** Applies after what was steered before and is not used up. */
  steer(one: Steered): void;
  /** Counts a call; null: one of no kind that can be steered. */
  next(call: SimulatedCall | null): Fate;
  counts(): { calls: number; by: Record<SimulatedCall | "other", number> };
  /** What is left, in the order that it applies in. */
  left(): Steered[];
  /** The next calls end as the protocol has it. */
  release(): void;
  /** Releases, and counts from 0. */
  reset(): void;
}

/** Nothing steered, nothing counted. A delay goes together with another outcome; others apply one after the other. */
export function steeredCalls(): SteeredCalls {
  let waiting: Steered[] = [];
  let by = noCalls();
  const use = (call: SimulatedCall, isDelay: boolean): Steered | null => {
    const first = waiting.find(({ on, outcome }) => on === call && (outcome === "delay") === isDelay);
    if (first === undefined) return null;
    first.count -= 1;
    waiting = waiting.filter(({ count }) => count > 0);
    return first;
  };
  return {
    steer(one) {
      waiting.push({ ...one });
    },
    next(call) {
      by[call ?? "other"] += 1;
      if (call === null) return { steered: null, delay_ms: 0 };
      const ending = use(call, false);
      const delay_ms = use(call, true)?.delay_ms ?? 0;
      if (ending === null || ending.outcome === "delay") return { steered: null, delay_ms };
      return { steered: { outcome: ending.outcome, delay_ms: ending.delay_ms }, delay_ms };
    },
    counts: () => ({ calls: Object.values(by).reduce((sum, count) => sum + count, 0), by: { ...by } }),
    left: () => waiting.map((one) => ({ ...one })),
    release() {
      waiting = [];
    },
    reset() {
      waiting = [];
      by = noCalls();
    },
  };
}

function noCalls(): Record<SimulatedCall | "other", number> {
  return { order: 0, topup: 0, cancel: 0, query: 0, other: 0 };
}
