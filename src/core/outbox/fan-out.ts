import { and, eq, gt, isNull, or } from "drizzle-orm";
import type { EventKind } from "../events/catalog.ts";
import type { DeliveryId, PartnerId, WebhookId } from "../kernel/brand.ts";
import type { Environment } from "../kernel/environment.ts";
import { newId } from "../kernel/ids.ts";
import { insertRow } from "../store/rows.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";

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

const lookNow = statement((db, t, slot: Slots<{ id: WebhookId; now: number }>) =>
  db
    .update(t.webhookEndpoints)
    .set({ due_at: slot.now })
    .where(
      and(
        eq(t.webhookEndpoints.id, slot.id),
        or(isNull(t.webhookEndpoints.due_at), gt(t.webhookEndpoints.due_at, slot.now)),
      ),
    ),
);

/**
 * One delivery for each endpoint of the event's partner and environment that subscribed to its kind: due at once where
 * the endpoint is active, held where it is disabled or failed.
 */
export async function fanOut(tx: Tx, event: Recorded): Promise<void> {
  const endpoints = await endpointsOf(tx, { partner_id: event.partner_id, environment: event.environment });
  for (const { id, status, events } of endpoints) {
    if (!events.includes(event.kind)) continue;
    const active = status === "active";
    await insertRow(tx, "deliveries", {
      id: newId<DeliveryId>(tx),
      event_id: event.id,
      endpoint_id: id,
      status: active ? "pending" : "held",
      attempts: 0,
      due_at: tx.now,
      lease_no: 0,
      created_at: tx.now,
    });
    if (!active) continue;
    await lookNow(tx, { id, now: tx.now });
    tx.signal("deliveries");
  }
}
