import type { Clock } from "../../src/core/kernel/clock.ts";

/** A clock that moves only when it is set or advanced. */
export interface TestClock extends Clock {
  /** Moves it on by `ms`. */
  advance(ms: number): void;
  /** Sets it to a moment. */
  set(iso: string): void;
}

/** A clock that shows `startIso` until it is moved. */
export function testClock(startIso = "2026-03-02T09:30:00.000Z"): TestClock {
  let now = Date.parse(startIso);
  return {
    now: () => now,
    advance(ms) {
      now += ms;
    },
    set(iso) {
      now = Date.parse(iso);
    },
  };
}
