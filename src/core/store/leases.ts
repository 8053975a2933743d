import { and, eq, gte, isNotNull } from "drizzle-orm";
import { statement } from "./statement.ts";
import type { Tx } from "./store.ts";

// Only what is due is ever leased: found by the index of what is due, however large the table.
const orders = statement((db, t, _slot) =>
  db
    .update(t.orders)
    .set({ leased_until: null })
    .where(and(gte(t.orders.due_at, 0), isNotNull(t.orders.leased_until))),
);

const orderItems = statement((db, t, _slot) =>
  db
    .update(t.orderItems)
    .set({ leased_until: null })
    .where(and(gte(t.orderItems.due_at, 0), isNotNull(t.orderItems.leased_until))),
);

const activations = statement((db, t, _slot) =>
  db
    .update(t.activations)
    .set({ leased_until: null })
    .where(
      and(eq(t.activations.status, "processing"), gte(t.activations.due_at, 0), isNotNull(t.activations.leased_until)),
    ),
);

/**
 * Gives up the leases of orders, their items and activations. Only for a daemon that has the database to itself: what
 * a killed predecessor held is then looked at again at once, and not when its leases have run out. Deliveries keep
 * theirs: half a minute at the most.
 */
export async function releaseLeases(tx: Tx, _input: null): Promise<void> {
  for (const release of [orders, orderItems, activations]) await release(tx, {});
}
