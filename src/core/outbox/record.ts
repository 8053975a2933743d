import { and, eq, gt, isNull, or, sql } from "drizzle-orm";
import {
  type EventKind,
  type Expansion,
  expansionOf,
  type Happening,
  type SentPayload,
  subscribesTo,
} from "../events/catalog.ts";
import type { DeliveryId, PartnerId, WebhookId } from "../kernel/brand.ts";
import type { Environment } from "../kernel/environment.ts";
import { newId } from "../kernel/ids.ts";
import { limitsOfPartner } from "../store/partner-limits.ts";
import { elementsOf, insertRow, insertRows, type NewRow } from "../store/rows.ts";
import { nowOf } from "../store/sandbox-clock.ts";
import type { Row } from "../store/schema/tables.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { payloadColumns } from "./event-payload.ts";
import { nextFeedNumber } from "./feed-number.ts";

interface Audience {
  partnerId: PartnerId;
  environment: Environment;
  /** What it is about. */
  subjectId: string;
  /** When it happened (ms); left out: now, in the sandbox by its partner's clock. */
  at?: number;
}

/** An event that has just come about: its kind, and the payload that the catalog has for this kind. */
export type NewEvent = Audience & Happening;

/** A made-up event with its whole payload. */
export type SampleEvent = Audience & { kind: EventKind; data: SentPayload<EventKind> & { test: true } };

/** A sample for one endpoint, and its delivery there. */
export interface Sampled {
  event_id: string;
  delivery_id: DeliveryId;
}

/**
 * Writes an event as the last of its partner's feed, and one delivery for each of the partner's endpoints that
 * subscribed to it, in the transaction of its cause, so that a crash loses neither or both. Answers its event_id.
 */
export function recordEvent(tx: Tx, event: NewEvent): Promise<string> {
  return insertEvent(tx, event, expansionOf(event.kind));
}

/** The same for a sample: nothing joins its payload when it is sent. */
export function recordSample(tx: Tx, event: SampleEvent): Promise<string> {
  return insertEvent(tx, event, null);
}

/** The same for one endpoint, which must be active: in no feed, and sent to no other endpoint. */
export async function recordSampleFor(tx: Tx, event: SampleEvent, endpoint_id: WebhookId): Promise<Sampled> {
  const owner = { partner_id: event.partnerId, environment: event.environment };
  const event_id = await insertEventRow(tx, event, { ...owner, expands: null, feed_no: null });
  const delivery = deliveryOf(tx, event_id, endpoint_id);
  await insertRows(tx, "deliveries", [delivery]);
  await lookNow(tx, { ids: JSON.stringify([[endpoint_id]]), now: tx.now });
  tx.signal("deliveries");
  return { event_id, delivery_id: delivery.id };
}

async function insertEvent(tx: Tx, event: NewEvent | SampleEvent, expands: Expansion | null): Promise<string> {
  const owner = { partner_id: event.partnerId, environment: event.environment };
  const id = await insertEventRow(tx, event, { ...owner, expands, feed_no: await nextFeedNumber(tx, owner) });
  await fanOut(tx, { id, kind: event.kind, ...owner });
  tx.signal("events");
  return id;
}

type Placed = Pick<NewRow<"events">, "partner_id" | "environment" | "expands" | "feed_no">;

async function insertEventRow(tx: Tx, event: NewEvent | SampleEvent, placed: Placed): Promise<string> {
  const id = newId(tx);
  const { kind, subjectId: subject_id } = event;
  await insertRow(tx, "events", {
    id,
    kind,
    subject_id,
    occurred_at: event.at ?? (await nowOf(tx, event)),
    ...payloadColumns(tx, id, kind, event.data),
    ...placed,
  });
  return id;
}

/** A delivery that is due at once. */
function deliveryOf(tx: Tx, event_id: string, endpoint_id: WebhookId) {
  const fresh = { attempts: 0, due_at: tx.now, lease_no: 0, held_reason: null, created_at: tx.now } as const;
  return { id: newId<DeliveryId>(tx), event_id, endpoint_id, status: "pending", ...fresh } as const;
}

