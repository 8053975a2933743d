import { and, eq, isNull, sql } from "drizzle-orm";
import type { AlertId, AlertTargetId } from "../kernel/brand.ts";
import { newId } from "../kernel/ids.ts";
import { insert, updateRow } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { AlertKind, AlertState } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { type Condition, currentConditions, type NodeView, ownKinds } from "./conditions.ts";

const raisedNow = statement((db, t, _slot) =>
  db
    .select()
    .from(t.alerts)
    // As the partial index has it.
    .where(sql`over_at is null`)
    .orderBy(t.alerts.kind, t.alerts.subject),
);

/** What was raised and is not over, by kind and subject. */
export function raisedAlerts(q: Read): Promise<Row<"alerts">[]> {
  return raisedNow(q, {});
}

/** What began, and what ended. */
interface Changes {
  begun: Condition[];
  ended: Row<"alerts">[];
}

async function changesOf(q: Read, view: NodeView): Promise<Changes> {
  const raised = await raisedNow(q, {});
  const current = await currentConditions(q, view);
  const keyOf = ({ kind, subject }: { kind: AlertKind; subject: string }) => `${kind} ${subject}`;
  const known = new Set(raised.map(keyOf));
  const wrong = new Set(current.map(keyOf));
  const mayEnd = ({ kind, subject }: Row<"alerts">) =>
    ownKinds.includes(kind) ? subject === view.host : kind !== "cron.missed" || view.knowsCron;
  return {
    begun: current.filter((one) => !known.has(keyOf(one))),
    ended: raised.filter((one) => mayEnd(one) && !wrong.has(keyOf(one))),
  };
}

/** Whether `settleAlerts` has anything to write: asked first, so that nothing is written while nothing changes. */
export async function hasAlertChanges(q: Read, view: NodeView): Promise<boolean> {
  const { begun, ended } = await changesOf(q, view);
  return begun.length + ended.length > 0;
}

const all = statement((db, t, _slot) => db.select().from(t.alertTargets).orderBy(t.alertTargets.id));

const informed = statement((db, t, slot: Slots<{ alert_id: AlertId }>) =>
  db
    .select({ id: t.alertNotices.target_id })
    .from(t.alertNotices)
    .where(and(eq(t.alertNotices.alert_id, slot.alert_id), isNull(t.alertNotices.given_up_at))),
);

/**
 * Raises what began and ends what is over, each once however many nodes look, with a notice to each target that wants
 * its kind; the end goes to those that got the beginning.
 */
export async function settleAlerts(tx: Tx, view: NodeView): Promise<void> {
  const { begun, ended } = await changesOf(tx, view);
  const targets = await all(tx, {});
  for (const condition of begun) {
    const id = newId<AlertId>(tx);
    await insert(tx, "alerts", [{ id, ...condition, raised_at: tx.now, over_at: null }]);
    const wanted = targets.filter(({ kinds }) => kinds === null || kinds.includes(condition.kind));
    await notify(tx, wanted, { alert_id: id, state: "raised", detail: condition.detail });
  }
  for (const { id, detail } of ended) {
    await updateRow(tx, "alerts", { id }, { over_at: tx.now });
    const got = new Set((await informed(tx, { alert_id: id })).map((one) => one.id));
    const concerned = targets.filter((target) => got.has(target.id));
    await notify(tx, concerned, { alert_id: id, state: "over", detail });
  }
}

interface NewNotice {
  alert_id: AlertId | null;
  state: AlertState;
  detail: string;
}

/** Puts a notice into the queue of each target. */
export async function notify(
  tx: Tx,
  targets: readonly { id: AlertTargetId; due_at: number | null }[],
  notice: NewNotice,
): Promise<void> {
  for (const target of targets) {
    const waiting = { sent_at: null, given_up_at: null };
    await insert(tx, "alertNotices", [{ id: newId(tx), target_id: target.id, ...notice, at: tx.now, ...waiting }]);
    // A queue that is leased, or waits after a failed attempt, is looked at again then.
    if (target.due_at === null) await updateRow(tx, "alertTargets", { id: target.id }, { due_at: tx.now });
  }
}
