import { and, eq, gt, inArray, sql } from "drizzle-orm";
import { recordAudit } from "../audit/record.ts";
import type { EventKind } from "../events/catalog.ts";
import type { DeliveryId, WebhookId } from "../kernel/brand.ts";
import type { Owner } from "../kernel/owner.ts";
import { notFound, Problem } from "../kernel/problem.ts";
import { findByKey, updateRow } from "../store/rows.ts";
import { isListed, type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { isCleared } from "./clear-events.ts";
import { canGoAgain, type Stretch, stretchOf } from "./failed-deliveries.ts";
import { auditOf, requireActive, requireOwnWebhook, requireWebhook, webhookActedOn } from "./webhook.ts";

/** A delivery with all its attempts before it. */
const fromStart = { status: "pending", attempts: 0, leased_until: null, held_reason: null } as const;

/** A delivery that is acted on: the operator's may be any endpoint's, a partner's one of its endpoint. */
export interface DeliveryAct {
  id: DeliveryId;
  /** Left out: the operator acts. */
  of?: { owner: Owner; webhookId: WebhookId } | undefined;
  actor: string;
}

/**
 * Sends one delivery again, whatever became of it, with all its attempts. Throws `not_found`, and `conflict` where the
 * endpoint is not active or the event's body was cleared.
 */
export async function redeliver(tx: Tx, input: DeliveryAct): Promise<void> {
  if (input.of !== undefined) await requireOwnWebhook(tx, input.of.owner, input.of.webhookId);
  const delivery = await findByKey(tx, "deliveries", { id: input.id });
  const elsewhere = input.of !== undefined && input.of.webhookId !== delivery?.endpoint_id;
  if (delivery === null || elsewhere) throw notFound("delivery");
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

type Step = Stretch & { endpoint_id: WebhookId; after: string; now: number; limit: number; kinds: string };

const againFrom = statement((db, t, slot: Slots<Step>, dialect) =>
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
              canGoAgain(db, t, slot),
              gt(t.deliveries.id, slot.after),
              // `kinds` is a list as `listOf` makes it; none: all of them.
              sql`(${slot.kinds} = '[]' or exists (
                select 1 from ${t.events} where ${t.events.id} = ${t.deliveries.event_id}
                and ${isListed(dialect, t.events.kind, slot.kinds)}))`,
            ),
          )
          .orderBy(t.deliveries.id)
          .limit(slot.limit),
      ),
    )
    .returning({ id: t.deliveries.id }),
);

/** Steps until nothing is left: how many deliveries are on their way again. Throws as `replayStep` does. */
export async function replayAll(
  step: (after: DeliveryId | null) => Promise<Awaited<ReturnType<typeof replayStep>>>,
): Promise<number> {
  let count = 0;
  let after: DeliveryId | null = null;
  do {
    const done: Awaited<ReturnType<typeof replayStep>> = await step(after);
    count += done.count;
    after = done.next;
  } while (after !== null);
  return count;
}

/** One step of a replay. */
export interface Replay {
  endpointId: WebhookId;
  /** Left out: the operator acts. */
  owner?: Owner | undefined;
  /** Events of these kinds only; left out: of all. */
  kinds?: readonly EventKind[] | undefined;
  /** From this moment (ms) on, and before this one; left out: to the last. */
  since: number;
  until?: number | undefined;
  /** Where the step before ended; null for the first. */
  after: DeliveryId | null;
  actor: string;
}

/** Deliveries set on their way again in one transaction. */
const REPLAY_STEP = 2_000;

/**
 * Sends again what was held or exhausted in a span, oldest first, in steps: `next` is where the next one goes on,
 * or null at the end. Events whose body was cleared are left out. Throws `not_found`, `conflict` while the endpoint is
 * not active.
 */
export async function replayStep(tx: Tx, input: Replay): Promise<{ count: number; next: DeliveryId | null }> {
  const { owner, actor } = input;
  const endpoint = await webhookActedOn(tx, { id: input.endpointId, owner, actor });
  requireActive(endpoint);
  const kinds = JSON.stringify((input.kinds ?? []).map((kind) => [kind]));
  const where = { ...stretchOf(input), endpoint_id: endpoint.id, after: input.after ?? "", kinds };
  const ids = (await againFrom(tx, { ...where, now: tx.now, limit: REPLAY_STEP })).map((row) => row.id).sort();
  if (ids.length > 0) {
    await updateRow(tx, "webhookEndpoints", { id: endpoint.id }, { due_at: tx.now });
    tx.signal("deliveries");
  }
  if (input.after === null) await recordAudit(tx, auditOf(endpoint, "webhooks.replay", actor));
  return { count: ids.length, next: ids.length < REPLAY_STEP ? null : (ids.at(-1) ?? null) };
}
