import { eq } from "drizzle-orm";
import { type AuditLine, listAudit } from "../audit/list.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import type { Moment } from "./moment.ts";

const events = statement((db, t, slot: Slots<{ subject_id: string }>) =>
  db.select().from(t.events).where(eq(t.events.subject_id, slot.subject_id)).orderBy(t.events.id),
);

const deliveries = statement((db, t, slot: Slots<{ event_id: string }>) =>
  db
    .select({ delivery: t.deliveries, url: t.webhookEndpoints.url })
    .from(t.deliveries)
    .leftJoin(t.webhookEndpoints, eq(t.webhookEndpoints.id, t.deliveries.endpoint_id))
    .where(eq(t.deliveries.event_id, slot.event_id))
    .orderBy(t.deliveries.endpoint_id),
);

const tries = statement((db, t, slot: Slots<{ delivery_id: string }>) =>
  db
    .select()
    .from(t.deliveryAttempts)
    .where(eq(t.deliveryAttempts.delivery_id, slot.delivery_id))
    .orderBy(t.deliveryAttempts.id),
);

/** The webhooks about a subject: each event, and each attempt to deliver it with its code. */
export async function webhookStory(q: Read, subjectId: string): Promise<Moment[]> {
  const moments: Moment[] = [];
  for (const event of await events(q, { subject_id: subjectId })) {
    const sent = await deliveries(q, { event_id: event.id });
    const open = sent.filter(({ delivery }) => delivery.status !== "delivered");
    const undelivered = open
      .map(({ delivery, url }) => `${delivery.status} for ${url ?? "a deleted endpoint"}`)
      .join(", ");
    const became = sent.length === 0 ? "no endpoint subscribes" : undelivered || "delivered";
    moments.push({ at: event.occurred_at, kind: "webhook", id: event.id, text: `${event.kind}: ${became}` });
    for (const { delivery, url } of sent) {
      for (const one of await tries(q, { delivery_id: delivery.id })) {
        const answer = one.status_code ?? one.error ?? "no answer";
        const text = `${event.kind} to ${url ?? "a deleted endpoint"}: ${answer} in ${one.latency_ms} ms`;
        moments.push({ at: one.at, kind: "webhook", id: delivery.id, text });
      }
    }
  }
  return moments;
}

const MOST_LINES = 200;

/** Who did what to it, the newest 200 lines. */
export async function auditStory(q: Read, target: string): Promise<Moment[]> {
  return (await listAudit(q, { target, limit: MOST_LINES })).map(auditMoment);
}

/** A line of the audit trail as a moment of the thing it is about. */
export function auditMoment({ at, actor, action, target_id: id, fields, note, request_id }: AuditLine): Moment {
  const about = fields === null || fields.length === 0 ? "" : ` (${fields.join(", ")})`;
  const text = `${actor}: ${action}${about}${note === null ? "" : `, ${note}`}`;
  return { at: Date.parse(at), kind: "audit", id, text, request_id };
}
