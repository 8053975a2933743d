import { and, eq, gt, isNull, or, sql } from "drizzle-orm";
import type { DeliveryId, WebhookId } from "../kernel/brand.ts";
import { newId } from "../kernel/ids.ts";
import { elementsOf, insertRows, listOf, type NewRow } from "../store/rows.ts";
import { gatheredRows, gathersRows, insertLast, remembered, writeLastTogether } from "../store/run-memory.ts";
import type { WebhookStatus } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";

/** An event for an endpoint that subscribed to its kind. */
export interface Wanted {
  event_id: string;
  endpoint: { id: WebhookId; status: WebhookStatus };
  /** Deliveries that may wait for one endpoint of its partner; null: any number. */
  bound: number | null;
}

/** A delivery that is due at once. */
function deliveryOf(tx: Tx, event_id: string, endpoint_id: WebhookId) {
  const fresh = { attempts: 0, due_at: tx.now, lease_no: 0, held_reason: null, created_at: tx.now } as const;
  return { id: newId<DeliveryId>(tx), event_id, endpoint_id, status: "pending", ...fresh } as const;
}

/** `ids` is a list as `listOf` makes it. */
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
  return count <= 0 || (await pendingAt(tx, { endpoint_id, before: count - 1 })).length > 0;
}

/** More than the deliveries that one run inserts for an endpoint. */
const AMPLE = 1_000;

/** Whether no delivery that the run inserts for an endpoint is beyond the bound. */
function isAmple(tx: Tx, id: WebhookId, bound: number): Promise<boolean> {
  return remembered(tx, `ample ${id}`, async () => bound > AMPLE && !(await hasPending(tx, id, bound - AMPLE)));
}

/** Whether as many deliveries wait for an endpoint as the bound allows, with `before` that are yet to be inserted. */
async function isFull(tx: Tx, id: WebhookId, { bound, before }: { bound: number; before: number }): Promise<boolean> {
  if (!tx.memory) return hasPending(tx, id, bound - before);
  if (await isAmple(tx, id, bound)) return false;
  const gathered = gatheredRows(tx, "deliveries").filter((row) => row.endpoint_id === id && row.status === "pending");
  return hasPending(tx, id, bound - before - gathered.length);
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
  /** Those of this call that wait, by endpoint. */
  const waiting = new Map<WebhookId, number>();
  for (const { event_id, endpoint, bound } of wanted) {
    const { id, status } = endpoint;
    const before = waiting.get(id) ?? 0;
    const full = status === "active" && bound !== null && (await isFull(tx, id, { bound, before }));
    const isDue = status === "active" && !full;
    if (isDue) waiting.set(id, before + 1);
    const held_reason = full ? "pending_limit" : null;
    deliveries.push({ ...deliveryOf(tx, event_id, id), status: isDue ? "pending" : "held", held_reason });
  }
  await insertAndWake(tx, deliveries);
}

/** Two statements, however many there are: other partners' writes wait for them. In a run they are its last ones. */
async function insertAndWake(tx: Tx, deliveries: NewRow<"deliveries">[]): Promise<void> {
  if (gathersRows(tx)) for (const delivery of deliveries) await insertLast(tx, "deliveries", delivery);
  else await insertRows(tx, "deliveries", deliveries);
  const due = new Set(deliveries.filter(({ status }) => status === "pending").map(({ endpoint_id }) => endpoint_id));
  if (due.size === 0) return;
  // Where a run has several commands, the delivery of the first one is due first.
  const now = await remembered(tx, "look now", async () => tx.now);
  const write = async (ids: readonly WebhookId[]) => void (await lookNow(tx, { ids: listOf(ids), now }));
  if (tx.memory) for (const id of due) await writeLastTogether(tx, id, { kind: "look", key: id, write });
  else await write([...due]);
  tx.signal("deliveries");
}
