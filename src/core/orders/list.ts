import { and, desc, eq, inArray, sql } from "drizzle-orm";
import type { OrderId } from "../kernel/brand.ts";
import { decodeCursor, encodeCursor, toPage } from "../kernel/page.ts";
import type { OrderStatus } from "../store/schema/orders.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { type LineRow, type Order, type Owner, toOrder } from "./order.ts";

/** Whose orders, which of them, from where on. */
export interface OrderFilter extends Owner {
  limit: number;
  cursor?: string | undefined;
  status?: OrderStatus | undefined;
}

/** Contract: Order list. */
export interface OrderPage {
  data: Order[];
  pagination: { has_more: boolean; next_cursor: string | null; count: number };
}

type Window = Owner & { status: OrderStatus; key: number; id: string; limit: number };

const newest = statement((db, t, slot: Slots<Window>) =>
  db
    .select()
    .from(t.orders)
    .where(
      and(
        eq(t.orders.partner_id, slot.partnerId),
        eq(t.orders.environment, slot.environment),
        sql`(${t.orders.created_at}, ${t.orders.id}) < (${slot.key}, ${slot.id})`,
      ),
    )
    .orderBy(desc(t.orders.created_at), desc(t.orders.id))
    .limit(slot.limit),
);

const newestInStatus = statement((db, t, slot: Slots<Window>) =>
  db
    .select()
    .from(t.orders)
    .where(
      and(
        eq(t.orders.partner_id, slot.partnerId),
        eq(t.orders.environment, slot.environment),
        eq(t.orders.status, slot.status),
        sql`(${t.orders.created_at}, ${t.orders.id}) < (${slot.key}, ${slot.id})`,
      ),
    )
    .orderBy(desc(t.orders.created_at), desc(t.orders.id))
    .limit(slot.limit),
);

/** A page of the caller's orders, newest first (contract: GET /orders). Throws `invalid_cursor`. */
export async function listOrders(q: Read, filter: OrderFilter): Promise<OrderPage> {
  const { limit, cursor, status, partnerId, environment } = filter;
  const binding = { list: "orders", partnerId, environment, status };
  const from =
    cursor === undefined ? { key: Number.MAX_SAFE_INTEGER, id: "" } : decodeCursor(cursor, binding, "number");
  const window = { partnerId, environment, key: Number(from.key), id: from.id, limit: limit + 1 };
  const rows =
    status === undefined
      ? // The slot of the status is not used by this one.
        await newest(q, { ...window, status: "paid" })
      : await newestInStatus(q, { ...window, status });
  const page = toPage(rows, limit, (row) => ({ key: row.created_at, id: row.id }));
  const lines = await linesOfOrders(
    q,
    page.data.map((row) => row.id),
  );
  const next_cursor = page.next === null ? null : encodeCursor(page.next, binding);
  return {
    data: page.data.map((row) => toOrder(row, lines.get(row.id) ?? [])),
    pagination: { has_more: next_cursor !== null, next_cursor, count: page.data.length },
  };
}

/** The lines of a whole page in one query. */
async function linesOfOrders(q: Read, ids: OrderId[]): Promise<Map<OrderId, LineRow[]>> {
  if (ids.length === 0) return new Map();
  const { orderLines } = q.t;
  const rows = await q.db
    .select()
    .from(orderLines)
    .where(inArray(orderLines.order_id, ids))
    .orderBy(orderLines.order_id, orderLines.position);
  return Map.groupBy(rows, (row) => row.order_id);
}
