import { eq } from "drizzle-orm";
import { recordAudit } from "../audit/record.ts";
import { type EventKind, eventCatalog, subscribesTo } from "../events/catalog.ts";
import type { DeliveryId, PartnerId } from "../kernel/brand.ts";
import type { Environment } from "../kernel/environment.ts";
import { newId } from "../kernel/ids.ts";
import { Problem } from "../kernel/problem.ts";
import { recordSample } from "../outbox/record.ts";
import type { DeliveryStatus } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";

const deliveriesOf = statement((db, t, slot: Slots<{ event_id: string }>) =>
  db
    .select({ id: t.deliveries.id, status: t.deliveries.status, url: t.webhookEndpoints.url })
    .from(t.deliveries)
    .innerJoin(t.webhookEndpoints, eq(t.webhookEndpoints.id, t.deliveries.endpoint_id))
    .where(eq(t.deliveries.event_id, slot.event_id))
    .orderBy(t.deliveries.id),
);

const endpointsOf = statement((db, t, slot: Slots<{ partner_id: PartnerId }>) =>
  db
    .select({ environment: t.webhookEndpoints.environment, events: t.webhookEndpoints.events })
    .from(t.webhookEndpoints)
    .where(eq(t.webhookEndpoints.partner_id, slot.partner_id)),
);

/** A sample that was sent, and where it goes. */
export interface Triggered {
  event: EventKind;
  environment: Environment;
  event_id: string;
  deliveries: { id: DeliveryId; url: string; status: DeliveryStatus }[];
}

/**
 * Sends a sample event to the partner's endpoints that subscribed to its kind. `data.test` is true and its ids are
 * not those of any record. Environment null: production if an endpoint there would get it, else the sandbox. Throws
 * `conflict` when no endpoint would get it.
 */
export async function triggerSample(
  tx: Tx,
  input: { kind: EventKind; partnerId: PartnerId; environment: Environment | null; actor: string },
): Promise<Triggered> {
  const { kind, partnerId } = input;
  const environment = input.environment ?? (await environmentOf(tx, partnerId, kind));
  const subjectId = newId(tx);
  const sample = eventCatalog[kind].sample({ subjectId, partnerId, now: tx.now });
  const data = { ...sample, test: true } as const;
  const event_id = await recordSample(tx, { kind, partnerId, environment, subjectId, at: tx.now, data });
  const deliveries = await deliveriesOf(tx, { event_id });
  if (deliveries.length === 0) {
    throw new Problem("conflict", `No ${environment} endpoint of this partner is subscribed to ${kind}.`);
  }
  const target = { targetKind: "event", targetId: event_id, partnerId };
  await recordAudit(tx, { actor: input.actor, action: "webhooks.trigger", ...target });
  return { event: kind, environment, event_id, deliveries };
}

async function environmentOf(tx: Tx, partner_id: PartnerId, kind: EventKind): Promise<Environment> {
  const subscribed = (await endpointsOf(tx, { partner_id })).filter(({ events }) => subscribesTo(events, kind));
  if (subscribed.length === 0) throw new Problem("conflict", `No endpoint of this partner is subscribed to ${kind}.`);
  return subscribed.some(({ environment }) => environment === "production") ? "production" : "sandbox";
}
