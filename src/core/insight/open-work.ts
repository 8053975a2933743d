import { and, count, eq, inArray } from "drizzle-orm";
import { signedInAt } from "../accounts/sessions.ts";
import { openRequests } from "../activations/submit.ts";
import type { PartnerId } from "../kernel/brand.ts";
import { notFulfilled } from "../orders/order.ts";
import type { OrderStatus } from "../store/schema/values.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

/** What a partner has under way: orders and activation requests in production, and people in its portal. */
export interface OpenWork {
  orders: number;
  activations: number;
  /** People who are signed in to its portal. */
  people: number;
}

const unfinished: OrderStatus[] = ["pending_payment", "paid", "waiting_review"];

const openOrders = statement((db, t, slot: Slots<{ partner_id: PartnerId }>) =>
  db
    .select({ many: count() })
    .from(t.orders)
    .where(
      and(
        eq(t.orders.partner_id, slot.partner_id),
        eq(t.orders.environment, "production"),
        inArray(t.orders.status, unfinished),
        notFulfilled(t),
      ),
    ),
);

/** What a partner has under way. */
export async function openWorkOf(q: Read, partnerId: PartnerId): Promise<OpenWork> {
  return {
    orders: first(await openOrders(q, { partner_id: partnerId }))?.many ?? 0,
    activations: await openRequests(q, { partnerId, environment: "production" }),
    people: await signedInAt(q, partnerId),
  };
}
