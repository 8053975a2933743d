import { and, asc, eq, sql } from "drizzle-orm";
import type { OrderId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import type { Environment } from "../kernel/environment.ts";
import type { Waiting } from "../kernel/waiting.ts";
import type { OrderStatus } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { linesOfOrder, notFulfilled } from "./order.ts";
import { waitingOfOrder } from "./waiting-of-order.ts";

/** An order that waits for review. */
export interface HeldOrder {
  id: OrderId;
  order_number: string;
  partner: string;
  environment: Environment;
  product_sku: string;
  quantity: number;
  total_price_cents: number;
  currency: string;
  /** Why it waits, as text for people. */
  reason: string | null;
  created_at: string;
  /** The person it waits for; null: it was approved and is being delivered. */
  waiting: Waiting | null;
}

/** The last held order of the page before. */
export interface HeldAfter {
  key: number;
  id: string;
}

const held = statement((db, t, slot: Slots<HeldAfter & { limit: number }>) =>
  db
    .select({ order: t.orders, partner: t.partners.slug })
    .from(t.orders)
    .innerJoin(t.partners, eq(t.partners.id, t.orders.partner_id))
    .where(
      and(
        eq(t.orders.status, "waiting_review"),
        notFulfilled(t),
        // In the sandbox only scenarios wait, and they need no act.
        eq(t.orders.environment, "production"),
        sql`(${t.orders.created_at}, ${t.orders.id}) > (${slot.key}, ${slot.id})`,
      ),
    )
    .orderBy(asc(t.orders.created_at), asc(t.orders.id))
    .limit(slot.limit),
);

/** Orders of all partners that wait for review, oldest first. */
export async function heldOrders(
  q: Read,
  input: { limit: number; after?: HeldAfter },
): Promise<{ data: HeldOrder[]; next: HeldAfter | null }> {
  const rows = await held(q, { ...(input.after ?? { key: 0, id: "" }), limit: input.limit });
  const data: HeldOrder[] = [];
  for (const { order, partner } of rows) {
    const { id, order_number, environment, product_sku, quantity, total_cents: total_price_cents } = order;
    const { currency, reason } = order;
    const bought = { product_sku, quantity, total_price_cents, currency };
    const waiting = await waitingOfOrder(q, order, await linesOfOrder(q, id));
    const created_at = isoTime(order.created_at);
    data.push({ id, order_number, partner, environment, ...bought, reason, created_at, waiting });
  }
  const last = rows.length < input.limit ? undefined : rows.at(-1)?.order;
  return { data, next: last === undefined ? null : { key: last.created_at, id: last.id } };
}

/** SIM cards of an order that staff have to ship. */
export interface ToShip {
  order_id: OrderId;
  order_number: string;
  partner: string;
  status: OrderStatus;
  product_sku: string;
  quantity: number;
  created_at: string;
}

/** The last line of the page before. */
export interface ToShipAfter {
  order: string;
  position: number;
}

const toShip = statement((db, t, slot: Slots<ToShipAfter & { limit: number }>) =>
  db
    .select({ order: t.orders, line: t.orderLines, partner: t.partners.slug })
    .from(t.orderLines)
    .innerJoin(t.orders, eq(t.orders.id, t.orderLines.order_id))
    .innerJoin(t.partners, eq(t.partners.id, t.orders.partner_id))
    .where(
      and(
        // Must match the partial index predicate exactly. The sandbox ships its own within a second.
        sql`${t.orderLines.delivery_method} = 'shipping' and ${t.orderLines.status} = 'pending'`,
        eq(t.orders.environment, "production"),
        sql`(${t.orderLines.order_id}, ${t.orderLines.position}) > (${slot.order}, ${slot.position})`,
      ),
    )
    .orderBy(asc(t.orderLines.order_id), asc(t.orderLines.position))
    .limit(slot.limit),
);

/** Lines of SIM cards, of all partners, that were paid and not sent yet, oldest order first. */
export async function linesToShip(
  q: Read,
  input: { limit: number; after?: ToShipAfter },
): Promise<{ data: ToShip[]; next: ToShipAfter | null }> {
  const rows = await toShip(q, { ...(input.after ?? { order: "", position: 0 }), limit: input.limit });
  const data = rows.map(({ order, line, partner }) => ({
    order_id: order.id,
    order_number: order.order_number,
    partner,
    status: order.status,
    product_sku: line.product_sku,
    quantity: line.quantity,
    created_at: isoTime(order.created_at),
  }));
  const last = rows.length < input.limit ? undefined : rows.at(-1)?.line;
  return { data, next: last === undefined ? null : { order: last.order_id, position: last.position } };
}
