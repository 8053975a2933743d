import { sql } from "drizzle-orm";
import type { OrderId, OrderItemId, OrderLineId } from "../../kernel/brand.ts";
import { attemptColumns, type Kit, leaseColumns, NOTHING_DUE } from "./kit.ts";
import type { ordersTables } from "./orders.ts";
import type { Memory, OrderItemStatus } from "./values.ts";

type Parents = Pick<ReturnType<typeof ordersTables>, "orders" | "orderLines">;

/**
 * What a supplier is to deliver: one unit with its traveler for scheduled products, or up to 500 units at once for
 * those whose supplier just returns eSIMs. And what was exchanged with suppliers about it.
 */
export function orderItemsTables(k: Kit, { orders, orderLines }: Parents) {
  const orderItems = k.table(
    "order_items",
    {
      id: k.text("id").$type<OrderItemId>().primaryKey(),
      order_id: k
        .text("order_id")
        .$type<OrderId>()
        .notNull()
        .references(() => orders.id),
      line_id: k
        .text("line_id")
        .$type<OrderLineId>()
        .notNull()
        .references(() => orderLines.id),
      /** Within the order, from 0. */
      position: k.int("position").notNull(),
      quantity: k.int("quantity").notNull(),
      /** Who installs it and when, a `Traveler` sealed by the vault; null for items without a traveler. */
      traveller_sealed: k.text("traveller_sealed"),
      status: k.text("status").$type<OrderItemStatus>().notNull(),
      supplier: k.text("supplier").notNull(),
      /** Where it has sources: the plan as the supplier names it, for how many days, at what cost, and why there. */
      supplier_sku: k.text("supplier_sku"),
      days: k.int("days"),
      cost: k.int("cost"),
      cost_currency: k.text("cost_currency"),
      routed: k.text("routed"),
      /** The suppliers that refused it. */
      refused_by: k.json<string[]>("refused_by"),
      /** What the adapter remembers of the purchase; null: nothing was bought or asked for yet. */
      memory: k.json<Memory>("memory"),
      confirmation_number: k.text("confirmation_number"),
      error_type: k.text("error_type"),
      error_message: k.text("error_message"),
      attempts: k.int("attempts").notNull(),
      /** When a worker should next look at it, or when its lease ends; null: nothing to do by itself. */
      due_at: k.int("due_at"),
      ...leaseColumns(k),
      /** Until when a final answer must have come. */
      deadline_at: k.int("deadline_at"),
      submitted_at: k.int("submitted_at"),
      confirmed_at: k.int("confirmed_at"),
      activated_at: k.int("activated_at"),
      cancelled_at: k.int("cancelled_at"),
      created_at: k.int("created_at").notNull(),
      updated_at: k.int("updated_at").notNull(),
    },
    (t) => [
      k.uniqueIndex("order_items_order").on(t.order_id, t.position),
      k.index("order_items_line").on(t.line_id, t.position),
      k.index("order_items_due").on(t.due_at, t.id).where(sql`due_at is not null`),
      k.index("order_items_due_supplier").on(t.supplier, t.due_at, t.id).where(sql`due_at is not null`),
      k.index("order_items_deadline").on(t.deadline_at, t.id),
      // What has ended is never sent again, whatever a command does.
      k.check("order_items_ended", sql`status in ('pending', 'submitted', 'confirmed') or ${NOTHING_DUE}`),
    ],
  );

  const itemAttempts = k.table(
    "item_attempts",
    {
      ...attemptColumns(k),
      item_id: k
        .text("item_id")
        .$type<OrderItemId>()
        .notNull()
        .references(() => orderItems.id),
      /** Whom it was with; null: it is from before the column. */
      supplier: k.text("supplier"),
    },
    (t) => [
      k.index("item_attempts_of").on(t.item_id, t.at, t.id),
      k.index("item_attempts_request").on(t.request_id, t.id).where(sql`request_id is not null`),
    ],
  );
  return { orderItems, itemAttempts };
}
