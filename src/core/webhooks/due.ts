import { and, eq, lte, sql } from "drizzle-orm";
import type { PartnerId, WebhookId } from "../kernel/brand.ts";
import type { Environment } from "../kernel/environment.ts";
import { together } from "../kernel/together.ts";
import { dueNow, type PartnerQueue, partnerQueues, queueName } from "../platform/due-keys.ts";
import { type Lease, leaseOn, leasesOf } from "../platform/lease.ts";
import type { Lane } from "../store/schema/lanes.ts";
import type { Row, Tables } from "../store/schema/tables.ts";
import { sealedEventData } from "../store/sealing/people.ts";
import { isListed, listOf, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { giveUpEvent } from "./clear-events.ts";
import type { EventText } from "./envelope.ts";
import { lockEndpoints, lookAgain } from "./look-again.ts";
import { laneOfOutcomes, type Outcome, retriedBy, settleOutcomes } from "./outcome.ts";
import { CUTS_TO_WAIT } from "./retries.ts";
import { findWebhooks, type WebhookRow } from "./webhook.ts";

const partners = partnerQueues((t) => sql`${t.webhookEndpoints}`);

type DueOfPartner = { environment: Environment; partner_id: PartnerId; now: number; limit: number };

const endpointsOf = statement((db, t, slot: Slots<DueOfPartner>) =>
  db
    .select({
      id: t.webhookEndpoints.id,
      last_at: t.webhookEndpoints.last_at,
      last_status_code: t.webhookEndpoints.last_status_code,
      cut_attempts: t.webhookEndpoints.cut_attempts,
    })
    .from(t.webhookEndpoints)
    .where(
      and(
        eq(t.webhookEndpoints.environment, slot.environment),
        eq(t.webhookEndpoints.partner_id, slot.partner_id),
        lte(t.webhookEndpoints.due_at, slot.now),
      ),
    )
    .orderBy(t.webhookEndpoints.due_at, t.webhookEndpoints.id)
    .limit(slot.limit),
);

/** An endpoint whose queue has a delivery that is due. */
export interface DueEndpoint extends PartnerQueue {
  id: WebhookId;
  /** Its last attempt failed, or its last ones were cut off: it gets less of the worker's room. */
  failing: boolean;
}

/**
 * Endpoints with something due, up to `limit` of each partner and environment whose queue is not named in `full`,
 * longest waiting first, and in how many ms the next one's will be.
 */
export async function dueEndpoints(
  q: Read,
  input: { full: ReadonlySet<string>; limit: number },
): Promise<{ due: DueEndpoint[]; waitMs: number | null }> {
  const { due: queues, waitMs } = dueNow(q, await partners(q));
  const due: DueEndpoint[] = [];
  for (const queue of queues) {
    if (!input.full.has(queueName(queue))) due.push(...(await dueOf(q, queue, input.limit)));
  }
  return { due, waitMs };
}

async function dueOf(q: Read, { environment, partnerId }: PartnerQueue, limit: number): Promise<DueEndpoint[]> {
  const rows = await endpointsOf(q, { environment, partner_id: partnerId, now: q.now, limit });
  return rows.map(({ id, last_at, last_status_code, cut_attempts }) => {
    const arrived = last_status_code !== null && last_status_code >= 200 && last_status_code < 300;
    const failing = (last_at !== null && !arrived) || cut_attempts >= CUTS_TO_WAIT;
    return { environment, partnerId, id, failing };
  });
}

/** How long an attempt may take, its outcome's writing included, before another worker may make it (ms). */
export const DELIVERY_LEASE_MS = 30_000;

const leases = leasesOf("deliveries", DELIVERY_LEASE_MS);

/** One attempt that its claimer may make: everything that is sent, and the lease that its outcome must name. */
export interface ClaimedDelivery {
  lease: Lease<"deliveries">;
  /** Attempts that ended before. */
  attempts: number;
  endpoint: WebhookRow;
  event: ClaimedEvent;
}

/** As much of an event as its bodies need: it is sent to another thread and held until it is delivered. */
export interface ClaimedEvent extends EventText, Pick<Row<"events">, "subject_id" | "expands"> {}

/** How many deliveries of an endpoint may be claimed. */
export interface EndpointCapacity {
  endpointId: WebhookId;
  room: number;
}

type OfEndpoint = { endpoint_id: WebhookId };

// Both must match their partial index predicate exactly.
const pending = (t: Tables) => sql`${t.deliveries.status} = 'pending'`;
const retried = (t: Tables) => sql`${t.deliveries.status} = 'pending' and ${t.deliveries.attempts} > 0`;

/** What is read of a delivery that is claimed. */
const claimedColumns = ["id", "event_id", "attempts", "lease_no", "leased_until"] as const;

type ClaimedRow = Pick<Row<"deliveries">, (typeof claimedColumns)[number]>;

const claimRetries = leases.claimer<OfEndpoint, keyof ClaimedRow>(
  (t, slot) => and(eq(t.deliveries.endpoint_id, slot.endpoint_id), retried(t)),
  claimedColumns,
);
const claimAny = leases.claimer<OfEndpoint, keyof ClaimedRow>(
  (t, slot) => and(eq(t.deliveries.endpoint_id, slot.endpoint_id), pending(t)),
  claimedColumns,
);

const eventsOf = statement((db, t, slot: Slots<{ ids: string }>, dialect) =>
  db
    .select({
      id: t.events.id,
      kind: t.events.kind,
      subject_id: t.events.subject_id,
      occurred_at: t.events.occurred_at,
      expands: t.events.expands,
      sealed: t.events.sealed,
      // As it is kept: a body contains this very text.
      data: sql<string>`${t.events.data}`,
    })
    .from(t.events)
    .where(isListed(dialect, t.events.id, slot.ids)),
);

/**
 * Leases up to `room` due deliveries of each endpoint: retries first, so that their waits hold however many wait for
 * their first attempt, then the oldest. A lease that ran out is taken over: its attempt may have been made, so that an
 * event arrives at least once.
 */
export async function claimDeliveries(tx: Tx, { rooms }: { rooms: EndpointCapacity[] }): Promise<ClaimedDelivery[]> {
  const claimed = await claimOfEach(tx, rooms);
  await lockAndLook(tx, new Set(rooms.map(({ endpointId }) => endpointId)));
  return claimed;
}

async function lockAndLook(tx: Tx, ids: ReadonlySet<WebhookId>): Promise<void> {
  await lockEndpoints(tx, ids);
  await lookAgain(tx, ids);
}

/** The claims of all endpoints are asked for at once. */
async function claimOfEach(tx: Tx, rooms: readonly EndpointCapacity[]): Promise<ClaimedDelivery[]> {
  if (rooms.length === 0) return [];
  const endpoints = await findWebhooks(
    tx,
    rooms.map(({ endpointId }) => endpointId),
  );
  const claims = rooms.map(async ({ endpointId, room }) => {
    const endpoint = endpoints.get(endpointId);
    if (endpoint === undefined || endpoint.status !== "active" || (endpoint.waits_until ?? 0) > tx.now) return [];
    return (await claimOf(tx, endpointId, room)).map((row) => ({ row, endpoint }));
  });
  const leased = (await together(...claims)).flat();
  const events = await openEvents(tx, new Set(leased.map(({ row }) => row.event_id)));
  return leased.flatMap(({ row, endpoint }) => {
    const event = events.get(row.event_id);
    const { attempts } = row;
    return event === undefined ? [] : [{ lease: leaseOn<"deliveries">(row), attempts, endpoint, event }];
  });
}

/** These events with their payloads opened, each once; the deliveries of one that cannot be read are given up. */
async function openEvents(tx: Tx, ids: ReadonlySet<string>): Promise<Map<string, ClaimedEvent>> {
  const opened = new Map<string, ClaimedEvent>();
  if (ids.size === 0) return opened;
  for (const { sealed, ...event } of await eventsOf(tx, { ids: listOf([...ids]) })) {
    const data = sealed === null ? event.data : sealedEventData.openText(tx, event.id, sealed);
    if (data === null) await giveUpEvent(tx, event.id);
    else opened.set(event.id, { ...event, data });
  }
  return opened;
}

async function claimOf(tx: Tx, endpoint_id: WebhookId, room: number): Promise<ClaimedRow[]> {
  const rows = await claimRetries(tx, { endpoint_id, limit: room });
  if (rows.length < room) rows.push(...(await claimAny(tx, { endpoint_id, limit: room - rows.length })));
  return rows.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** The lease of an attempt that was not made. */
export interface Unmade {
  lease: Lease<"deliveries">;
  endpointId: WebhookId;
  /** How long it waits (ms); left out: any worker can make it at once. */
  waitMs?: number;
}

/** Gives leases of attempts that were not made up. */
export async function releaseDeliveries(tx: Tx, held: Unmade[]): Promise<void> {
  for (const { lease, waitMs = 0 } of held) await leases.release(tx, { lease, dueAt: tx.now + waitMs });
  await lockAndLook(tx, new Set(held.map(({ endpointId }) => endpointId)));
}

releaseDeliveries.lane = (): Lane => ({ kind: "deliveries", key: "" });

/** What a turn of the worker writes: attempts that ended, and how many may be made of which endpoints. */
export interface Turn {
  outcomes: Outcome[];
  rooms: EndpointCapacity[];
}

/** One turn of the worker in one transaction: records the attempts that ended, then leases what goes next. */
export async function recordAndClaim(tx: Tx, { outcomes, rooms }: Turn): Promise<ClaimedDelivery[]> {
  const book = await settleOutcomes(tx, outcomes);
  const claimed = await claimOfEach(
    tx,
    rooms.filter(({ endpointId }) => !book.waits(endpointId)),
  );
  const asked = rooms.map(({ endpointId }) => endpointId);
  await lockEndpoints(tx, new Set([...book.noted(), ...asked]));
  await book.write();
  await lookAgain(tx, new Set([...retriedBy(outcomes), ...asked]));
  return claimed;
}

recordAndClaim.lane = ({ outcomes }: Turn): Lane | null => laneOfOutcomes(outcomes);
