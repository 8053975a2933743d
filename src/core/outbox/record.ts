import { and, eq } from "drizzle-orm";
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
import { insertRow, type NewRow } from "../store/rows.ts";
import { nowOf } from "../store/sandbox-clock.ts";
import type { Row } from "../store/schema/tables.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { payloadColumns } from "./event-payload.ts";
import { insertDeliveries, insertDelivery } from "./fan-out.ts";
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
  return { event_id, delivery_id: await insertDelivery(tx, event_id, endpoint_id) };
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

interface Recorded {
  id: string;
  kind: EventKind;
  partner_id: PartnerId;
  environment: Environment;
}

const endpointsOf = statement((db, t, slot: Slots<Pick<Recorded, "partner_id" | "environment">>) =>
  db
    .select({ id: t.webhookEndpoints.id, status: t.webhookEndpoints.status, events: t.webhookEndpoints.events })
    .from(t.webhookEndpoints)
    .where(
      and(eq(t.webhookEndpoints.partner_id, slot.partner_id), eq(t.webhookEndpoints.environment, slot.environment)),
    ),
);

/** One delivery for each endpoint of the event's partner and environment that subscribed to its kind. */
async function fanOut(tx: Tx, { id: event_id, kind, partner_id, environment }: Recorded): Promise<void> {
  const endpoints = await endpointsOf(tx, { partner_id, environment });
  const subscribed = endpoints.filter(({ events }) => subscribesTo(events, kind));
  if (subscribed.length === 0) return;
  const { max_pending_deliveries: bound } = await limitsOfPartner(tx, partner_id);
  await insertDeliveries(
    tx,
    subscribed.map((endpoint) => ({ event_id, endpoint, bound })),
  );
}

const ofSubject = statement((db, t, slot: Slots<{ subject_id: string }>) =>
  db.select().from(t.events).where(eq(t.events.subject_id, slot.subject_id)).orderBy(t.events.id),
);

/** The events about an order, an eSIM or an activation, oldest first. */
export function eventsOfSubject(q: Read, subject_id: string): Promise<Row<"events">[]> {
  return ofSubject(q, { subject_id });
}
