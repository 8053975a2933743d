import cron from "node-cron";
import { pickUpDue, releaseScheduled } from "../../core/activations/pickup.ts";
import type { Store } from "../../core/store/store.ts";
import { type ActivationDependencies, type Begun, createLanes } from "./activation-lanes.ts";
import { cronRun } from "./cron.ts";
import { drained, startWorker, type Worker } from "./loop.ts";

/** What a step did. */
export interface ActivationCounts extends Begun {
  /** Scheduled requests whose day has come. */
  released: number;
  /** Requests that went from pending to processing. */
  pickedUp: number;
}

/** Requests written in one transaction. */
const BATCH = 100;

/** Does everything that is due now, to the last answer, and says how much that was. */
export async function activationStep(
  deps: ActivationDependencies,
  signal: AbortSignal = new AbortController().signal,
): Promise<ActivationCounts> {
  const released = await release(deps.store, signal);
  const pickedUp = await pickUp(deps.store, signal);
  const lanes = createLanes(deps);
  const total = { released, pickedUp, exchanged: 0, overdue: 0 };
  while (!signal.aborted) {
    const { exchanged, overdue } = await lanes.fill();
    total.exchanged += exchanged;
    total.overdue += overdue;
    if (exchanged + overdue === 0 && lanes.size() === 0) break;
    // As an exchange ends there is room for the next.
    await lanes.next();
  }
  await lanes.idle();
  return total;
}

/** The calendar run: whatever came due by Sydney's midnight, also one that passed while nothing ran. */
function release(store: Store, signal: AbortSignal): Promise<number> {
  return drained(signal, () => store.write(releaseScheduled, { limit: BATCH }), BATCH);
}

function pickUp(store: Store, signal: AbortSignal): Promise<number> {
  return drained(signal, () => store.write(pickUpDue, { limit: BATCH }), BATCH);
}

/** Calls `run` again and again until it is stopped. */
export type Ticker = (run: () => void) => { stop(): Promise<void> };

/** Each full minute of the wall clock. */
const minutes: Ticker = (run) => {
  const task = cron.schedule("* * * * *", run);
  return { stop: async () => void (await task.destroy()) };
};

/**
 * Runs activations by themselves: due requests are picked up every second; scheduled ones are made due by the
 * calendar, each minute, and at the start for what was missed. A slow carrier keeps nothing but itself waiting.
 */
export function startActivations(deps: ActivationDependencies, everyMinute: Ticker = minutes): Worker {
  const { store, log } = deps;
  const lanes = createLanes(deps, () => worker.wake());
  let calendarIsDue = true;

  const worker = startWorker({
    name: "activations",
    pollMs: 1_000,
    log,
    async step(signal) {
      if (calendarIsDue) {
        calendarIsDue = false;
        await cronRun(store, "activation_calendar", () => release(store, signal));
      }
      await pickUp(store, signal);
      if (!signal.aborted) await lanes.fill();
    },
  });
  const ticking = everyMinute(() => {
    calendarIsDue = true;
    worker.wake();
  });

  return {
    wake: worker.wake,
    async stop() {
      await ticking.stop();
      await worker.stop();
      await lanes.idle();
      await deps.gateway.close();
    },
  };
}
