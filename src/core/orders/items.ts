import { eq } from "drizzle-orm";
import type { OrderId, OrderItemId } from "../kernel/brand.ts";
import { startOfCivilDate } from "../kernel/civil-date.ts";
import { emailKey } from "../kernel/email-key.ts";
import { newId } from "../kernel/ids.ts";
import { notFound } from "../kernel/problem.ts";
import { assertMove, type Transitions } from "../kernel/state-machine.ts";
import { insertRow } from "../store/rows.ts";
import type { Traveller } from "../store/schema/order-items.ts";
import type { OrderItemStatus } from "../store/schema/orders.ts";
import type { Row } from "../store/schema/tables.ts";
import { first, type Slots, statement } from "../store/statement.ts";
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

export const orderItemStatuses = [
  "pending",
  "submitted",
  "confirmed",
  "activated",
  "failed",
  "cancelled",
] as const satisfies OrderItemStatus[];

/** Units that one request to a supplier asks for at most. */
const UNITS_PER_REQUEST = 500;

/** Writes what suppliers are to deliver: travellers' units one by one, others in lots. Stock and shipping have none. */
export async function insertItems(tx: Tx, order: OrderRow, lines: LineRow[], travellers: Traveller[][]): Promise<void> {
  let position = 0;
  for (const [index, line] of lines.entries()) {
    const lots = isScheduled(line.delivery_method)
      ? (travellers[index] ?? []).map((traveller) => ({ traveller, quantity: 1 }))
      : line.delivery_method === "supplier_api"
        ? lotsOf(line.quantity)
        : [];
    for (const { traveller, quantity } of lots) {
      await insertRow(tx, "orderItems", {
        id: newId<OrderItemId>(tx),
        order_id: order.id,
        line_id: line.id,
        position: position++,
        quantity,
        traveller,
        email_key: emailKey(traveller?.customer_email),
        status: "pending",
        supplier: line.supplier ?? "",
        attempts: 0,
        lease_no: 0,
        // The sandbox reaches no supplier: its worker is the fulfilment's.
        due_at: order.environment === "sandbox" ? null : dueAt(tx.now, traveller),
        created_at: tx.now,
        updated_at: tx.now,
      });
    }
  }
}

function lotsOf(quantity: number): { traveller: null; quantity: number }[] {
  const lots = Math.ceil(quantity / UNITS_PER_REQUEST);
  return Array.from({ length: lots }, (_, lot) => ({
    traveller: null,
    quantity: Math.min(UNITS_PER_REQUEST, quantity - lot * UNITS_PER_REQUEST),
  }));
}

/** As soon as it is the activation date in the traveller's time zone; at once where there is no traveller. */
function dueAt(now: number, traveller: Traveller | null): number {
  if (traveller === null) return now;
  return Math.max(now, startOfCivilDate(traveller.activation_date, traveller.timezone));
}

const ofOrder = statement((db, t, slot: Slots<{ order_id: OrderId }>) =>
  db.select().from(t.orderItems).where(eq(t.orderItems.order_id, slot.order_id)).orderBy(t.orderItems.position),
);

const byId = statement((db, t, slot: Slots<{ id: OrderItemId }>) =>
  db.select().from(t.orderItems).where(eq(t.orderItems.id, slot.id)),
);

/** An order's items, in their order. */
export function itemsOfOrder(q: Read, orderId: OrderId): Promise<ItemRow[]> {
  return ofOrder(q, { order_id: orderId });
}

/** The item with this id, or null. */
export async function findItem(q: Read, id: string): Promise<ItemRow | null> {
  // Any text may be asked for; only an item's id finds one.
  return first(await byId(q, { id: id as OrderItemId }));
}

/** The item with this id. Throws `not_found`. */
export async function requireItem(q: Read, id: string): Promise<ItemRow> {
  const row = await findItem(q, id);
  if (row === null) throw notFound("order_item");
  return row;
}

/** What may change about an item. */
type Progress = Pick<
  ItemRow,
  | "status"
  | "confirmation_number"
  | "error_type"
  | "error_message"
  | "attempts"
  | "due_at"
  | "leased_until"
  | "deadline_at"
  | "submitted_at"
  | "confirmed_at"
  | "activated_at"
  | "cancelled_at"
>;

const write = statement((db, t, slot: Slots<Progress & { id: OrderItemId; updated_at: number }>) =>
  db
    .update(t.orderItems)
    .set({
      status: slot.status,
      confirmation_number: slot.confirmation_number,
      error_type: slot.error_type,
      error_message: slot.error_message,
      attempts: slot.attempts,
      due_at: slot.due_at,
      leased_until: slot.leased_until,
      deadline_at: slot.deadline_at,
      submitted_at: slot.submitted_at,
      confirmed_at: slot.confirmed_at,
      activated_at: slot.activated_at,
      cancelled_at: slot.cancelled_at,
      updated_at: slot.updated_at,
    })
    .where(eq(t.orderItems.id, slot.id)),
);

/** Writes what changed; a status only moves as the transition table allows. Answers the new row. */
export async function progressItem(tx: Tx, row: ItemRow, change: Partial<Progress>): Promise<ItemRow> {
  if (change.status !== undefined && change.status !== row.status) {
    assertMove(orderItemTransitions, row.status, change.status);
  }
  const next = { ...row, ...change, updated_at: tx.now };
  await write(tx, next);
  return next;
}
