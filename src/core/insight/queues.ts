import { and, count, countDistinct, eq, gt, isNotNull, lte, min, sql } from "drizzle-orm";
import { isoTimeOrNull } from "../kernel/clock.ts";
import { momentOfUuid } from "../kernel/ids.ts";
import { IN_POOL } from "../store/schema/passports.ts";
import type { Tables } from "../store/schema/tables.ts";
import type { OrderStatus } from "../store/schema/values.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

/** What waits for a worker, for a third party, or for the operator. */
export interface Queue {
  /** A stable name: `orders_due`, `orders_review`, … */
  queue: string;
  waiting: number;
  /** Since when the oldest of them waits; null when nothing does. */
  oldest_at: string | null;
}

type Now = Slots<{ now: number }>;

const ordersDue = statement((db, t, slot: Now) =>
  db
    .select({ many: count(), since: min(t.orders.due_at) })
    .from(t.orders)
    .where(lte(t.orders.due_at, slot.now)),
);

const ordersReview = statement((db, t, slot: Slots<{ status: OrderStatus }>) =>
  db
    .select({ many: count(), since: min(t.orders.created_at) })
    .from(t.orders)
    .where(eq(t.orders.status, slot.status)),
);

const ordersToShip = statement((db, t, _slot) =>
  db
    .select({ many: countDistinct(t.orderLines.order_id), since: min(t.orders.created_at) })
    .from(t.orderLines)
    .innerJoin(t.orders, eq(t.orders.id, t.orderLines.order_id))
    .where(
      and(
        // Must match the partial index predicate exactly.
        sql`${t.orderLines.delivery_method} = 'shipping' and ${t.orderLines.status} = 'pending'`,
        eq(t.orders.environment, "production"),
      ),
    ),
);

const itemsDue = statement((db, t, slot: Now) =>
  db
    .select({ many: count(), since: min(t.orderItems.due_at) })
    .from(t.orderItems)
    .where(lte(t.orderItems.due_at, slot.now)),
);

const itemsSubmitted = statement((db, t, _slot) =>
  db
    .select({ many: count(), since: min(t.orderItems.submitted_at) })
    .from(t.orderItems)
    .where(gt(t.orderItems.deadline_at, 0)),
);

const activations = statement((db, t, slot: Slots<{ processing_status: "processing" | "manual_required" }>) =>
  db
    .select({ many: count(), since: min(t.activations.queued_at) })
    .from(t.activations)
    .where(and(gt(t.activations.queued_at, 0), eq(t.activations.processing_status, slot.processing_status))),
);

// There may be very many of these, and ids begin with the moment they were made at: the index alone is read.
function oldest(id: Tables["deliveries"]["id"]) {
  return sql`min(${id})`.mapWith(momentOfUuid);
}

const deliveriesPending = statement((db, t, _slot) =>
  db
    .select({ many: count(), since: oldest(t.deliveries.id) })
    .from(t.deliveries)
    // Must match the partial index predicate exactly.
    .where(and(sql`${t.deliveries.status} = 'pending'`, isNotNull(t.deliveries.endpoint_id))),
);

const deliveriesHeld = statement((db, t, _slot) =>
  db
    .select({ many: count(), since: oldest(t.deliveries.id) })
    .from(t.deliveries)
    .where(sql`${t.deliveries.status} = 'held'`),
);

const passports = statement((db, t, _slot) =>
  db
    .select({ many: count(), since: min(t.passports.created_at) })
    .from(t.passports)
    .where(and(eq(t.passports.pool_key, IN_POOL), eq(t.passports.verification, "pending"))),
);

/** Every queue there is, the empty ones too, in the order in which an order meets them. */
export async function queueDepths(q: Read): Promise<Queue[]> {
  const now = { now: q.now };
  return [
    toQueue("orders_due", await ordersDue(q, now)),
    toQueue("orders_review", await ordersReview(q, { status: "waiting_review" })),
    toQueue("orders_to_ship", await ordersToShip(q, {})),
    toQueue("items_due", await itemsDue(q, now)),
    toQueue("items_at_supplier", await itemsSubmitted(q, {})),
    toQueue("activations_at_carrier", await activations(q, { processing_status: "processing" })),
    toQueue("activations_manual", await activations(q, { processing_status: "manual_required" })),
    toQueue("deliveries_pending", await deliveriesPending(q, {})),
    toQueue("deliveries_held", await deliveriesHeld(q, {})),
    toQueue("passports_unverified", await passports(q, {})),
  ];
}

function toQueue(queue: string, rows: { many: number; since: number | null }[]): Queue {
  const row = first(rows);
  return { queue, waiting: row?.many ?? 0, oldest_at: isoTimeOrNull(row?.since ?? null) };
}
