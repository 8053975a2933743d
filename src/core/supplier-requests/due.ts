import { and, eq, inArray, lte, sql } from "drizzle-orm";
import { travelerOf } from "../orders/customer.ts";
import { holdOrder } from "../orders/finish.ts";
import { type ItemRow, lineOfItem, progressItem, requireItem } from "../orders/items.ts";
import { requireOrder } from "../orders/order.ts";
import { dueKeys, dueNow } from "../platform/due-keys.ts";
import { type Lease, leaseOn, leasesOf, maySend } from "../platform/lease.ts";
import type { OrderItemStatus, SupplierAdapter, Traveler } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { findSupplier, type SupplierContact, supplierContact } from "../suppliers/supplier.ts";
import { type PlacedItem, placeItem } from "./place.ts";

/** How long one exchange with a supplier may take before another worker may take over (ms). */
const ITEM_LEASE_MS = 120_000;

/** The leases of items. */
export const itemLeases = leasesOf("orderItems", ITEM_LEASE_MS);

/** The states in which an item can be sent. */
const workable: OrderItemStatus[] = ["pending", "submitted", "confirmed"];

const claim = itemLeases.claimer<{ supplier: string }>((t, slot) =>
  and(eq(t.orderItems.supplier, slot.supplier), inArray(t.orderItems.status, workable)),
);

const suppliers = dueKeys<object>({
  table: (t) => sql`${t.orderItems}`,
  key: "supplier",
  waits: () => sql`due_at is not null`,
});

/** A supplier with due items, and how it is reached. */
export interface SupplierQueue {
  supplier: string;
  /** Null: it is not set up. */
  adapter: SupplierAdapter | null;
}

/** The suppliers with due items, and in how many ms the next item is due. */
export async function waitingItems(q: Read, _input: null): Promise<{ due: SupplierQueue[]; waitMs: number | null }> {
  const { due, waitMs } = dueNow(q, await suppliers(q, {}));
  const queues: SupplierQueue[] = [];
  for (const { key } of due) queues.push({ supplier: key, adapter: (await findSupplier(q, key))?.adapter ?? null });
  return { due: queues, waitMs };
}

/** An item to be sent, with what its supplier needs for it. */
export interface ClaimedItem extends PlacedItem {
  /** Null: it has none. */
  traveler: Traveler | null;
  lease: Lease<"orderItems">;
  order_number: string;
  product_sku: string;
  product_name: string;
  delivery_method: string;
}

/** Leases up to `room` due items of a supplier, oldest first; a lease that ran out is taken over. */
export async function claimItems(tx: Tx, input: { supplier: string; room: number }): Promise<ClaimedItem[]> {
  const claimed: ClaimedItem[] = [];
  const items = await claim(tx, { supplier: input.supplier, limit: input.room });
  for (const item of items) {
    const traveler = travelerOf(tx, item);
    // The supplier must not get an item without its traveler, and the others need not wait for it.
    if (traveler === null && item.traveller_sealed !== null) await holdUnreadable(tx, item);
    else {
      const placed = await placeItem(tx, item);
      if (placed !== null) claimed.push(await describe(tx, placed, traveler));
    }
  }
  return claimed;
}

async function holdUnreadable(tx: Tx, item: ItemRow): Promise<void> {
  const reason = "the traveler of an item cannot be read";
  await progressItem(tx, item, { due_at: null, leased_until: null });
  await holdOrder(tx, await requireOrder(tx, item.order_id), reason, reason);
}

async function describe(tx: Tx, { item, probe }: PlacedItem, traveler: Traveler | null): Promise<ClaimedItem> {
  const order = await requireOrder(tx, item.order_id);
  const { product_sku, product_name, delivery_method } = await lineOfItem(tx, item);
  const lease = leaseOn<"orderItems">(item);
  return { item, probe, traveler, lease, order_number: order.order_number, product_sku, product_name, delivery_method };
}

/**
 * How the supplier of a claimed item is reached, asked right before the item is sent; null: it must not be sent, as
 * another worker may have it by now, or nothing is to be sent any more.
 */
export async function contactToSend(
  q: Read,
  input: { lease: Lease<"orderItems">; supplier: string },
): Promise<{ contact: SupplierContact | null } | null> {
  const until = await itemLeases.heldUntil(q, input.lease);
  if (until === null || !maySend({ until }, q.now)) return null;
  return { contact: await supplierContact(q, input.supplier) };
}

const overdue = statement((db, t, slot: Slots<{ now: number; limit: number }>) =>
  db
    .select({ id: t.orderItems.id })
    .from(t.orderItems)
    .where(lte(t.orderItems.deadline_at, slot.now))
    .orderBy(t.orderItems.deadline_at, t.orderItems.id)
    .limit(slot.limit),
);

/** Whether any item's final answer is overdue. */
export async function isSupplyOverdue(q: Read, _input: null): Promise<boolean> {
  return (await overdue(q, { now: q.now, limit: 1 })).length > 0;
}

/** Holds the orders of overdue items; returns how many items were overdue. */
export async function reviewOverdueItems(tx: Tx, input: { limit: number }): Promise<number> {
  const rows = await overdue(tx, { now: tx.now, limit: input.limit });
  for (const { id } of rows) await holdUnanswered(tx, await requireItem(tx, id));
  return rows.length;
}

/** Holds the order of an item whose final answer did not come in time. */
export async function holdUnanswered(tx: Tx, item: ItemRow): Promise<void> {
  await progressItem(tx, item, { deadline_at: null });
  const reason = `the supplier ${item.supplier} gave no final answer in time`;
  await holdOrder(tx, await requireOrder(tx, item.order_id), reason, reason);
}

/** Schedules another attempt with the same reference, after an unexpected fault in this process. */
export async function postponeItem(tx: Tx, input: { lease: Lease<"orderItems">; delayMs: number }): Promise<void> {
  await itemLeases.release(tx, { lease: input.lease, dueAt: tx.now + input.delayMs });
}

/** Releases leases, so that any worker can claim the items at once. */
export async function releaseItems(tx: Tx, held: Lease<"orderItems">[]): Promise<void> {
  for (const lease of held) await itemLeases.release(tx, { lease, dueAt: tx.now });
}
