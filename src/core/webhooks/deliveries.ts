import { and, desc, eq, gte, inArray, lt, type SQL, sql } from "drizzle-orm";
import type { DeliveryId, PartnerId, WebhookId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import type { Environment } from "../kernel/environment.ts";
import { firstUuidOf } from "../kernel/ids.ts";
import { type Position, pageOf } from "../kernel/page.ts";
import { notFound } from "../kernel/problem.ts";
import { findByKey } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { isCleared } from "./clear-events.ts";
import { requireWebhook } from "./webhook.ts";

/** Which deliveries, and which page of them. */
export interface DeliveryFilter {
  endpointId?: WebhookId | undefined;
  /** Only those of this partner's endpoints; without an environment those of both. */
  of?: { partnerId: PartnerId; environment?: Environment | undefined } | undefined;
  /** Only those that did not arrive and are not tried any more: exhausted or held. */
  failed: boolean;
  created?: Span | undefined;
  cursor?: string | undefined;
  limit: number;
}

/** When what is listed was created (ms); left out: at any time. */
export interface Span {
  since?: number | undefined;
  until?: number | undefined;
}

/** Ids begin with the moment of creation, so that the indexes of deliveries, which are by id, serve a span too. */
export function createdWithin({ deliveries }: Read["t"], { since, until }: Span): SQL | undefined {
  return and(
    since === undefined ? undefined : gte(deliveries.id, firstUuidOf(since) as DeliveryId),
    until === undefined ? undefined : lt(deliveries.id, firstUuidOf(until) as DeliveryId),
  );
}

/**
 * A page of deliveries with all their tries, newest first, for the operator. Throws `not_found` for the endpoint,
 * `invalid_cursor`.
 */
export async function listDeliveries(
  q: Read,
  filter: DeliveryFilter,
): Promise<{ data: Delivery[]; next_cursor: string | null }> {
  const { endpointId, of, failed, created = {}, cursor, limit } = filter;
  if (endpointId !== undefined) await requireWebhook(q, endpointId);
  const binding = { list: "deliveries", endpointId, failed, ...created, ...(of ?? {}) };
  const start: Position<string> = { key: "", id: "" };
  const { rows, pagination } = await pageOf(
    { limit, cursor, binding, start },
    ({ first, id, limit: most }) => {
      // The position is an id that this list gave out.
      const part = { failed, created, limit: most, before: first ? undefined : (id as DeliveryId) };
      const one = { ...part, endpointId };
      return of === undefined ? newest(q, one) : newestOfPartner(q, one, of);
    },
    ({ delivery: { id } }) => ({ key: id, id }),
  );
  const tries = await triesOf(
    q,
    rows.map((row) => row.delivery.id),
  );
  const data = rows.map((row) => toDelivery(row, tries.get(row.delivery.id) ?? []));
  return { data, next_cursor: pagination.next_cursor };
}

/** One delivery of any partner's endpoint, and whether it can be sent again. Throws `not_found`. */
export async function showDelivery(q: Read, id: DeliveryId) {
  const delivery = await findByKey(q, "deliveries", { id });
  const event = delivery && (await findByKey(q, "events", { id: delivery.event_id }));
  if (delivery === null || event === null) throw notFound("delivery");
  const endpoint = await findByKey(q, "webhookEndpoints", { id: delivery.endpoint_id });
  const row = { delivery, event: event.kind, url: endpoint?.url ?? null };
  return {
    ...toDelivery(row, await attemptsOfDelivery(q, id)),
    ...{ partner_id: event.partner_id, environment: event.environment },
    /** Null: it was deleted. */
    endpoint_status: endpoint?.status ?? null,
    /** Its body was cleared with the personal data in it. */
    cleared: isCleared(event),
  };
}

type DeliveryRow = { delivery: Row<"deliveries">; event: string; url: string | null };

function toDelivery({ delivery, event, url }: DeliveryRow, attempts: readonly Row<"deliveryAttempts">[]): Delivery {
  const { id, event_id, endpoint_id, status, held_reason, due_at } = delivery;
  return {
    ...{ id, event, event_id, endpoint_id, url, status, held_reason },
    next_attempt_at: status === "pending" && delivery.leased_until === null ? isoTime(due_at) : null,
    created_at: isoTime(delivery.created_at),
    attempts: attempts.map(toAttempt),
  };
}

interface Part {
  endpointId?: WebhookId | undefined;
  failed: boolean;
  created: Span;
  before: DeliveryId | undefined;
  limit: number;
}

/** Built per call: it is asked for by people, in several shapes, a few times a day. */
function newest(q: Read, { endpointId, failed, created, before, limit }: Part) {
  const { deliveries, webhookEndpoints, events } = q.t;
  return q.db
    .select({ delivery: deliveries, event: events.kind, url: webhookEndpoints.url })
    .from(deliveries)
    .innerJoin(events, eq(events.id, deliveries.event_id))
    .leftJoin(webhookEndpoints, eq(webhookEndpoints.id, deliveries.endpoint_id))
    .where(
      and(
        endpointId === undefined ? undefined : eq(deliveries.endpoint_id, endpointId),
        // Must match the partial index predicate exactly.
        failed ? sql`${deliveries.status} in ('exhausted', 'held')` : undefined,
        createdWithin(q.t, created),
        before === undefined ? undefined : lt(deliveries.id, before),
      ),
    )
    .orderBy(desc(deliveries.id))
    .limit(limit);
}

const endpointsOf = statement((db, t, slot: Slots<{ partner_id: PartnerId }>) =>
  db
    .select({ id: t.webhookEndpoints.id, environment: t.webhookEndpoints.environment })
    .from(t.webhookEndpoints)
    .where(eq(t.webhookEndpoints.partner_id, slot.partner_id)),
);

/** The newest of each endpoint, then of them all: each is read by its own part of an index. */
async function newestOfPartner(q: Read, part: Part, { partnerId, environment }: NonNullable<DeliveryFilter["of"]>) {
  const rows: Awaited<ReturnType<typeof newest>> = [];
  for (const endpoint of await endpointsOf(q, { partner_id: partnerId })) {
    if (environment !== undefined && endpoint.environment !== environment) continue;
    if (part.endpointId !== undefined && endpoint.id !== part.endpointId) continue;
    rows.push(...(await newest(q, { ...part, endpointId: endpoint.id })));
  }
  return rows.sort((a, b) => (a.delivery.id < b.delivery.id ? 1 : -1)).slice(0, part.limit);
}

/** The attempts of several deliveries in one query, oldest first. */
export async function triesOf(q: Read, ids: DeliveryId[]) {
  if (ids.length === 0) return new Map<DeliveryId, Row<"deliveryAttempts">[]>();
  const { deliveryAttempts } = q.t;
  const rows = await q.db
    .select()
    .from(deliveryAttempts)
    .where(inArray(deliveryAttempts.delivery_id, ids))
    .orderBy(deliveryAttempts.delivery_id, deliveryAttempts.id);
  return Map.groupBy(rows, (row) => row.delivery_id);
}

function toAttempt(row: Row<"deliveryAttempts">) {
  const { at, status_code, latency_ms, error, response_body } = row;
  return { at: isoTime(at), status_code, latency_ms, error, response_body };
}

/** One event on its way to one endpoint, as the operator sees it. */
export interface Delivery {
  id: DeliveryId;
  event: string;
  event_id: string;
  endpoint_id: WebhookId;
  /** Null when the endpoint was deleted. */
  url: string | null;
  status: Row<"deliveries">["status"];
  /** `pending_limit`: held from the start, since as many waited for its endpoint as its partner's bound allows. */
  held_reason: Row<"deliveries">["held_reason"];
  /** Null while an attempt is under way, and when none will follow. */
  next_attempt_at: string | null;
  created_at: string;
  attempts: ReturnType<typeof toAttempt>[];
}

const ofEvent = statement((db, t, slot: Slots<{ event_id: string }>) =>
  db
    .select({ delivery: t.deliveries, url: t.webhookEndpoints.url })
    .from(t.deliveries)
    .leftJoin(t.webhookEndpoints, eq(t.webhookEndpoints.id, t.deliveries.endpoint_id))
    .where(eq(t.deliveries.event_id, slot.event_id))
    .orderBy(t.deliveries.endpoint_id),
);

/** Where an event went: its deliveries, each with its endpoint's address, or null where that was deleted. */
export function deliveriesOfEvent(q: Read, event_id: string) {
  return ofEvent(q, { event_id });
}

const attemptsOf = statement((db, t, slot: Slots<{ delivery_id: DeliveryId }>) =>
  db
    .select()
    .from(t.deliveryAttempts)
    .where(eq(t.deliveryAttempts.delivery_id, slot.delivery_id))
    .orderBy(t.deliveryAttempts.id),
);

/** The attempts of one delivery, oldest first. */
export function attemptsOfDelivery(q: Read, delivery_id: DeliveryId): Promise<Row<"deliveryAttempts">[]> {
  return attemptsOf(q, { delivery_id });
}
