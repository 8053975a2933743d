import { and, eq, inArray } from "drizzle-orm";
import { recordAudit } from "../audit/record.ts";
import type { WebhookId } from "../kernel/brand.ts";
import type { Owner } from "../kernel/owner.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { requireOwnWebhook } from "./webhook.ts";

type Endpoint = { id: WebhookId };

const dropTries = statement((db, t, slot: Slots<Endpoint>) =>
  db.delete(t.deliveryAttempts).where(
    inArray(
      t.deliveryAttempts.delivery_id,
      db
        .select({ id: t.deliveries.id })
        .from(t.deliveries)
        .where(and(eq(t.deliveries.endpoint_id, slot.id), inArray(t.deliveries.status, ["pending", "held"]))),
    ),
  ),
);

const dropWaiting = statement((db, t, slot: Slots<Endpoint>) =>
  db
    .delete(t.deliveries)
    .where(and(eq(t.deliveries.endpoint_id, slot.id), inArray(t.deliveries.status, ["pending", "held"]))),
);

const dropEndpoint = statement((db, t, slot: Slots<Endpoint>) =>
  db.delete(t.webhookEndpoints).where(eq(t.webhookEndpoints.id, slot.id)),
);

/** Deletes an endpoint and what waits for it; what was settled stays on record. Throws `not_found`. */
export async function deleteWebhook(tx: Tx, input: { owner: Owner; id: WebhookId; actor: string }): Promise<void> {
  const row = await requireOwnWebhook(tx, input.owner, input.id);
  await dropTries(tx, { id: row.id });
  await dropWaiting(tx, { id: row.id });
  await dropEndpoint(tx, { id: row.id });
  const target = { targetKind: "webhook", targetId: row.id, partnerId: row.partner_id };
  await recordAudit(tx, { actor: input.actor, action: "webhooks.delete", ...target });
}
