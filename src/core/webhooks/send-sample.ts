import { recordAudit } from "../audit/record.ts";
import { type EventKind, eventCatalog } from "../events/catalog.ts";
import { newId } from "../kernel/ids.ts";
import { recordSampleFor, type Sampled } from "../outbox/record.ts";
import type { Tx } from "../store/store.ts";
import { auditOf, requireActive, type WebhookAct, webhookActedOn } from "./webhook.ts";

/**
 * Sends a sample event to one endpoint, whether it subscribed to the kind or not. `data.test` is true and its ids are
 * not those of any record. Throws `not_found`, `conflict` while the endpoint is not active.
 */
export async function sendSample(tx: Tx, input: WebhookAct & { kind: EventKind }): Promise<Sampled> {
  const row = await webhookActedOn(tx, input);
  requireActive(row);
  const { partner_id: partnerId, environment } = row;
  const subjectId = newId(tx);
  const data = { ...eventCatalog[input.kind].sample({ subjectId, partnerId, now: tx.now }), test: true } as const;
  const sampled = await recordSampleFor(tx, { kind: input.kind, partnerId, environment, subjectId, data }, row.id);
  await recordAudit(tx, { ...auditOf(row, "webhooks.test", input.actor), note: sampled.event_id });
  return sampled;
}
