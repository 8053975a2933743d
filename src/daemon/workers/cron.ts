import { expireDueEsims } from "../../core/esims/expire.ts";
import { grownChains, signHeads } from "../../core/evidence/sign.ts";
import { recordCronRun } from "../../core/insight/cron-runs.ts";
import { purgeSandboxStep } from "../../core/orders/purge-sandbox.ts";
import type { CronJob } from "../../core/store/schema/values.ts";
import type { Store } from "../../core/store/store.ts";
import { purgeStep } from "../../core/webhooks/retention.ts";
import { describeError } from "../log/logger.ts";
import { drained } from "./loop.ts";

/**
 * Runs a job of the calendar and records when it ran, for how long, and how much it did. A run that fails is recorded
 * with its error, which is thrown again. `node` runs it while it holds the lease; left out: no other node can.
 */
export async function cronRun(store: Store, job: CronJob, run: () => Promise<number>, node?: string): Promise<void> {
  const began = performance.now();
  const record = (done: number, error: string | null) => {
    const took_ms = Math.round(performance.now() - began);
    return store.write(recordCronRun, { job, took_ms, done, error, ...(node === undefined ? {} : { node }) });
  };
  try {
    const done = await run();
    await record(done, null);
  } catch (error) {
    // When even this cannot be written, the reason is in the log: the worker logs what the job throws.
    await record(0, describeError(error).message).catch(() => undefined);
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

/** Deletes sandbox orders past their retention, in short steps, and returns how many. Safe to kill at any moment. */
export async function purgeSandboxOrders({ store }: { store: Store }, signal: AbortSignal): Promise<number> {
  let orders = 0;
  while (!signal.aborted) {
    const step = await store.write(purgeSandboxStep, null);
    orders += step.orders;
    if (step.rows === 0) break;
  }
  return orders;
}

/** Chains signed by one transaction. */
const SIGNED_AT_ONCE = 100;

/** Signs the heads of the chains that have grown, each once a UTC day, and returns how many. Safe to kill. */
export async function signGrownHeads({ store }: { store: Store }, signal: AbortSignal): Promise<number> {
  const grown = await store.read(grownChains, null);
  let signed = 0;
  for (let at = 0; at < grown.length && !signal.aborted; at += SIGNED_AT_ONCE) {
    signed += await store.write(signHeads, { chains: grown.slice(at, at + SIGNED_AT_ONCE), when: "daily" });
  }
  return signed;
}