interface Recorded {
  id: string;
  kind: EventKind;
  partner_id: PartnerId;
  environment: Environment;
}

type Owner = Pick<Recorded, "partner_id" | "environment">;

const endpointsOf = statement((db, t, slot: Slots<Owner>) =>
  db
    .select({ id: t.webhookEndpoints.id, status: t.webhookEndpoints.status, events: t.webhookEndpoints.events })
    .from(t.webhookEndpoints)
    .where(
      and(eq(t.webhookEndpoints.partner_id, slot.partner_id), eq(t.webhookEndpoints.environment, slot.environment)),
    ),
);

/** `ids` is JSON: a list of lists of one id. */
const lookNow = statement((db, t, slot: Slots<{ ids: string; now: number }>) =>
  db
    .update(t.webhookEndpoints)
    .set({ due_at: slot.now })
    .where(
      and(
        sql`${t.webhookEndpoints.id} in (select listed.value ->> 0 from ${elementsOf(t, slot.ids)})`,
        or(isNull(t.webhookEndpoints.due_at), gt(t.webhookEndpoints.due_at, slot.now)),
      ),
    ),
);

/** The delivery that waits for an endpoint behind `before` others, by the index of just those. */
const pendingAt = statement((db, t, slot: Slots<{ endpoint_id: WebhookId; before: number }>) =>
  db
    .select({ id: t.deliveries.id })
    .from(t.deliveries)
    // Must match the partial index predicate exactly.
    .where(and(eq(t.deliveries.endpoint_id, slot.endpoint_id), sql`${t.deliveries.status} = 'pending'`))
    .orderBy(t.deliveries.due_at, t.deliveries.id)
    .limit(1)
    .offset(slot.before),
);

/** Whether at least `count` deliveries wait for an endpoint. */
async function hasPending(tx: Tx, endpoint_id: WebhookId, count: number): Promise<boolean> {
  return count === 0 || (await pendingAt(tx, { endpoint_id, before: count - 1 })).length > 0;
}

/**
 * One delivery for each endpoint of the event's partner and environment that subscribed to its kind: due at once where
 * the endpoint is active, held where it is disabled or failed, or has as many waiting as its partner's bound allows.
 */
async function fanOut(tx: Tx, event: Recorded): Promise<void> {
  const endpoints = await endpointsOf(tx, { partner_id: event.partner_id, environment: event.environment });
  const subscribed = endpoints.filter(({ events }) => subscribesTo(events, event.kind));
  if (subscribed.length === 0) return;
  const { max_pending_deliveries: bound } = await limitsOfPartner(tx, event.partner_id);
  const deliveries: NewRow<"deliveries">[] = [];
  for (const { id, status } of subscribed) {
    const full = status === "active" && bound !== null && (await hasPending(tx, id, bound));
    deliveries.push({
      ...deliveryOf(tx, event.id, id),
      status: status === "active" && !full ? "pending" : "held",
      held_reason: full ? "pending_limit" : null,
    });
  }
  // Two statements, however many endpoints there are: other partners' writes wait for them.
  await insertRows(tx, "deliveries", deliveries);
  const due = deliveries.filter(({ status }) => status === "pending").map(({ endpoint_id }) => [endpoint_id]);
  if (due.length === 0) return;
  await lookNow(tx, { ids: JSON.stringify(due), now: tx.now });
  tx.signal("deliveries");
}

const ofSubject = statement((db, t, slot: Slots<{ subject_id: string }>) =>
  db.select().from(t.events).where(eq(t.events.subject_id, slot.subject_id)).orderBy(t.events.id),
);

/** The events about an order, an eSIM or an activation, oldest first. */
export function eventsOfSubject(q: Read, subject_id: string): Promise<Row<"events">[]> {
  return ofSubject(q, { subject_id });
}
