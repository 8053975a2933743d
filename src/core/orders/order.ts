import { eq } from "drizzle-orm";
import type { OrderId, OrderLineId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import type { Owner } from "../kernel/owner.ts";
import { notFound } from "../kernel/problem.ts";
import { assertMove } from "../kernel/state-machine.ts";
import type { OrderLineStatus, OrderStatus, Shipping } from "../store/schema/orders.ts";
import type { Row } from "../store/schema/tables.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read, Tx } from "../store/store.ts";
import { orderLineTransitions, orderTransitions } from "./order-states.ts";

export type OrderRow = Row<"orders">;
export type LineRow = Row<"orderLines">;

const byId = statement((db, t, slot: Slots<{ id: OrderId }>) =>
  db.select().from(t.orders).where(eq(t.orders.id, slot.id)),
);

const linesOf = statement((db, t, slot: Slots<{ order_id: OrderId }>) =>
  db.select().from(t.orderLines).where(eq(t.orderLines.order_id, slot.order_id)).orderBy(t.orderLines.position),
);

/** The order's row, whoever's it is. Throws `not_found`. */
export async function requireOrder(q: Read, id: OrderId): Promise<OrderRow> {
  const row = first(await byId(q, { id }));
  if (row === null) throw notFound("order");
  return row;
}

/** The order's row, if it is `owner`'s. Throws `not_found` otherwise, whether it exists or not. */
export async function requireOwnOrder(q: Read, owner: Owner, id: OrderId): Promise<OrderRow> {
  const row = await requireOrder(q, id);
  if (row.partner_id !== owner.partnerId || row.environment !== owner.environment) throw notFound("order");
  return row;
}

/** An order's lines in their order. */
export function linesOfOrder(q: Read, orderId: OrderId): Promise<LineRow[]> {
  return linesOf(q, { order_id: orderId });
}

/** What every answer about an order says beyond the contract: the partner's own names in it, and what was refunded. */
export function orderFacts({ external_order_id, customer, refunded_cents }: OrderRow) {
  return { external_order_id, customer, refunded_cents };
}

/** The Order record (contract: Order), as create and list answer it. */
export function toOrder(row: OrderRow, lines: LineRow[]) {
  const { id, order_number, partner_id, product_id, product_sku, quantity, unit_price_cents, currency, status } = row;
  return {
    id,
    order_number,
    partner_id,
    product_id,
    product_sku,
    quantity,
    unit_price_cents,
    total_price_cents: row.total_cents,
    total_amount_cents: row.total_cents,
    currency,
    status,
    ...orderFacts(row),
    line_items: lines.map((line) => ({
      product_id: line.product_id,
      product_sku: line.product_sku,
      quantity: line.quantity,
      unit_price_cents: line.unit_price_cents,
    })),
    metadata: row.metadata,
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
  };
}

export type Order = ReturnType<typeof toOrder>;

/** What may change about an order after its creation. */
export interface OrderProgress {
  status: OrderStatus;
  reason: string | null;
  due_at: number | null;
  leased_until: number | null;
  reserved: boolean;
  fulfilled_at: number | null;
  cancelled_at: number | null;
}

const writeProgress = statement((db, t, slot: Slots<OrderProgress & { id: OrderId; now: number }>) =>
  db
    .update(t.orders)
    .set({
      status: slot.status,
      reason: slot.reason,
      due_at: slot.due_at,
      leased_until: slot.leased_until,
      reserved: slot.reserved,
      fulfilled_at: slot.fulfilled_at,
      cancelled_at: slot.cancelled_at,
      updated_at: slot.now,
    })
    .where(eq(t.orders.id, slot.id)),
);

/** Writes what changed; a status only moves as the transition table allows. Answers the new row. */
export async function progressOrder(tx: Tx, row: OrderRow, change: Partial<OrderProgress>): Promise<OrderRow> {
  if (change.status !== undefined && change.status !== row.status) {
    assertMove(orderTransitions, row.status, change.status);
  }
  const next = { ...row, ...change };
  const { status, reason, due_at, leased_until, reserved, fulfilled_at, cancelled_at } = next;
  const progress = { status, reason, due_at, leased_until, reserved, fulfilled_at, cancelled_at };
  await writeProgress(tx, { ...progress, id: row.id, now: tx.now });
  return { ...next, updated_at: tx.now };
}

interface LineProgress {
  status: OrderLineStatus;
  assigned: number;
  shipping: Shipping | null;
}

const writeLine = statement((db, t, slot: Slots<LineProgress & { id: OrderLineId }>) =>
  db
    .update(t.orderLines)
    .set({ status: slot.status, assigned: slot.assigned, shipping: slot.shipping })
    .where(eq(t.orderLines.id, slot.id)),
);

/** The same for a line. */
export async function progressLine(tx: Tx, line: LineRow, change: Partial<LineProgress>): Promise<LineRow> {
  if (change.status !== undefined && change.status !== line.status) {
    assertMove(orderLineTransitions, line.status, change.status);
  }
  const next = { ...line, ...change };
  await writeLine(tx, { id: line.id, status: next.status, assigned: next.assigned, shipping: next.shipping });
  return next;
}

const numberTaken = statement((db, t, slot: Slots<{ order_number: string }>) =>
  db.select({ id: t.orders.id }).from(t.orders).where(eq(t.orders.order_number, slot.order_number)),
);

/** The id of the order with this number, whoever's it is; null: there is none. */
export async function orderIdByNumber(q: Read, number: string): Promise<OrderId | null> {
  return first(await numberTaken(q, { order_number: number.toUpperCase() }))?.id ?? null;
}

/** Looks an order up by id or order number, for the operator. Throws `not_found`. */
export async function findOrderId(q: Read, idOrNumber: string): Promise<OrderId> {
  const byNumber = await orderIdByNumber(q, idOrNumber);
  if (byNumber !== null) return byNumber;
  // Not a number of an order: then it is taken for an id, and must be one.
  return (await requireOrder(q, idOrNumber as OrderId)).id;
}

/** Whether an order has this number already. */
export async function orderNumberTaken(q: Read, order_number: string): Promise<boolean> {
  return (await numberTaken(q, { order_number })).length > 0;
}
