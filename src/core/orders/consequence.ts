import { and, eq, sql } from "drizzle-orm";
import { availableStock } from "../esims/stock.ts";
import type { EventKind } from "../events/catalog.ts";
import type { EsimId, OrderId, OrderItemId, ProductId } from "../kernel/brand.ts";
import type { DeliveryStatus } from "../store/schema/values.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { type ItemRow, itemsOfOrder } from "./items.ts";
import { type LineRow, linesOfOrder, type OrderRow, requireOrder } from "./order.ts";

/** eSIMs of one product that an order takes from the stock or gives back. */
export interface StockMove {
  sku: string;
  count: number;
  /** Listed if the order has few eSIMs; reserved eSIMs have no ICCID yet. */
  iccids: string[];
}

/** What an act on an order does beside changing its status. */
export interface Consequence {
  refund_cents: number;
  from_stock: StockMove[];
  to_stock: StockMove[];
  shipped: { sku: string; quantity: number }[];
  /** Requests that are sent to their supplier again. */
  sent_again: { item_id: OrderItemId; supplier: string }[];
  /** Events, and to how many endpoints each goes; `held` deliveries wait until their endpoint is enabled again. */
  events: { kind: EventKind; endpoints: number; held: number }[];
}

/** ICCIDs are listed for orders with at most this many eSIMs. */
const FEW = 20;

const esimsOf = statement((db, t, slot: Slots<{ order_id: OrderId }>) =>
  db
    .select({ id: t.esims.id, iccid: t.esims.iccid, product_id: t.esims.product_id })
    .from(t.esims)
    .where(eq(t.esims.order_id, slot.order_id))
    .orderBy(t.esims.id)
    .limit(FEW + 1),
);

const refunds = statement((db, t, slot: Slots<{ order_id: OrderId }>) =>
  db
    .select({ cents: sql`coalesce(sum(${t.ledgerTransactions.amount_cents}), 0)`.mapWith(Number) })
    .from(t.ledgerTransactions)
    .where(and(eq(t.ledgerTransactions.order_id, slot.order_id), eq(t.ledgerTransactions.kind, "refund"))),
);

const eventsOf = statement((db, t, slot: Slots<{ subject_id: string }>) =>
  db
    .select({ id: t.events.id, kind: t.events.kind })
    .from(t.events)
    .where(eq(t.events.subject_id, slot.subject_id))
    .orderBy(t.events.id),
);

const deliveriesOf = statement((db, t, slot: Slots<{ event_id: string }>) =>
  db.select({ status: t.deliveries.status }).from(t.deliveries).where(eq(t.deliveries.event_id, slot.event_id)),
);

type OwnEsim = { id: EsimId; iccid: string; product_id: ProductId };

/** An order and what its acts may change, at one moment, for comparison with a later one. */
export interface OrderSnapshot {
  order: OrderRow;
  lines: LineRow[];
  items: ItemRow[];
  esims: OwnEsim[];
  /** The available stock of each product of its stock lines. */
  free: Map<ProductId, number>;
  refunded: number;
  events: Set<string>;
}

/** The snapshot of an order now. Throws `not_found`. */
export async function snapshotOf(q: Read, id: OrderId): Promise<OrderSnapshot> {
  const order = await requireOrder(q, id);
  const lines = await linesOfOrder(q, id);
  const free = new Map<ProductId, number>();
  for (const { product_id, delivery_method } of lines) {
    if (delivery_method === "stock") free.set(product_id, await availableStock(q, product_id));
  }
  return {
    order,
    lines,
    items: await itemsOfOrder(q, id),
    esims: await esimsOf(q, { order_id: id }),
    free,
    refunded: first(await refunds(q, { order_id: id }))?.cents ?? 0,
    events: new Set((await eventsOf(q, { subject_id: id })).map((event) => event.id)),
  };
}

/** What has changed about an order since `before`, in the same transaction. */
export async function consequenceSince(q: Read, before: OrderSnapshot): Promise<Consequence> {
  const after = await snapshotOf(q, before.order.id);
  return {
    refund_cents: after.refunded - before.refunded,
    from_stock: stockMoves(before, after),
    to_stock: stockMoves(after, before),
    shipped: shippedSince(before, after),
    sent_again: sentAgain(before, after),
    events: await eventsSince(q, before),
  };
}

/** What is available in `more` but not in `less`; the ICCIDs are those that the order has in `less` only. */
function stockMoves(more: OrderSnapshot, less: OrderSnapshot): StockMove[] {
  const few = more.esims.length <= FEW && less.esims.length <= FEW;
  const had = new Set(more.esims.map(({ id }) => id));
  const moved = few ? less.esims.filter(({ id }) => !had.has(id)) : [];
  return [...more.free].flatMap(([product_id, available]) => {
    const count = available - (less.free.get(product_id) ?? 0);
    const sku = more.lines.find((line) => line.product_id === product_id)?.product_sku ?? "";
    const iccids = moved.filter((esim) => esim.product_id === product_id).map(({ iccid }) => iccid);
    return count > 0 ? [{ sku, count, iccids }] : [];
  });
}

function shippedSince(before: OrderSnapshot, after: OrderSnapshot): Consequence["shipped"] {
  const pending = new Set(before.lines.filter(({ shipping }) => shipping === null).map(({ id }) => id));
  return after.lines
    .filter(({ id, shipping }) => shipping !== null && pending.has(id))
    .map(({ product_sku: sku, quantity }) => ({ sku, quantity }));
}

function sentAgain(before: OrderSnapshot, after: OrderSnapshot): Consequence["sent_again"] {
  const dueBefore = new Map(before.items.map(({ id, due_at }) => [id, due_at ?? Number.POSITIVE_INFINITY]));
  return after.items
    .filter(({ id, due_at }) => due_at !== null && due_at < (dueBefore.get(id) ?? 0))
    .map(({ id: item_id, supplier }) => ({ item_id, supplier }));
}

async function eventsSince(q: Read, { order, events: known }: OrderSnapshot): Promise<Consequence["events"]> {
  const events: Consequence["events"] = [];
  for (const { id, kind } of await eventsOf(q, { subject_id: order.id })) {
    if (known.has(id)) continue;
    const sent = await deliveriesOf(q, { event_id: id });
    const many = (status: DeliveryStatus) => sent.filter((one) => one.status === status).length;
    events.push({ kind, endpoints: many("pending"), held: many("held") });
  }
  return events;
}
