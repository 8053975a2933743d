import { and, count, countDistinct, eq, gt, isNotNull, isNull, lte, min, not, or, type SQL, sql } from "drizzle-orm";
import { countOpenRefunds } from "../after-sale/settle.ts";
import { countHeld } from "../catalog/held-products.ts";
import { isoTimeOrNull } from "../kernel/clock.ts";
import { momentOfUuid } from "../kernel/ids.ts";
import { notFulfilled } from "../orders/order.ts";
import type { Tables } from "../store/schema/tables.ts";
import type { OrderStatus } from "../store/schema/values.ts";
import { IN_POOL } from "../store/schema/values.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

type WaitsFor = "daemon" | "staff" | "supplier" | "carrier";

/** What waits for a worker, for a third party, or for the operator. */
export interface Queue {
  /** A stable name: `orders_due`, `orders_review`, … */
  queue: string;
  /** Whose turn it is: the daemon's, staff's, or another party's. */
  waits_for: WaitsFor;
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
    .where(and(eq(t.orders.status, slot.status), notFulfilled(t))),
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

const topupsDue = statement((db, t, slot: Now) =>
  db
    .select({ many: count(), since: min(t.topups.due_at) })
    .from(t.topups)
    .where(and(isNotNull(t.topups.due_at), lte(t.topups.due_at, slot.now))),
);

const topupsStuck = statement((db, t, _slot) =>
  db
    .select({ many: count(), since: min(t.topups.created_at) })
    .from(t.topups)
    // Must match the partial index predicate exactly. In the sandbox only a scenario waits, and it needs no act.
    .where(sql`${t.topups.status} = 'paid' and ${t.topups.due_at} is null and ${t.topups.environment} = 'production'`),
);

/**
 * Whether only a person moves a request on: it was left to staff, or its carrier is worked by hand and has it. Where
 * the adapter was changed since, what staff may have typed into the portal stays theirs.
 */
function isForStaff({ activations: t, carriers }: Tables): SQL | undefined {
  const idle = and(isNull(t.due_at), isNull(t.deadline_at));
  return or(idle, and(eq(carriers.adapter, "manual"), eq(t.processing_status, "confirmed")));
}

function queued(part: (t: Tables) => SQL | undefined) {
  return statement((db, t, _slot) =>
    db
      .select({ many: count(), since: min(t.activations.queued_at) })
      .from(t.activations)
      .innerJoin(t.carriers, eq(t.carriers.prefix, t.activations.carrier_prefix))
      .where(and(gt(t.activations.queued_at, 0), part(t))),
  );
}

const forStaff = queued(isForStaff);
const atCarrier = queued((t) => not(isForStaff(t) ?? sql`false`));

// There may be very many of these, and ids begin with the moment they were made at: the index alone is read.
function oldest(id: Tables["deliveries"]["id"] | Tables["fundingRequests"]["id"]) {
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

const funding = statement((db, t, _slot) =>
  db
    .select({ many: count(), since: oldest(t.fundingRequests.id) })
    .from(t.fundingRequests)
    // Must match the partial index predicate exactly.
    .where(sql`${t.fundingRequests.status} = 'requested'`),
);

/** Every queue there is, the empty ones too, in the order in which an order meets them. */
export async function queueDepths(q: Read): Promise<Queue[]> {
  const now = { now: q.now };
  return [
    toQueue("orders_due", "daemon", await ordersDue(q, now)),
    toQueue("orders_review", "staff", await ordersReview(q, { status: "waiting_review" })),
    toQueue("orders_to_ship", "staff", await ordersToShip(q, {})),
    toQueue("items_due", "daemon", await itemsDue(q, now)),
    toQueue("items_at_supplier", "supplier", await itemsSubmitted(q, {})),
    toQueue("topups_due", "daemon", await topupsDue(q, now)),
    toQueue("topups_stuck", "staff", await topupsStuck(q, {})),
    toQueue("activations_at_carrier", "carrier", await atCarrier(q, {})),
    toQueue("activations_manual", "staff", await forStaff(q, {})),
    toQueue("deliveries_pending", "daemon", await deliveriesPending(q, {})),
    toQueue("deliveries_held", "staff", await deliveriesHeld(q, {})),
    toQueue("passports_unverified", "staff", await passports(q, {})),
    toQueue("funding_requests", "staff", await funding(q, {})),
    toQueue("refunds_requested", "supplier", [await countOpenRefunds(q)]),
    toQueue("products_held", "staff", [await countHeld(q)]),
  ];
}

function toQueue(queue: string, waits_for: WaitsFor, rows: { many: number; since: number | null }[]): Queue {
  const row = first(rows);
  return { queue, waits_for, waiting: row?.many ?? 0, oldest_at: isoTimeOrNull(row?.since ?? null) };
}
