import { and, count, eq, gt, isNull, or, sql } from "drizzle-orm";
import type { DeliveryId, WebhookId } from "../kernel/brand.ts";
import { newId } from "../kernel/ids.ts";
import { loader, putOff } from "../store/batch-context.ts";
import { insert } from "../store/rows.ts";
import type { NewRow } from "../store/schema/tables.ts";
import { partnerBounds, type WebhookStatus } from "../store/schema/values.ts";
import { first, isListed, listOf, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";

/** An event for an endpoint that subscribed to its kind. */
export interface Wanted {
  event_id: string;
  endpoint: { id: WebhookId; status: WebhookStatus };
  /** Deliveries that may wait for one endpoint of its partner; null: any number. */
  bound: number | null;
}

/** An event for an endpoint that is read with its partner's own bound; null: the bound of all holds. */
export function wantedBy(
  { id, status, bound }: Wanted["endpoint"] & { bound: number | null },
  event_id: string,
): Wanted {
  return { event_id, endpoint: { id, status }, bound: bound ?? partnerBounds.max_pending_deliveries.default };
}

/** A delivery that is due at once. */
function deliveryOf(tx: Tx, event_id: string, endpoint_id: WebhookId) {
  const fresh = { attempts: 0, due_at: tx.now, lease_no: 0, held_reason: null, created_at: tx.now } as const;
  return { id: newId<DeliveryId>(tx), event_id, endpoint_id, status: "pending", ...fresh } as const;
}

/** `ids` is a list as `listOf` makes it. */
const lookNow = statement((db, t, slot: Slots<{ ids: string; now: number }>, dialect) =>
  db
    .update(t.webhookEndpoints)
    .set({ due_at: slot.now })
    .where(
      and(
        isListed(dialect, t.webhookEndpoints.id, slot.ids),
        or(isNull(t.webhookEndpoints.due_at), gt(t.webhookEndpoints.due_at, slot.now)),
      ),
    ),
);

/** How many deliveries wait for an endpoint, counted up to a bound, by the index of just those. */
const waiting = statement((db, t, slot: Slots<{ endpoint_id: WebhookId; bound: number }>) => {
  const some = db
    .select({ id: t.deliveries.id })
    .from(t.deliveries)
    // Must match the partial index predicate exactly.
    .where(and(eq(t.deliveries.endpoint_id, slot.endpoint_id), sql`${t.deliveries.status} = 'pending'`))
    .limit(slot.bound)
    .as("some");
  return db.select({ deliveries: count() }).from(some);
});

/** An endpoint, and how many deliveries may wait for it. */
type Bounded = { id: WebhookId; bound: number | null };

/** How many more deliveries may wait for an endpoint. */
const capacities = loader<Bounded, number>({
  name: ({ id }) => id,
  loadMany: (q, endpoints) => Promise.all(endpoints.map((endpoint) => capacityOf(q, endpoint))),
});

async function capacityOf(q: Read, { id, bound }: Bounded): Promise<number> {
  return bound === null ? Infinity : bound - (first(await waiting(q, { endpoint_id: id, bound }))?.deliveries ?? 0);
}

/** Inserts a delivery that is due at once, and answers its ID. */
export async function insertDelivery(tx: Tx, event_id: string, endpoint_id: WebhookId): Promise<DeliveryId> {
  const delivery = deliveryOf(tx, event_id, endpoint_id);
  await insertAndWake(tx, [delivery]);
  return delivery.id;
}

/**
 * Inserts one delivery for each: due at once where the endpoint is active, held where it is disabled or failed, or has
 * as many waiting as the bound allows.
 */
export async function insertDeliveries(tx: Tx, wanted: readonly Wanted[]): Promise<void> {
  const deliveries: NewRow<"deliveries">[] = [];
  /** As these deliveries leave it. */
  const left = new Map<WebhookId, number>();
  for (const { event_id, endpoint, bound } of wanted) {
    const { id, status } = endpoint;
    const capacity = status !== "active" ? 0 : (left.get(id) ?? (await capacities.get(tx, { id, bound })));
    if (capacity > 0) left.set(id, capacity - 1);
    const held_reason = status === "active" && capacity === 0 ? "pending_limit" : null;
    deliveries.push({ ...deliveryOf(tx, event_id, id), status: capacity > 0 ? "pending" : "held", held_reason });
  }
  for (const [id, capacity] of left) capacities.change(tx, { id, bound: null }, () => capacity);
  await insertAndWake(tx, deliveries);
}

/** Two statements, however many there are: other partners' writes wait for them. In a batch they are its last ones. */
async function insertAndWake(tx: Tx, deliveries: NewRow<"deliveries">[]): Promise<void> {
  await insert(tx, "deliveries", deliveries);
  const due = new Set(deliveries.filter(({ status }) => status === "pending").map(({ endpoint_id }) => endpoint_id));
  if (due.size === 0) return;
  await putOff(tx, { kind: "endpoints", row: { ids: [...due], now: tx.now }, write: (rows) => lookAt(tx, rows) });
  tx.signal("deliveries");
}

/** Has endpoints looked at when the first of their new deliveries is due. */
async function lookAt(tx: Tx, due: readonly { ids: WebhookId[]; now: number }[]): Promise<void> {
  const ids = new Set(due.flatMap((one) => one.ids));
  await lookNow(tx, { ids: listOf([...ids]), now: Math.min(...due.map(({ now }) => now)) });
}
