import { and, eq, inArray, isNotNull, isNull, ne, or, type SQL } from "drizzle-orm";
import type { EventKind } from "../events/catalog.ts";
import { updateRow } from "../store/rows.ts";
import type { Row, Tables } from "../store/schema/tables.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";

/** The data of an event whose body was cleared: no event that is written has none. */
const CLEARED: Record<string, unknown> = {};

/** Whether the body of an event was cleared: there is nothing left to send. */
export function isCleared({ data, sealed }: Pick<Row<"events">, "data" | "sealed">): boolean {
  return sealed === null && Object.keys(data).length === 0;
}

/** The same as a condition. */
export function clearedIn(t: Tables): SQL | undefined {
  return and(eq(t.events.data, CLEARED), isNull(t.events.sealed));
}

/** The opposite as a condition. */
export function keptIn(t: Tables): SQL | undefined {
  return or(ne(t.events.data, CLEARED), isNotNull(t.events.sealed));
}

const ofSubject = statement((db, t, slot: Slots<{ subject_id: string }>) =>
  db
    .select({ id: t.events.id, kind: t.events.kind })
    .from(t.events)
    .where(and(eq(t.events.subject_id, slot.subject_id), keptIn(t))),
);

const giveUp = statement((db, t, slot: Slots<{ event_id: string; now: number }>) =>
  db
    .update(t.deliveries)
    .set({ status: "exhausted", due_at: slot.now, leased_until: null })
    .where(and(eq(t.deliveries.event_id, slot.event_id), inArray(t.deliveries.status, ["pending", "held"]))),
);

const dropAnswers = statement((db, t, slot: Slots<{ event_id: string }>) =>
  db
    .update(t.deliveryAttempts)
    .set({ response_body: null })
    .where(
      and(
        inArray(
          t.deliveryAttempts.delivery_id,
          db.select({ id: t.deliveries.id }).from(t.deliveries).where(eq(t.deliveries.event_id, slot.event_id)),
        ),
        isNotNull(t.deliveryAttempts.response_body),
      ),
    ),
);

/** Exhausts the deliveries of an event that still waited: there is nothing that could be sent. */
export async function giveUpEvent(tx: Tx, id: string): Promise<void> {
  await giveUp(tx, { event_id: id, now: tx.now });
}

/**
 * Clears the bodies of the events about a subject, all or those of some kinds, and what endpoints answered to them.
 * Their ids, kinds and times stay; deliveries that still waited are exhausted and can no longer be sent. Answers how
 * many bodies it cleared.
 */
export async function clearEvents(tx: Tx, subject_id: string, kinds?: readonly EventKind[]): Promise<number> {
  const events = (await ofSubject(tx, { subject_id })).filter(({ kind }) => kinds?.includes(kind) ?? true);
  for (const { id } of events) await clearEvent(tx, id);
  return events.length;
}

/** The same for one event. */
export async function clearEvent(tx: Tx, id: string): Promise<void> {
  await updateRow(tx, "events", { id }, { data: CLEARED, sealed: null, expands: null });
  await giveUpEvent(tx, id);
  await dropAnswers(tx, { event_id: id });
}
