import { sql } from "drizzle-orm";
import { isoTime, isoTimeOrNull } from "../kernel/clock.ts";
import { holdsCron } from "../platform/cron-lease.ts";
import type { CronJob } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";

/** What came of a run that has just ended. */
export interface CronOutcome {
  job: CronJob;
  took_ms: number;
  /** Requests made due, eSIMs expired, rows dropped. */
  done: number;
  /** Why it broke off; null when it did not. */
  error: string | null;
}

/** The last run of a job. */
export interface CronRun extends CronOutcome {
  started_at: string;
  /** Since when each run broke off; null: the last one did not. */
  failing_since: string | null;
}

type Written = CronOutcome & { started_at: number; failing_since: number | null };

const write = statement((db, t, slot: Slots<Written>) =>
  db
    .insert(t.cronRuns)
    .values({
      job: slot.job,
      started_at: slot.started_at,
      took_ms: slot.took_ms,
      done: slot.done,
      error: slot.error,
      failing_since: slot.failing_since,
    })
    .onConflictDoUpdate({
      target: t.cronRuns.job,
      set: {
        started_at: sql`excluded.started_at`,
        took_ms: sql`excluded.took_ms`,
        done: sql`excluded.done`,
        error: sql`excluded.error`,
        failing_since: sql`case when excluded.failing_since is null then null
          else coalesce(${t.cronRuns.failing_since}, excluded.failing_since) end`,
      },
    }),
);

/**
 * Puts down a run in the place of the job's last one. A run of a `node` that no longer holds the lease is left out: the
 * one that does records its own.
 */
export async function recordCronRun(tx: Tx, { node, ...outcome }: CronOutcome & { node?: string }): Promise<void> {
  if (node !== undefined && !(await holdsCron(tx, node))) return;
  const started_at = tx.now - outcome.took_ms;
  await write(tx, { ...outcome, started_at, failing_since: outcome.error === null ? null : started_at });
}

const all = statement((db, t, _slot) => db.select().from(t.cronRuns).orderBy(t.cronRuns.job));

/** The last run of each job that ever ran. */
export async function lastCronRuns(q: Read): Promise<CronRun[]> {
  return (await all(q, {})).map(({ started_at, failing_since, ...row }) => ({
    ...row,
    started_at: isoTime(started_at),
    failing_since: isoTimeOrNull(failing_since),
  }));
}
