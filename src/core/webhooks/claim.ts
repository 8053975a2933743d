import { and, asc, eq, inArray, isNotNull, lte, type SQL, sql } from "drizzle-orm";
import type { DeliveryId, WebhookId } from "../kernel/brand.ts";
import type { Row, Tables } from "../store/schema/tables.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { findWebhook, type WebhookRow } from "./webhook.ts";

/** How long a try may take, its outcome's writing included, before the delivery may be tried by another (ms). */
export const DELIVERY_LEASE_MS = 30_000;

const queues = statement((db, t, slot: Slots<{ limit: number }>) =>
  db
    .select({
      id: t.webhookEndpoints.id,
      due_at: t.webhookEndpoints.due_at,
      last_at: t.webhookEndpoints.last_at,
      last_status_code: t.webhookEndpoints.last_status_code,
    })
    .from(t.webhookEndpoints)
    .where(isNotNull(t.webhookEndpoints.due_at))
    .orderBy(asc(t.webhookEndpoints.due_at), asc(t.webhookEndpoints.id))
    .limit(slot.limit),
);

/** An endpoint whose queue has a delivery that is due. */
export interface DueEndpoint {
  id: WebhookId;
  /** Its last try failed: it gets less of the worker's room. */
  ailing: boolean;
}

/** The endpoints with something due, longest waiting first, and when (ms) the first of the others is. */
export async function dueEndpoints(q: Read, input: { limit: number }) {
  const rows = await queues(q, input);
  const due: DueEndpoint[] = [];
  for (const { id, due_at, last_at, last_status_code } of rows) {
    if (due_at === null || due_at > q.now) return { due, nextAt: due_at };
    const arrived = last_status_code !== null && last_status_code >= 200 && last_status_code < 300;
    due.push({ id, ailing: last_at !== null && !arrived });
  }
  return { due, nextAt: null };
}

/** One try that its claimer may make: everything that is sent, and the lease that its outcome must name. */
export interface ClaimedDelivery {
  id: DeliveryId;
  leasedUntil: number;
  /** Tries that ended before. */
  attempts: number;
  endpoint: WebhookRow;
  event: Row<"events">;
}

/** How many deliveries of an endpoint may be claimed. */
export interface Lane {
  endpointId: WebhookId;
  room: number;
}

type Part = { endpoint_id: WebhookId; now: number; until: number; limit: number };

// The words of the indexes over what waits.
const pending = (t: Tables) => sql`${t.deliveries.status} = 'pending'`;
const retried = (t: Tables) => sql`${t.deliveries.status} = 'pending' and ${t.deliveries.attempts} > 0`;

/** Leases what is due of an endpoint's queue, or of a part of it. */
function leaseOf(part: (t: Tables) => SQL) {
  return statement((db, t, slot: Slots<Part>) =>
    db
      .update(t.deliveries)
      .set({ leased_until: slot.until, due_at: slot.until })
      .where(
        inArray(
          t.deliveries.id,
          db
            .select({ id: t.deliveries.id })
            .from(t.deliveries)
            .where(and(eq(t.deliveries.endpoint_id, slot.endpoint_id), part(t), lte(t.deliveries.due_at, slot.now)))
            .orderBy(t.deliveries.due_at, t.deliveries.id)
            .limit(slot.limit),
        ),
      )
      .returning({ id: t.deliveries.id, event_id: t.deliveries.event_id, attempts: t.deliveries.attempts }),
  );
}

const leaseRetries = leaseOf(retried);
const leaseAny = leaseOf(pending);

const nextOf = statement((db, t, slot: Slots<{ endpoint_id: WebhookId }>) =>
  db
    .select({ due_at: t.deliveries.due_at })
    .from(t.deliveries)
    .where(and(eq(t.deliveries.endpoint_id, slot.endpoint_id), pending(t)))
    .orderBy(t.deliveries.due_at, t.deliveries.id)
    .limit(1),
);

const lookAgainAt = statement((db, t, slot: Slots<{ id: WebhookId; due_at: number | null }>) =>
  db.update(t.webhookEndpoints).set({ due_at: slot.due_at }).where(eq(t.webhookEndpoints.id, slot.id)),
);

const eventById = statement((db, t, slot: Slots<{ id: string }>) =>
  db.select().from(t.events).where(eq(t.events.id, slot.id)),
);

/**
 * Leases up to `room` due deliveries of each endpoint: retries first, so that their waits hold however many wait for
 * their first try, then the oldest. A lease that ran out is taken over: the try it stood for may have been made, so
 * that an event arrives at least once.
 */
export async function claimDeliveries(tx: Tx, input: { lanes: Lane[] }): Promise<ClaimedDelivery[]> {
  const claimed: ClaimedDelivery[] = [];
  for (const { endpointId, room } of input.lanes) {
    const endpoint = await findWebhook(tx, endpointId);
    if (endpoint === null || endpoint.status !== "active") continue;
    const lane = { endpoint_id: endpointId, now: tx.now, until: tx.now + DELIVERY_LEASE_MS };
    const leased = await leaseRetries(tx, { ...lane, limit: room });
    if (leased.length < room) leased.push(...(await leaseAny(tx, { ...lane, limit: room - leased.length })));
    for (const { id, event_id, attempts } of leased.sort((a, b) => (a.id < b.id ? -1 : 1))) {
      const event = first(await eventById(tx, { id: event_id }));
      if (event !== null) claimed.push({ id, leasedUntil: lane.until, attempts, endpoint, event });
    }
    const next = first(await nextOf(tx, { endpoint_id: endpointId }));
    await lookAgainAt(tx, { id: endpointId, due_at: next?.due_at ?? null });
  }
  return claimed;
}

const prolong = statement((db, t, slot: Slots<{ id: DeliveryId; held: number; until: number }>) =>
  db
    .update(t.deliveries)
    .set({ leased_until: slot.until, due_at: slot.until })
    .where(and(eq(t.deliveries.id, slot.id), eq(t.deliveries.leased_until, slot.held), pending(t)))
    .returning({ id: t.deliveries.id }),
);

/** A lease for a try that took long to prepare: until when it now runs, or null when it was lost. */
export async function prolongLease(tx: Tx, input: { id: DeliveryId; leasedUntil: number }): Promise<number | null> {
  const until = tx.now + DELIVERY_LEASE_MS;
  const kept = await prolong(tx, { id: input.id, held: input.leasedUntil, until });
  return kept.length === 0 ? null : until;
}
