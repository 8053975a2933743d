import { and, count, eq, lte, min, sql } from "drizzle-orm";
import { isoTime } from "../kernel/clock.ts";
import { counted } from "../kernel/counted.ts";
import type { Tables } from "../store/schema/tables.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { type Finding, fine, warning } from "./finding.ts";

/** Workers look every second, the longest lease is two minutes: what is due this long (ms) has no worker. */
const STUCK_AFTER_MS = 10 * 60_000;

type Before = Slots<{ before: number }>;

/** Due since long. What a worker holds is due when its lease ends. */
function stuck(table: Tables["orders"] | Tables["orderItems"] | Tables["activations"], slot: Before) {
  return lte(table.due_at, slot.before);
}

const orders = statement((db, t, slot: Before) =>
  db
    .select({ many: count(), since: min(t.orders.due_at) })
    .from(t.orders)
    .where(stuck(t.orders, slot)),
);

const items = statement((db, t, slot: Before) =>
  db
    .select({ many: count(), since: min(t.orderItems.due_at) })
    .from(t.orderItems)
    .where(stuck(t.orderItems, slot)),
);

const activations = statement((db, t, slot: Before) =>
  db
    .select({ many: count(), since: min(t.activations.due_at) })
    .from(t.activations)
    .where(stuck(t.activations, slot)),
);

const deliveries = statement((db, t, slot: Before) =>
  db
    .select({ many: count(), since: min(t.deliveries.due_at) })
    .from(t.webhookEndpoints)
    .innerJoin(t.deliveries, eq(t.deliveries.endpoint_id, t.webhookEndpoints.id))
    .where(
      and(
        lte(t.webhookEndpoints.due_at, slot.before),
        eq(t.webhookEndpoints.status, "active"),
        // Must match the partial index predicate exactly.
        sql`${t.deliveries.status} = 'pending'`,
        lte(t.deliveries.due_at, slot.before),
      ),
    ),
);

const queues = [
  ["order", orders],
  ["order item", items],
  ["activation", activations],
  ["webhook delivery", deliveries, "webhook deliveries"],
] as const;

/** Whether anything that a worker should do by itself has been left lying, its lease run out long ago. */
export async function checkWork(q: Read): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const [one, query, many] of queues) {
    const row = first(await query(q, { before: q.now - STUCK_AFTER_MS }));
    if (row === null || row.many === 0) continue;
    const have = row.many === 1 ? "has" : "have";
    const since = isoTime(row.since ?? 0);
    const message = `${counted(row.many, one, many)} ${have} been due since ${since}, and no worker has taken it.`;
    found.push(warning("stuck_work", message, "See that esimctl serve runs, and look for errors in its log."));
  }
  return found.length > 0 ? found : [fine("stuck_work", "Nothing is stuck: what was due has been taken up.")];
}
