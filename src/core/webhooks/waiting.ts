import { and, eq, lte, sql } from "drizzle-orm";
import type { PartnerId, WebhookId } from "../kernel/brand.ts";
import type { Environment } from "../kernel/environment.ts";
import { dueNow } from "../store/due-keys.ts";
import { type PartnerQueue, partnerQueues, queueName } from "../store/partner-queues.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

const partners = partnerQueues((t) => sql`${t.webhookEndpoints}`);

type Asked = { environment: Environment; partner_id: PartnerId; now: number; limit: number };

const endpointsOf = statement((db, t, slot: Slots<Asked>) =>
  db
    .select({
      id: t.webhookEndpoints.id,
      last_at: t.webhookEndpoints.last_at,
      last_status_code: t.webhookEndpoints.last_status_code,
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
  /** Its last attempt failed: it gets less of the worker's room. */
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
  return rows.map(({ id, last_at, last_status_code }) => {
    const arrived = last_status_code !== null && last_status_code >= 200 && last_status_code < 300;
    return { environment, partnerId, id, failing: last_at !== null && !arrived };
  });
}
