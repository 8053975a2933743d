import { and, eq, inArray, isNull, lte, or } from "drizzle-orm";
import type { OrderItemId } from "../kernel/brand.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { holdOrder } from "./hold.ts";
import { type ItemRow, progressItem, requireItem } from "./items.ts";
import { linesOfOrder, requireOrder } from "./order.ts";

/** How long one exchange with a supplier may take before another worker may take over. */
export const ITEM_LEASE_MS = 120_000;

const claim = statement((db, t, slot: Slots<{ now: number; until: number; limit: number }>) =>
  db
    .update(t.orderItems)
    .set({ leased_until: slot.until })
    .where(
      inArray(
        t.orderItems.id,
        db
          .select({ id: t.orderItems.id })
          .from(t.orderItems)
          .where(
            and(
              lte(t.orderItems.due_at, slot.now),
              or(isNull(t.orderItems.leased_until), lte(t.orderItems.leased_until, slot.now)),
            ),
          )
          .orderBy(t.orderItems.due_at, t.orderItems.id)
          .limit(slot.limit),
      ),
    )
    .returning({ id: t.orderItems.id }),
);

/** An item to be sent, with what its supplier needs to know. */
export interface ClaimedItem {
  item: ItemRow;
  order_number: string;
  product_sku: string;
  product_name: string;
  delivery_method: string;
}

/** Leases the items that are due, oldest first; a lease that ran out is taken over. */
export async function claimDueItems(tx: Tx, input: { limit: number }): Promise<ClaimedItem[]> {
  const rows = await claim(tx, { now: tx.now, until: tx.now + ITEM_LEASE_MS, limit: input.limit });
  const claimed: ClaimedItem[] = [];
  for (const { id } of rows) claimed.push(await describe(tx, id));
  return claimed;
}

async function describe(tx: Tx, id: OrderItemId): Promise<ClaimedItem> {
  const item = await requireItem(tx, id);
  const order = await requireOrder(tx, item.order_id);
  const line = (await linesOfOrder(tx, order.id)).find((each) => each.id === item.line_id);
  if (line === undefined) throw new Error("an order item without its line");
  const { product_sku, product_name, delivery_method } = line;
  return { item, order_number: order.order_number, product_sku, product_name, delivery_method };
}

const overdue = statement((db, t, slot: Slots<{ now: number; limit: number }>) =>
  db
    .select({ id: t.orderItems.id })
    .from(t.orderItems)
    .where(lte(t.orderItems.deadline_at, slot.now))
    .orderBy(t.orderItems.deadline_at, t.orderItems.id)
    .limit(slot.limit),
);

/** Holds the orders whose supplier gave no final answer in time; says how many items that were. */
export async function reviewOverdueItems(tx: Tx, input: { limit: number }): Promise<number> {
  const rows = await overdue(tx, { now: tx.now, limit: input.limit });
  for (const { id } of rows) {
    const item = await progressItem(tx, await requireItem(tx, id), { deadline_at: null });
    const reason = `the supplier ${item.supplier} gave no final answer in time`;
    await holdOrder(tx, await requireOrder(tx, item.order_id), reason, reason);
  }
  return rows.length;
}

const free = statement((db, t, slot: Slots<{ id: OrderItemId; due_at: number }>) =>
  db.update(t.orderItems).set({ leased_until: null, due_at: slot.due_at }).where(eq(t.orderItems.id, slot.id)),
);

/** After an unexpected fault of our own: another try a little later, with the same reference. */
export async function postponeItem(tx: Tx, input: { id: OrderItemId; delayMs: number }): Promise<void> {
  await free(tx, { id: input.id, due_at: tx.now + input.delayMs });
}
