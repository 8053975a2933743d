import type { Logger } from "pino";
import type { Clock } from "../../core/kernel/clock.ts";
import { CRON_LEASE_MS, mayTakeCron, releaseCron, takeCron } from "../../core/platform/cron-lease.ts";
import { maySend } from "../../core/platform/lease.ts";
import { isUnavailable } from "../../core/store/problems.ts";
import type { CronJob } from "../../core/store/schema/values.ts";
import type { Store } from "../../core/store/store.ts";
import { cronRun } from "./cron.ts";
import { startWorker } from "./loop.ts";

/** Runs jobs by the clock: of all nodes of a database one does. */
export interface Cron {
  /**
   * Runs a job and records it, where this node runs them; else does nothing. `work` ends early when its signal is
   * aborted: this node stops, or another one has taken the jobs over.
   */
  run(job: CronJob, signal: AbortSignal, work: (signal: AbortSignal) => Promise<number>): Promise<void>;
  /** Calls `wake` when this node has taken the jobs over: what the node before left undone is due. */
  onTaken(wake: () => void): void;
  /** Whether this node runs the jobs. */
  holds(): boolean;
  /** Leaves the jobs to another node. */
  stop(): Promise<void>;
}

/** The jobs of a daemon that has its database to itself. */
export function ownCron(store: Store): Cron {
  return {
    run: (job, signal, work) => cronRun(store, job, () => work(signal)),
    onTaken: () => undefined,
    holds: () => true,
    stop: async () => undefined,
  };
}

interface SharedCronDependencies {
  store: Store;
  clock: Clock;
  log: Pick<Logger, "error" | "info">;
  /** The ID of this node. */
  node: string;
  /** Whether the clock is too far off to take leases; left out: it never is. */
  isClockOff?: () => boolean;
}

/** How often a node looks whether it may take the jobs, and how old the lease is when it prolongs its own (ms). */
const LOOK_MS = 3_000;
const PROLONG_AFTER_MS = 5_000;

/**
 * The jobs of one of several nodes: the one that holds a lease runs them, and another one takes over within 30 s of its
 * last sign of life.
 */
export function sharedCron(deps: SharedCronDependencies, lookMs = LOOK_MS): Cron {
  const { store, clock, log, node, isClockOff = () => false } = deps;
  const wakes: (() => void)[] = [];
  let until = 0;
  /** Aborted when the lease is lost; null: this node does not hold it. */
  let held: AbortController | null = null;
  const holds = () => held !== null && !isClockOff() && maySend({ until }, clock.now());

  function lose(): void {
    if (held === null) return;
    held.abort();
    held = null;
    log.info({ event: "cron_lost" }, "another node runs the jobs of the calendar");
  }

  async function look(): Promise<void> {
    if (holds() && until - clock.now() > CRON_LEASE_MS - PROLONG_AFTER_MS) return;
    if (!holds()) lose();
    if (isClockOff() || !(await store.readOne(mayTakeCron, node))) return lose();
    const taken = await store.write(takeCron, node);
    if (taken === null) return lose();
    until = taken;
    if (held !== null) return;
    held = new AbortController();
    log.info({ event: "cron_taken" }, "this node runs the jobs of the calendar");
    for (const wake of wakes) wake();
  }

  const looking = startWorker({ name: "cron lease", pollMs: lookMs, step: look, log });
  return {
    async run(job, signal, work) {
      if (!holds() || held === null) return;
      const ended = AbortSignal.any([signal, held.signal]);
      await cronRun(store, job, () => work(ended), node);
    },
    onTaken: (wake) => void wakes.push(wake),
    holds,
    async stop() {
      await looking.stop();
      if (held === null) return;
      await store.write(releaseCron, node).catch((error: unknown) => {
        // Then it ends by itself.
        if (!isUnavailable(error)) throw error;
      });
    },
  };
}
