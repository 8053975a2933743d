import { expireDueEsims } from "../../core/esims/expire.ts";
import { type CronJob, recordCronRun } from "../../core/insight/cron-runs.ts";
import type { Store } from "../../core/store/store.ts";
import { purgeStep } from "../../core/webhooks/retention.ts";
import { describeError } from "../log/logger.ts";
import { drained } from "./loop.ts";

/**
 * Runs a job of the clock and puts down when it ran, for how long, and how much it did; a run that breaks off too, with
 * the reason, which is then thrown on.
 */
export async function cronRun(store: Store, job: CronJob, run: () => Promise<number>): Promise<void> {
  const began = performance.now();
  const put = (done: number, error: string | null) => {
    const took_ms = Math.round(performance.now() - began);
    return store.write(recordCronRun, { job, took_ms, done, error });
  };
  try {
    const done = await run();
    await put(done, null);
  } catch (error) {
    // Where even this cannot be written, the reason is in the log: whoever runs the job logs what it throws.
    await put(0, describeError(error).message).catch(() => undefined);
    throw error;
  }
}

/** Expires every eSIM whose validity has ended, in short steps, and returns how many. Safe to kill at any moment. */
export function expireEsims({ store }: { store: Store }, signal: AbortSignal): Promise<number> {
  return drained(signal, () => store.write(expireDueEsims, null));
}

/** Drops deliveries and events past their retention, in short steps, and returns how many. Safe to kill. */
export function purgeOldDeliveries({ store }: { store: Store }, signal: AbortSignal): Promise<number> {
  return drained(signal, () => store.write(purgeStep, null));
}
