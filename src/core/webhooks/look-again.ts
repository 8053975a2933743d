import { and, eq, sql } from "drizzle-orm";
import type { WebhookId } from "../kernel/brand.ts";
import { lockRows } from "../store/rows.ts";
import { isListed, listOf, type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";

/**
 * Locks endpoints until the commit: what was inserted for them is committed, and who inserts more waits. To be done
 * late: orders wait too.
 */
export function lockEndpoints(tx: Tx, ids: ReadonlySet<WebhookId>): Promise<void> {
  return lockRows(tx, "webhookEndpoints", [...ids]);
}

const setDue = statement((db, t, slot: Slots<{ ids: string }>, dialect) => {
  const { endpoint_id, due_at, status } = t.deliveries;
  // Must match the partial index predicate exactly.
  const next = sql`(select min(${due_at}) from ${t.deliveries}
    where ${endpoint_id} = ${t.webhookEndpoints.id} and ${status} = 'pending')`;
  const { waits_until } = t.webhookEndpoints;
  const waits = sql`${waits_until} is not null and ${next} < ${waits_until}`;
  return db
    .update(t.webhookEndpoints)
    .set({
      due_at: sql`case when ${waits} then ${waits_until} else ${next} end`,
    })
    .where(and(isListed(dialect, t.webhookEndpoints.id, slot.ids), eq(t.webhookEndpoints.status, "active")));
});

/**
 * Has active endpoints looked at when the first of what waits for each is due, or when their own wait ends. They are
 * locked before by a statement of its own: this one sees what was committed until it began.
 */
export async function lookAgain(tx: Tx, ids: ReadonlySet<WebhookId>): Promise<void> {
  if (ids.size > 0) await setDue(tx, { ids: listOf([...ids]) });
}
