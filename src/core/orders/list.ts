import { and, desc, eq, getTableColumns, gte, sql } from "drizzle-orm";
import type { OrderId, ProductId } from "../kernel/brand.ts";
import type { Owner } from "../kernel/owner.ts";
import { byCreation, newestFirst, type Window as PageWindow, type Pagination, pageOf } from "../kernel/page.ts";
import { isListed, listOf } from "../store/rows.ts";
import type { Tables } from "../store/schema/tables.ts";
import type { OrderStatus } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { orderOfKey } from "./idempotency.ts";
import { type LineRow, linesOfOrder, notFulfilled, type Order, type OrderRow, requireOrder, toOrder } from "./order.ts";

/** Whose orders to list, which of them, and the page. */
export interface OrderFilter extends Owner {
  limit: number;
  cursor?: string | undefined;
  status?: OrderStatus | undefined;
  /** Orders with a line of this product. */
  productId?: ProductId | undefined;
  /** The order that a bulk request placed under this id. */
  externalOrderId?: string | undefined;
  /** Orders created at this moment (ms) or later. */
  createdAfter?: number | undefined;
  /** Orders created before this moment (ms). */
  createdBefore?: number | undefined;
}

/** Contract: Order list. */
export interface OrderPage {
  data: Order[];
  pagination: Pagination;
}

interface Window extends Owner {
  status: OrderStatus;
  productId: ProductId;
  since: number;
  key: number;
  id: string;
  limit: number;
}

/** By which of its indexes an owner's orders are read: of all, of all but only the fulfilled ones, of the others. */
type Part = "all" | "fulfilled" | "rest";

function ofOwner(t: Tables, slot: Slots<Window>, part: Part) {
  const { orders } = t;
  return and(
    eq(orders.partner_id, slot.partnerId),
    eq(orders.environment, slot.environment),
    part === "all" ? undefined : eq(orders.status, slot.status),
    part === "rest" ? notFulfilled(t) : undefined,
    gte(orders.created_at, slot.since),
    sql`(${orders.created_at}, ${orders.id}) < (${slot.key}, ${slot.id})`,
  );
}

function partOf(status: OrderStatus | undefined): Part {
  if (status === undefined) return "all";
  return status === "fulfilled" ? "fulfilled" : "rest";
}

function newestOrders({ orders }: Tables) {
  return [desc(orders.created_at), desc(orders.id)];
}

function byOwner(part: Part) {
  return statement((db, t, slot: Slots<Window>) =>
    db
      .select()
      .from(t.orders)
      .where(ofOwner(t, slot, part))
      .orderBy(...newestOrders(t))
      .limit(slot.limit),
  );
}

/** Orders by the index of their lines' products; of several lines of one product only the first counts. */
function byProduct(inStatus: boolean) {
  return statement((db, t, slot: Slots<Window>) => {
    const { orders, orderLines: lines } = t;
    return db
      .select(getTableColumns(orders))
      .from(lines)
      .innerJoin(orders, eq(orders.id, lines.order_id))
      .where(
        and(
          eq(lines.partner_id, slot.partnerId),
          eq(lines.environment, slot.environment),
          eq(lines.product_id, slot.productId),
          inStatus ? eq(orders.status, slot.status) : undefined,
          gte(lines.created_at, slot.since),
          sql`(${lines.created_at}, ${lines.order_id}) < (${slot.key}, ${slot.id})`,
          sql`not exists (select 1 from ${lines} as earlier where earlier.order_id = ${lines.order_id}
            and earlier.product_id = ${lines.product_id} and earlier.position < ${lines.position})`,
        ),
      )
      .orderBy(desc(lines.created_at), desc(lines.order_id))
      .limit(slot.limit);
  });
}

const lists = {
  all: byOwner("all"),
  fulfilled: byOwner("fulfilled"),
  rest: byOwner("rest"),
  product: byProduct(false),
  productInStatus: byProduct(true),
};

/** A page of the caller's orders, newest first (contract: GET /orders). Throws `invalid_cursor`. */
export async function listOrders(q: Read, filter: OrderFilter): Promise<OrderPage> {
  const { rows, pagination } = await pageFrom(filter, (window) =>
    filter.externalOrderId === undefined ? found(q, filter, window) : named(q, filter, window),
  );
  return { data: await recordsOf(q, rows), pagination };
}

function pageFrom<R extends { created_at: number; id: string }>(
  filter: OrderFilter,
  read: (window: PageWindow<number>) => Promise<R[]>,
) {
  const { limit, cursor, ...filters } = filter;
  // No id is less than "": the first page starts below all orders of that moment.
  const start = { ...newestFirst, ...(filter.createdBefore === undefined ? {} : { key: filter.createdBefore }) };
  return pageOf({ limit, cursor, binding: { list: "orders", ...filters }, start }, read, byCreation);
}

async function recordsOf(q: Read, rows: OrderRow[]): Promise<Order[]> {
  const ids = rows.map((row) => row.id);
  const lines = await linesOfOrders(q, ids);
  return rows.map((row) => toOrder(q, row, lines.get(row.id) ?? []));
}

function found(q: Read, filter: OrderFilter, from: PageWindow<number>): Promise<OrderRow[]> {
  const { partnerId, environment, status, productId, createdAfter: since = 0 } = filter;
  const list =
    productId === undefined ? lists[partOf(status)] : lists[status === undefined ? "product" : "productInStatus"];
  const window = { ...from, partnerId, environment, since };
  // The chosen list uses only some of the slots.
  return list(q, { ...window, status, productId } as Window);
}

/** The order with this external_order_id, if it passes the other filters: the id is the key of its order. */
async function named(q: Read, filter: OrderFilter, from: PageWindow<number>): Promise<OrderRow[]> {
  const { partnerId: partner_id, environment, externalOrderId: key = "" } = filter;
  const known = await orderOfKey(q, { partner_id, environment, space: "bulk", key });
  if (known === null) return [];
  const row = await requireOrder(q, known.order_id);
  const { status = row.status, productId, createdAfter: since = 0 } = filter;
  const before = row.created_at < from.key || (row.created_at === from.key && row.id < from.id);
  if (row.status !== status || row.created_at < since || !before) return [];
  if (productId === undefined) return [row];
  const lines = await linesOfOrder(q, row.id);
  return lines.some((line) => line.product_id === productId) ? [row] : [];
}

const linesOfIds = statement((db, t, slot: Slots<{ ids: string }>) =>
  db
    .select()
    .from(t.orderLines)
    .where(isListed(t, t.orderLines.order_id, slot.ids))
    .orderBy(t.orderLines.order_id, t.orderLines.position),
);

/** The lines of a whole page in one query. */
export async function linesOfOrders(q: Read, ids: OrderId[]): Promise<Map<OrderId, LineRow[]>> {
  if (ids.length === 0) return new Map();
  return Map.groupBy(await linesOfIds(q, { ids: listOf(ids) }), (row) => row.order_id);
}
