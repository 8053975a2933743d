import { and, desc, eq, getTableColumns, gte, sql } from "drizzle-orm";
import type { OrderId, ProductId } from "../kernel/brand.ts";
import type { Owner } from "../kernel/owner.ts";
import { byCreation, newestFirst, type Window as PageWindow, type Pagination, pageOf } from "../kernel/page.ts";
import type { Tables } from "../store/schema/tables.ts";
import type { OrderStatus } from "../store/schema/values.ts";
import { isListed, listOf, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { type LineRow, notFulfilled, type Order, type OrderRow, toOrder } from "./order.ts";

/** Whose orders to list, which of them, and the page. */
export interface OrderFilter extends Owner {
  limit: number;
  cursor?: string | undefined;
  status?: OrderStatus | undefined;
  /** Orders with a line of this product. */
  productId?: ProductId | undefined;
  /** Orders with this id of the partner's own. */
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
  externalOrderId: string;
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

/** Orders by the partner's own id: a bulk order has it alone, single orders may share one. */
function byExternalId(inStatus: boolean, ofProduct: boolean) {
  return statement((db, t, slot: Slots<Window>) => {
    const { orders, orderLines: lines } = t;
    const ofIt = sql`exists (select 1 from ${lines} where ${lines.order_id} = ${orders.id}
      and ${lines.product_id} = ${slot.productId})`;
    return db
      .select()
      .from(orders)
      .where(
        and(
          eq(orders.partner_id, slot.partnerId),
          eq(orders.environment, slot.environment),
          eq(orders.external_order_id, slot.externalOrderId),
          sql`external_order_id is not null`,
          inStatus ? eq(orders.status, slot.status) : undefined,
          ofProduct ? ofIt : undefined,
          gte(orders.created_at, slot.since),
          sql`(${orders.created_at}, ${orders.id}) < (${slot.key}, ${slot.id})`,
        ),
      )
      .orderBy(...newestOrders(t))
      .limit(slot.limit);
  });
}

const external = {
  all: byExternalId(false, false),
  inStatus: byExternalId(true, false),
  ofProduct: byExternalId(false, true),
  ofProductInStatus: byExternalId(true, true),
};

const lists = {
  all: byOwner("all"),
  fulfilled: byOwner("fulfilled"),
  rest: byOwner("rest"),
  product: byProduct(false),
  productInStatus: byProduct(true),
};

/** A page of the caller's orders, newest first (contract: GET /orders). Throws `invalid_cursor`. */
export async function listOrders(q: Read, filter: OrderFilter): Promise<OrderPage> {
  const { rows, pagination } = await pageFrom(filter, (window) => found(q, filter, window));
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
  const { partnerId, environment, status, productId, externalOrderId, createdAfter: since = 0 } = filter;
  const window = { ...from, partnerId, environment, since };
  // The chosen list uses only some of the slots.
  return listFor(filter)(q, { ...window, status, productId, externalOrderId } as Window);
}

function listFor({ status, productId, externalOrderId }: OrderFilter) {
  const inStatus = status !== undefined;
  if (externalOrderId !== undefined) {
    if (productId === undefined) return external[inStatus ? "inStatus" : "all"];
    return external[inStatus ? "ofProductInStatus" : "ofProduct"];
  }
  return productId === undefined ? lists[partOf(status)] : lists[inStatus ? "productInStatus" : "product"];
}

const linesOfIds = statement((db, t, slot: Slots<{ ids: string }>, dialect) =>
  db
    .select()
    .from(t.orderLines)
    .where(isListed(dialect, t.orderLines.order_id, slot.ids))
    .orderBy(t.orderLines.order_id, t.orderLines.position),
);

/** The lines of a whole page in one query. */
export async function linesOfOrders(q: Read, ids: OrderId[]): Promise<Map<OrderId, LineRow[]>> {
  if (ids.length === 0) return new Map();
  return Map.groupBy(await linesOfIds(q, { ids: listOf(ids) }), (row) => row.order_id);
}
