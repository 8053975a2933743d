import { and, asc, eq, lt, sql } from "drizzle-orm";
import type { AlertTargetId } from "../kernel/brand.ts";
import { type Lease, leaseOn, leasesOf } from "../platform/lease.ts";
import { findByKey, updateRow } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { AlertKind, AlertState } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";

/** A notice that waits to be sent. */
export interface WaitingNotice {
  /** The same at every attempt. */
  id: string;
  /** Null: a test. */
  kind: AlertKind | null;
  subject: string | null;
  state: AlertState;
  at: number;
  detail: string;
}

/** A target whose queue a node has for a while. */
export interface ClaimedTarget {
  lease: Lease<"alertTargets">;
  row: Row<"alertTargets">;
  /** Oldest first. */
  notices: WaitingNotice[];
}

/** Longer than an attempt of either channel, and shorter than anyone waits for an alert. */
const LEASE_MS = 45_000;
const TARGETS_AT_ONCE = 20;
const NOTICES_AT_ONCE = 100;

const leases = leasesOf("alertTargets", LEASE_MS);
const claim = leases.claimer<object>(() => sql`true`);

const waiting = statement((db, t, slot: Slots<{ target_id: AlertTargetId; limit: number }>) =>
  db
    .select({
      id: t.alertNotices.id,
      kind: t.alerts.kind,
      subject: t.alerts.subject,
      state: t.alertNotices.state,
      at: t.alertNotices.at,
      detail: t.alertNotices.detail,
    })
    .from(t.alertNotices)
    .leftJoin(t.alerts, eq(t.alerts.id, t.alertNotices.alert_id))
    .where(
      and(
        eq(t.alertNotices.target_id, slot.target_id),
        // As the partial index has it.
        sql`sent_at is null and given_up_at is null`,
      ),
    )
    .orderBy(asc(t.alertNotices.id))
    .limit(slot.limit),
);

const due = statement((db, t, slot: Slots<{ now: number }>) =>
  db
    .select({ id: t.alertTargets.id })
    .from(t.alertTargets)
    .where(sql`${t.alertTargets.due_at} <= ${slot.now}`)
    .limit(1),
);

/** Whether a queue is due: asked first, so that nothing is written while nothing waits. */
export async function hasDueTargets(q: Read): Promise<boolean> {
  return (await due(q, { now: q.now })).length > 0;
}

/** Claims the queues that are due. */
export async function claimTargets(tx: Tx): Promise<ClaimedTarget[]> {
  const claimed: ClaimedTarget[] = [];
  for (const row of await claim(tx, { limit: TARGETS_AT_ONCE })) {
    const notices = await waiting(tx, { target_id: row.id, limit: NOTICES_AT_ONCE });
    claimed.push({ lease: leaseOn<"alertTargets">(row), row, notices });
  }
  return claimed;
}

/** What came of an attempt. */
export interface Sent {
  lease: Lease<"alertTargets">;
  /** The notices that arrived. */
  arrived: readonly string[];
  /** Why the next one did not; null: all arrived. */
  error: string | null;
}

/** How long after so many failed attempts a queue is looked at again (ms). */
const RETRY_MS = [10_000, 30_000, 60_000, 120_000, 300_000];

/** How long a notice is tried. */
const GIVE_UP_MS = 24 * 3_600_000;

const giveUp = statement((db, t, slot: Slots<{ target_id: AlertTargetId; before: number; now: number }>) =>
  db
    .update(t.alertNotices)
    .set({ given_up_at: slot.now })
    .where(
      and(
        eq(t.alertNotices.target_id, slot.target_id),
        sql`sent_at is null and given_up_at is null`,
        lt(t.alertNotices.at, slot.before),
      ),
    ),
);

/** Records it, unless the lease was lost or the target is gone: then another node sends again under the same ids. */
export async function recordSent(tx: Tx, { lease, arrived, error }: Sent): Promise<void> {
  const row = await findByKey(tx, "alertTargets", { id: lease.id });
  if (row === null || row.lease_no !== lease.no) return;
  for (const id of arrived) await updateRow(tx, "alertNotices", { id }, { sent_at: tx.now });
  const failed_attempts = error === null ? 0 : row.failed_attempts + 1;
  if (error !== null) await giveUp(tx, { target_id: row.id, before: tx.now - GIVE_UP_MS, now: tx.now });
  const more = await waiting(tx, { target_id: row.id, limit: 1 });
  const rest = error === null ? 0 : (RETRY_MS[Math.min(failed_attempts, RETRY_MS.length) - 1] ?? 0);
  await updateRow(
    tx,
    "alertTargets",
    { id: row.id },
    {
      leased_until: null,
      due_at: more.length === 0 ? null : tx.now + rest,
      failed_attempts,
      last_at: tx.now,
      last_error: error,
      ...(arrived.length === 0 ? {} : { last_sent_at: tx.now }),
    },
  );
}
