import { eq } from "drizzle-orm";
import {
  type EventKind,
  type Expansion,
  expansionOf,
  type NewEvent,
  type SentPayload,
  subscribesTo,
} from "../events/catalog.ts";
import type { DeliveryId, PartnerId, WebhookId } from "../kernel/brand.ts";
import type { Environment } from "../kernel/environment.ts";
import { newId } from "../kernel/ids.ts";
import { together } from "../kernel/together.ts";
import { nowOf } from "../platform/sandbox-clock.ts";
import { insert } from "../store/rows.ts";
import type { NewRow, Row } from "../store/schema/tables.ts";
import { isListed, listOf, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { payloadColumns } from "./event-payload.ts";
import { insertDeliveries, insertDelivery, type Wanted, wantedBy } from "./fan-out.ts";
import { type Feed, lastOfNextNumbers, nextFeedNumbers } from "./feed-number.ts";
import { subscribers } from "./subscribers.ts";

interface Audience {
  partnerId: PartnerId;
  environment: Environment;
  /** What it is about. */
  subjectId: string;
  /** When it happened (ms); left out: now, in the sandbox by its partner's clock. */
  at?: number;
}

/** An event that has just come about: its kind, and the payload that the catalog has for this kind. */
export type AddressedEvent = Audience & NewEvent;

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
export async function recordEvent(tx: Tx, event: AddressedEvent): Promise<string> {
  const [id = ""] = await recordEvents(tx, event, [event]);
  return id;
}

/** The same for several that come about at once, in their order. Answers their event_ids. */
export function recordEvents(tx: Tx, audience: Audience, events: readonly NewEvent[]): Promise<string[]> {
  return insertEvents(
    tx,
    audience,
    events.map((event) => ({ ...event, expands: expansionOf(event.kind) })),
  );
}

/** The same for a sample: nothing joins its payload when it is sent. */
export async function recordSample(tx: Tx, event: SampleEvent): Promise<string> {
  const { kind, data } = event;
  const [id = ""] = await insertEvents(tx, event, [{ kind, data, expands: null }]);
  return id;
}

/** The same for one endpoint, which must be active: in no feed, and sent to no other endpoint. */
export async function recordSampleFor(tx: Tx, event: SampleEvent, endpoint_id: WebhookId): Promise<Sampled> {
  const owner = { partner_id: event.partnerId, environment: event.environment };
  const occurred_at = event.at ?? (await nowOf(tx, event));
  const { kind, data, subjectId: subject_id } = event;
  const placed = { ...owner, subject_id, occurred_at, feed_no: null };
  const event_id = await insertEventRow(tx, { kind, data, expands: null }, placed);
  return { event_id, delivery_id: await insertDelivery(tx, event_id, endpoint_id) };
}

/** An event's kind and payload, and what joins it when it is sent. */
interface Content {
  kind: EventKind;
  data: Row<"events">["data"];
  expands: Expansion | null;
}

/** Numbers of the feed and endpoints are asked for at once, and once for all events. */
async function insertEvents(tx: Tx, audience: Audience, contents: readonly Content[]): Promise<string[]> {
  const owner = { partner_id: audience.partnerId, environment: audience.environment };
  const [last, endpoints, now] = await together(
    lastOfNextNumbers(tx, owner, contents.length),
    subscribers[audience.environment].get(tx, audience.partnerId),
    nowOf(tx, audience),
  );
  const occurred_at = audience.at ?? now;
  const wanted: Wanted[] = [];
  const ids: string[] = [];
  for (const [place, content] of contents.entries()) {
    const feed_no = last - contents.length + 1 + place;
    const placed = { ...owner, subject_id: audience.subjectId, occurred_at, feed_no };
    const event_id = await insertEventRow(tx, content, placed);
    ids.push(event_id);
    const subscribed = endpoints.filter(({ events }) => subscribesTo(events, content.kind));
    wanted.push(...subscribed.map((endpoint) => wantedBy(endpoint, event_id)));
  }
  if (wanted.length > 0) await insertDeliveries(tx, wanted);
  tx.signal("events");
  return ids;
}

type Placed = Pick<NewRow<"events">, "partner_id" | "environment" | "subject_id" | "occurred_at" | "feed_no">;

async function insertEventRow(tx: Tx, { kind, data, expands }: Content, placed: Placed): Promise<string> {
  const id = newId(tx);
  await insert(tx, "events", [{ id, kind, ...payloadColumns(tx, id, kind, data), expands, ...placed }]);
  return id;
}

const ofSubject = statement((db, t, slot: Slots<{ subject_id: string }>) =>
  db.select().from(t.events).where(eq(t.events.subject_id, slot.subject_id)).orderBy(t.events.id),
);

/** The events about an order, an eSIM or an activation, oldest first. */
export function eventsOfSubject(q: Read, subject_id: string): Promise<Row<"events">[]> {
  return ofSubject(q, { subject_id });
}

/** Something that happened to no partner of its own: what it is about, and when it happened (ms). */
type Common = NewEvent & { subjectId: string; at: number };

/** `partners` is a list as `listOf` makes it. */
const endpointsOfAll = statement((db, t, slot: Slots<{ partners: string }>, dialect) => {
  const { id, status, events, partner_id, environment } = t.webhookEndpoints;
  return db
    .select({ id, status, events, partner_id, environment, bound: t.partners.max_pending_deliveries })
    .from(t.webhookEndpoints)
    .innerJoin(t.partners, eq(t.partners.id, partner_id))
    .where(isListed(dialect, partner_id, slot.partners));
});

/**
 * Writes the same events as the last of many feeds, in their order, and their deliveries, as `recordEvent` does for
 * one: with as many statements, however many feeds and events there are. Feeds are in their key's order
 * (docs/decisions/0044).
 */
export async function recordForMany(tx: Tx, feeds: readonly Feed[], events: readonly Common[]): Promise<void> {
  const numbered = await nextFeedNumbers(tx, feeds, events.length);
  const rows = numbered.flatMap(({ last, ...feed }) =>
    events.map(({ kind, subjectId: subject_id, at: occurred_at, data }, place) => {
      const id = newId(tx);
      const placed = { ...feed, feed_no: last - events.length + 1 + place, expands: expansionOf(kind) };
      return { id, kind, subject_id, occurred_at, ...payloadColumns(tx, id, kind, data), ...placed };
    }),
  );
  await insert(tx, "events", rows);
  const partners = listOf([...new Set(feeds.map(({ partner_id }) => partner_id))]);
  const endpoints = Map.groupBy(await endpointsOfAll(tx, { partners }), keyOf);
  const wanted = rows.flatMap((event) => {
    const asking = (endpoints.get(keyOf(event)) ?? []).filter(({ events }) => subscribesTo(events, event.kind));
    return asking.map((endpoint) => wantedBy(endpoint, event.id));
  });
  await insertDeliveries(tx, wanted);
  tx.signal("events");
}

function keyOf({ partner_id, environment }: Feed): string {
  return `${partner_id} ${environment}`;
}
