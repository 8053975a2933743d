import { and, eq, inArray, isNull, lte, or } from "drizzle-orm";
import type { OrderId } from "../kernel/brand.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";

/** How long a worker may take for one order's next steps before another may take over. */
export const ORDER_LEASE_MS = 60_000;

type Claim = { now: number; until: number; limit: number };

const claim = statement((db, t, slot: Slots<Claim>) =>
  db
    .update(t.orders)
    .set({ leased_until: slot.until })
    .where(
      inArray(
        t.orders.id,
        db
          .select({ id: t.orders.id })
          .from(t.orders)
          .where(
            and(
              lte(t.orders.due_at, slot.now),
              or(isNull(t.orders.leased_until), lte(t.orders.leased_until, slot.now)),
            ),
          )
          .orderBy(t.orders.due_at, t.orders.id)
          .limit(slot.limit),
      ),
    )
    .returning({ id: t.orders.id }),
);

/** Leases the orders that are due, oldest first; a lease that ran out is taken over. */
export async function claimDueOrders(tx: Tx, input: { limit: number }): Promise<OrderId[]> {
  const rows = await claim(tx, { now: tx.now, until: tx.now + ORDER_LEASE_MS, limit: input.limit });
  return rows.map((row) => row.id);
}

const putOff = statement((db, t, slot: Slots<{ id: OrderId; due_at: number }>) =>
  db.update(t.orders).set({ due_at: slot.due_at, leased_until: null }).where(eq(t.orders.id, slot.id)),
);

/** After an unexpected fault: another try a little later. */
export async function postponeOrder(tx: Tx, input: { id: OrderId; delayMs: number }): Promise<void> {
  await putOff(tx, { id: input.id, due_at: tx.now + input.delayMs });
}

const free = statement((db, t, slot: Slots<{ id: OrderId }>) =>
  db.update(t.orders).set({ leased_until: null }).where(eq(t.orders.id, slot.id)),
);

/** Gives up a lease, so that another worker can go on at once. */
export async function releaseOrder(tx: Tx, id: OrderId): Promise<void> {
  await free(tx, { id });
}
