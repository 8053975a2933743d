import { eq } from "drizzle-orm";
import type { OrderId, OrderItemId } from "../kernel/brand.ts";
import { startOfCivilDate } from "../kernel/civil-date.ts";
import { newId } from "../kernel/ids.ts";
import { notFound } from "../kernel/problem.ts";
import { assertMove, type Transitions } from "../kernel/state-machine.ts";
import { findByKey, insert, updateRow } from "../store/rows.ts";
import type { NewRow, Row } from "../store/schema/tables.ts";
import type { OrderItemStatus, Traveler } from "../store/schema/values.ts";
import { type IndexEntry, indexRecords, keysOfTraveler, sealedTraveler } from "../store/sealing/people.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { isScheduled } from "./activation-requests.ts";
import type { LineRow, OrderRow } from "./order.ts";

export type ItemRow = Row<"orderItems">;

/** Contract: order-item activation status. The operator may complete or fail an item at any point before its end. */
export const orderItemTransitions: Transitions<OrderItemStatus> = {
  pending: ["submitted", "confirmed", "activated", "failed", "cancelled"],
  submitted: ["confirmed", "activated", "failed", "cancelled"],
  confirmed: ["activated", "failed", "cancelled"],
  activated: [],
  failed: [],
  cancelled: [],
};

/** Units that one request to a supplier asks for at most. The sandbox sends none: its lines are one item each. */
const UNITS_PER_REQUEST = 500;

/** A line with what its items depend on. */
interface ItemizedLine {
  line: LineRow;
  travelers: Traveler[];
  /** Whether each unit is bought by itself, from whichever source. */
  sourced: boolean;
}

/**
 * Writes what suppliers are to deliver: travelers' units and those of products with sources one by one, others in lots.
 * Stock and shipping have none.
 */
export async function insertItems(tx: Tx, order: OrderRow, lines: readonly ItemizedLine[]): Promise<void> {
  let position = 0;
  const rows: NewRow<"orderItems">[] = [];
  const entries: IndexEntry[] = [];
  for (const { line, travelers, sourced } of lines) {
    const most = order.environment === "sandbox" ? line.quantity : sourced ? 1 : UNITS_PER_REQUEST;
    const lots = isScheduled(line.delivery_method)
      ? travelers.map((traveler) => ({ traveler, quantity: 1 }))
      : line.delivery_method === "supplier_api"
        ? lotsOf(line.quantity, most)
        : [];
    for (const { traveler, quantity } of lots) {
      const id = newId<OrderItemId>(tx);
      rows.push({
        id,
        order_id: order.id,
        line_id: line.id,
        position: position++,
        quantity,
        traveller_sealed: traveler === null ? null : sealedTraveler.seal(tx, id, traveler),
        status: "pending",
        supplier: line.supplier ?? "",
        attempts: 0,
        lease_no: 0,
        // The sandbox reaches no supplier: fulfillment activates its items.
        due_at: order.environment === "sandbox" ? null : dueAt(tx.now, traveler),
        created_at: order.created_at,
        updated_at: order.created_at,
      });
      const record = { kind: "order_item", id } as const;
      if (traveler !== null) entries.push({ scope: order, record, keys: keysOfTraveler(traveler) });
    }
  }
  await insert(tx, "orderItems", rows);
  await indexRecords(tx, entries);
}

function lotsOf(quantity: number, most: number): { traveler: null; quantity: number }[] {
  return Array.from({ length: Math.ceil(quantity / most) }, (_, lot) => ({
    traveler: null,
    quantity: Math.min(most, quantity - lot * most),
  }));
}

/** As soon as it is the activation date in the traveler's time zone; at once where there is no traveler. */
function dueAt(now: number, traveler: Traveler | null): number {
  if (traveler === null) return now;
  return Math.max(now, startOfCivilDate(traveler.activation_date, traveler.timezone));
}

const ofOrder = statement((db, t, slot: Slots<{ order_id: OrderId }>) =>
  db.select().from(t.orderItems).where(eq(t.orderItems.order_id, slot.order_id)).orderBy(t.orderItems.position),
);

/** An order's items, in their order. */
export function itemsOfOrder(q: Read, orderId: OrderId): Promise<ItemRow[]> {
  return ofOrder(q, { order_id: orderId });
}

/** The item with this id, or null. */
export function findItem(q: Read, id: string): Promise<ItemRow | null> {
  // Callers may pass any text; only the id of an item finds one.
  return findByKey(q, "orderItems", { id: id as OrderItemId });
}

/** The item with this id. Throws `not_found`. */
export async function requireItem(q: Read, id: string): Promise<ItemRow> {
  const row = await findItem(q, id);
  if (row === null) throw notFound("order_item");
  return row;
}

/** The line that an item is a part of. */
export async function lineOfItem(q: Read, item: ItemRow): Promise<LineRow> {
  const line = await findByKey(q, "orderLines", { id: item.line_id });
  if (line === null) throw new Error("an order item without its line");
  return line;
}

/** Writes what changed; a status only moves as the transition table allows. Returns the new row. */
export async function progressItem(tx: Tx, row: ItemRow, change: Partial<ItemRow>): Promise<ItemRow> {
  if (change.status !== undefined && change.status !== row.status) {
    assertMove(orderItemTransitions, row.status, change.status);
  }
  const changed = { ...change, updated_at: tx.now };
  await updateRow(tx, "orderItems", { id: row.id }, changed);
  return { ...row, ...changed };
}

/** What a unit costs where it is bought; where its product has no sources, what the product cost as it was ordered. */
export function costAt(item: ItemRow, line: LineRow): Pick<ItemRow, "cost" | "cost_currency"> {
  return item.supplier_sku === null && item.cost === null ? line : item;
}

/** Whether the item has not ended and no worker will claim it again. */
export function isStuck(item: ItemRow): boolean {
  const ended = item.status === "activated" || item.status === "failed" || item.status === "cancelled";
  return !ended && item.due_at === null && item.deadline_at === null;
}

/** Whether a worker claims the item again only after a delay, since it failed before. */
export function isBackedOff(item: ItemRow, now: number): boolean {
  return item.attempts > 0 && item.leased_until === null && item.due_at !== null && item.due_at > now;
}

/** Makes an item due at once, with its attempts counted from zero. */
export function sendAgain(tx: Tx, item: ItemRow): Promise<ItemRow> {
  return progressItem(tx, item, { attempts: 0, due_at: tx.now, leased_until: null, deadline_at: null });
}
