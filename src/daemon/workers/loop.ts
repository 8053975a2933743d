import type { Logger } from "pino";

/** Does all that is due now; resolves once nothing more is. Stops early when `signal` says so. */
export type Step = (signal: AbortSignal) => Promise<void>;

/** Repeats `some` until it does less than `whole`: nothing, unless told. Answers how much it did in all. */
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
}

/** Runs `step` whenever woken and every `pollMs`, never twice at a time; one that throws is logged and tried again. */
export function startWorker({ name, pollMs, step, log }: LoopOptions): Worker {
  const stopping = new AbortController();
  let woken = true;
  let rouse: () => void = () => {};
  const wake = () => {
    woken = true;
    rouse();
  };
  const timer = setInterval(wake, pollMs);

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      if (!woken) {
        await new Promise<void>((resolve) => {
          rouse = resolve;
        });
        continue;
      }
      woken = false;
      await step(stopping.signal).catch((error: unknown) => log.error({ err: error, worker: name }, "worker failed"));
    }
  }

  const done = run();
  return {
    wake,
    async stop() {
      stopping.abort();
      clearInterval(timer);
      rouse();
      await done;
    },
  };
}
