import { and, desc, eq, getTableColumns, gt, sql } from "drizzle-orm";
import type { EsimId, OrderId, ProductId } from "../kernel/brand.ts";
import type { Owner } from "../kernel/owner.ts";
import type { Window } from "../kernel/page.ts";
import { findByKey } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { EsimStatus } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { esimPage } from "./esim.ts";
import type { OwnEsim } from "./list-stock-esims.ts";

/** Whose eSIMs to read, order by order. */
interface OfOrders extends Owner {
  orderId?: OrderId | undefined;
  productId?: ProductId | undefined;
  status?: EsimStatus | undefined;
}

interface Slot extends Owner {
  productId: ProductId;
  key: number;
  id: string;
  limit: number;
}

/** Orders of the sandbox have all their eSIMs when they are fulfilled, and none before. */
const fulfilled = statement((db, t, slot: Slots<Slot>) =>
  db
    .select()
    .from(t.orders)
    .where(
      and(
        eq(t.orders.partner_id, slot.partnerId),
        eq(t.orders.environment, slot.environment),
        eq(t.orders.status, "fulfilled"),
        sql`(${t.orders.created_at}, ${t.orders.id}) < (${slot.key}, ${slot.id})`,
      ),
    )
    .orderBy(desc(t.orders.created_at), desc(t.orders.id))
    .limit(slot.limit),
);

/** Orders with a delivered line of a product; of several such lines only the first counts. */
const ofProduct = statement((db, t, slot: Slots<Slot>) => {
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
        eq(lines.status, "fulfilled"),
        sql`(${lines.created_at}, ${lines.order_id}) < (${slot.key}, ${slot.id})`,
        sql`not exists (select 1 from ${lines} as earlier where earlier.order_id = ${lines.order_id}
          and earlier.product_id = ${lines.product_id} and earlier.status = 'fulfilled'
          and earlier.position < ${lines.position})`,
      ),
    )
    .orderBy(desc(lines.created_at), desc(lines.order_id))
    .limit(slot.limit);
});

const delivered = statement((db, t, slot: Slots<{ order_id: OrderId }>) =>
  db
    .select()
    .from(t.orderLines)
    .where(
      and(eq(t.orderLines.order_id, slot.order_id), eq(t.orderLines.status, "fulfilled"), gt(t.orderLines.assigned, 0)),
    )
    .orderBy(t.orderLines.position),
);

type OrderRow = Row<"orders">;

/** Where a page ends within its order. */
interface Place {
  order: string;
  /** Position of the line. */
  line: number;
  esim: string;
}

/** The place of an eSIM as a cursor holds it. */
export function placeOf({ order, line, esim }: OwnEsim): string {
  return `${order.id}/${line.position}/${esim.id}`;
}

function readPlace(text: string): Place {
  const [order = "", line = "", esim = ""] = text.split("/");
  return { order, line: Number(line), esim };
}

/** Orders in one look, so that a page of small orders takes one or two. */
const STRIDE = 101;

/**
 * Delivered eSIMs through their orders, the newest order first: computed ones are read as rows are. Each order on the
 * way has some, but where the sandbox sold SIM cards alone.
 */
export async function ownOfOrders(q: Read, asked: OfOrders, window: Window<number>): Promise<OwnEsim[]> {
  const { limit } = window;
  const place = readPlace(window.id);
  const rows: OwnEsim[] = [];
  const begun = await ownOrder(q, asked, window.first ? (asked.orderId ?? "") : place.order);
  if (begun !== null) rows.push(...(await ofOrder(q, begun, asked, { limit, place: window.first ? null : place })));
  if (asked.orderId !== undefined) return rows;
  const list = asked.productId === undefined ? fulfilled : ofProduct;
  let at = { key: window.key, id: place.order };
  while (rows.length < limit) {
    const { partnerId, environment, productId } = asked;
    // The list of all products has no slot for one.
    const slots = { partnerId, environment, productId: productId ?? ("" as ProductId), ...at, limit: STRIDE };
    const orders: OrderRow[] = await list(q, slots);
    for (const order of orders) {
      if (rows.length >= limit) break;
      rows.push(...(await ofOrder(q, order, asked, { limit: limit - rows.length, place: null })));
      at = { key: order.created_at, id: order.id };
    }
    if (orders.length < STRIDE) break;
  }
  return rows;
}

/** The order with this id if it is the owner's; a cursor may name any. */
async function ownOrder(q: Read, { partnerId, environment }: Owner, id: string): Promise<OrderRow | null> {
  // Any text may come in: only the id of an order finds one.
  const order = await findByKey(q, "orders", { id: id as OrderId });
  return order?.partner_id === partnerId && order.environment === environment ? order : null;
}

/** Some delivered eSIMs of an order, line by line, those after `place`. */
async function ofOrder(
  q: Read,
  order: OrderRow,
  { productId, status }: OfOrders,
  { limit, place }: { limit: number; place: Place | null },
): Promise<OwnEsim[]> {
  const rows: OwnEsim[] = [];
  for (const line of await delivered(q, { order_id: order.id })) {
    if (productId !== undefined && line.product_id !== productId) continue;
    if (place !== null && line.position < place.line) continue;
    // Ids of a cursor are those of eSIMs; another text finds none.
    let after = place?.line === line.position ? (place.esim as EsimId) : null;
    while (rows.length < limit) {
      const some = await esimPage(q, order, { after, limit, line: line.id });
      const fitting = some.filter(({ esim }) => status === undefined || esim.status === status);
      rows.push(...fitting.map((found) => ({ ...found, product_sku: line.product_sku, order, line })));
      after = some.at(-1)?.esim.id ?? null;
      if (some.length < limit) break;
    }
  }
  return rows.slice(0, limit);
}
