import { count, eq, min, sql } from "drizzle-orm";
import type { OrderId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import type { Waiting } from "../kernel/waiting.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import type { LineRow, OrderRow } from "./order.ts";

// A worker looks at it again, or its answer is awaited.
const stuck = sql<number>`case when due_at is null and deadline_at is null then 1 else 0 end`.mapWith(Number);

const groups = statement((db, t, slot: Slots<{ order_id: OrderId }>) =>
  db
    .select({
      line_id: t.orderItems.line_id,
      status: t.orderItems.status,
      stuck,
      many: count(),
      submitted_at: min(t.orderItems.submitted_at),
    })
    .from(t.orderItems)
    .where(eq(t.orderItems.order_id, slot.order_id))
    .groupBy(t.orderItems.line_id, t.orderItems.status, stuck),
);

/** The person whom an order waits for and since when, on this snapshot; null: it has ended, or goes on by itself. */
export async function waitingOfOrder(q: Read, order: OrderRow, lines: readonly LineRow[]): Promise<Waiting | null> {
  if (order.environment === "sandbox" || (order.status !== "paid" && order.status !== "waiting_review")) return null;
  const items = await groups(q, { order_id: order.id });
  if (order.status === "waiting_review" && order.due_at === null) return inReview(order, lines, items);
  const open = lines.filter((line) => line.status === "pending");
  if (open.some((line) => line.delivery_method === "shipping")) {
    return { for: "operator", act: "ship", on: "shipping", since: isoTime(order.created_at) };
  }
  const byMail = new Set(open.flatMap((line) => (line.delivery_method === "supplier_email" ? [line.id] : [])));
  const sent = items.filter(({ line_id, status }) => byMail.has(line_id) && isSent(status));
  if (sent.length === 0) return null;
  const since = Math.min(...sent.map(({ submitted_at }) => submitted_at ?? order.created_at));
  return { for: "supplier", act: "complete", on: "supplier", since: isoTime(since) };
}

type Groups = Awaited<ReturnType<typeof groups>>;

/** Nothing of an order changes while it waits in review: its last change is when that began. */
function inReview(order: OrderRow, lines: readonly LineRow[], items: Groups): Waiting {
  const waiting = { for: "operator", since: isoTime(order.updated_at) } as const;
  const short = !order.reserved && lines.some((line) => line.delivery_method === "stock" && line.status === "pending");
  if (short) return { ...waiting, act: "approve", on: "stock" };
  const isStuck = items.some((group) => group.stuck === 1 && (group.status === "pending" || isSent(group.status)));
  return isStuck ? { ...waiting, act: "retry", on: "supplier" } : { ...waiting, act: "cancel", on: "review" };
}

function isSent(status: Groups[number]["status"]): boolean {
  return status === "submitted" || status === "confirmed";
}
