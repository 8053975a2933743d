import { and, asc, eq, sql } from "drizzle-orm";
import type { OrderId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import type { Environment } from "../kernel/environment.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

/** An order that waits for people. */
export interface HeldOrder {
  id: OrderId;
  order_number: string;
  partner: string;
  environment: Environment;
  product_sku: string;
  quantity: number;
  total_price_cents: number;
  currency: string;
  /** Why it waits, in words. */
  reason: string | null;
  created_at: string;
}

/** Where a page of held orders begins: behind this one. */
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
  const data = rows.map(({ order, partner }) => ({
    id: order.id,
    order_number: order.order_number,
    partner,
    environment: order.environment,
    product_sku: order.product_sku,
    quantity: order.quantity,
    total_price_cents: order.total_cents,
    currency: order.currency,
    reason: order.reason,
    created_at: isoTime(order.created_at),
  }));
  const last = rows.length < input.limit ? undefined : rows.at(-1)?.order;
  return { data, next: last === undefined ? null : { key: last.created_at, id: last.id } };
}
