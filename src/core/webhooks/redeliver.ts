import { and, eq, gt, gte, inArray, notExists, sql } from "drizzle-orm";
import { recordAudit } from "../audit/record.ts";
import type { DeliveryId, WebhookId } from "../kernel/brand.ts";
import { firstUuidOf } from "../kernel/ids.ts";
import { notFound, Problem } from "../kernel/problem.ts";
import { findByKey, updateRow } from "../store/rows.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { clearedIn, isCleared } from "./clear-events.ts";
import { auditOf, requireActive, requireWebhook } from "./webhook.ts";

/** A delivery with all its attempts before it. */
const fromStart = { status: "pending", attempts: 0, leased_until: null, held_reason: null } as const;

/**
 * Sends one delivery again, whatever became of it, with all its attempts. Throws `not_found`, and `conflict` where the
 * endpoint is not active or the event's body was cleared.
 */
export async function redeliver(tx: Tx, input: { id: DeliveryId; actor: string }): Promise<void> {
  const delivery = await findByKey(tx, "deliveries", { id: input.id });
  if (delivery === null) throw notFound("delivery");
  const event = await findByKey(tx, "events", { id: delivery.event_id });
  if (event !== null && isCleared(event)) {
    throw new Problem(
      "conflict",
      "The body of this event was cleared with the personal data in it; it cannot be sent.",
    );
  }
  await updateRow(tx, "deliveries", { id: input.id }, { ...fromStart, due_at: tx.now });
  const endpoint = await requireWebhook(tx, delivery.endpoint_id);
  requireActive(endpoint);
  await updateRow(tx, "webhookEndpoints", { id: endpoint.id }, { due_at: tx.now });
  await recordAudit(tx, { ...auditOf(endpoint, "webhooks.redeliver", input.actor), note: input.id });
  tx.signal("deliveries");
}

type Stretch = { endpoint_id: WebhookId; from: string; after: string; now: number; limit: number };

const againFrom = statement((db, t, slot: Slots<Stretch>) =>
  db
    .update(t.deliveries)
    .set({ ...fromStart, due_at: slot.now })
    .where(
      inArray(
        t.deliveries.id,
        db
          .select({ id: t.deliveries.id })
          .from(t.deliveries)
          .where(
            and(
              eq(t.deliveries.endpoint_id, slot.endpoint_id),
              sql`${t.deliveries.status} in ('exhausted', 'held')`,
              gte(t.deliveries.id, slot.from),
              gt(t.deliveries.id, slot.after),
              notExists(
                db
                  .select({ id: t.events.id })
                  .from(t.events)
                  .where(and(eq(t.events.id, t.deliveries.event_id), clearedIn(t))),
              ),
            ),
          )
          .orderBy(t.deliveries.id)
          .limit(slot.limit),
      ),
    )
    .returning({ id: t.deliveries.id }),
);

/** One step of a replay. */
export interface Replay {
  endpointId: WebhookId;
  /** From this moment (ms) on. */
  since: number;
  /** Where the step before ended; null for the first. */
  after: DeliveryId | null;
  actor: string;
}

/** Deliveries set on their way again in one transaction. */
const REPLAY_STEP = 2_000;

/**
 * Sends again what was held or exhausted since a moment, oldest first, in steps: `next` is where the next one goes on,
 * or null at the end. Events whose body was cleared are left out. Throws `not_found`, `conflict` while the endpoint is
 * not active.
 */
export async function replayStep(tx: Tx, input: Replay): Promise<{ count: number; next: DeliveryId | null }> {
  const endpoint = await requireWebhook(tx, input.endpointId);
  requireActive(endpoint);
  const from = firstUuidOf(input.since);
  const stretch = { endpoint_id: endpoint.id, from, after: input.after ?? "", now: tx.now, limit: REPLAY_STEP };
  const ids = (await againFrom(tx, stretch)).map((row) => row.id).sort();
  if (ids.length > 0) {
    await updateRow(tx, "webhookEndpoints", { id: endpoint.id }, { due_at: tx.now });
    tx.signal("deliveries");
  }
  if (input.after === null) await recordAudit(tx, auditOf(endpoint, "webhooks.replay", input.actor));
  return { count: ids.length, next: ids.length < REPLAY_STEP ? null : (ids.at(-1) ?? null) };
}
