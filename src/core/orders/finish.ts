import { changesOf } from "../audit/changes.ts";
import { recordAudit } from "../audit/record.ts";
import type { NewEvent } from "../events/catalog.ts";
import { isoTime } from "../kernel/clock.ts";
import { recordEvent, recordEvents } from "../outbox/record.ts";
import { nowOf } from "../platform/sandbox-clock.ts";
import type { Tx } from "../store/store.ts";
import type { WholeOrder } from "./delivered.ts";
import { type LineRow, linesOfOrder, type OrderRow } from "./order.ts";
import { progressOrder } from "./progress.ts";
import { withdrawUndelivered } from "./withdraw.ts";

/** Ends an order as fulfilled, with its events (contract: order.fulfilled; esims.ready). */
export async function finishOrder(tx: Tx, order: OrderRow, lines: LineRow[]): Promise<OrderRow> {
  const finished = await progressOrder(tx, order, {
    status: "fulfilled",
    reason: null,
    due_at: null,
    leased_until: null,
    fulfilled_at: await nowOf(tx, order),
  });
  await recordEvents(tx, audienceOf(finished), eventsOfFinishing(finished, lines));
  return finished;
}

/** The events of an order that has just been fulfilled (contract: order.fulfilled; esims.ready). */
export function eventsOfFinishing(order: OrderRow, lines: LineRow[]): NewEvent[] {
  const { id, order_number, external_order_id, fulfilled_at } = order;
  if (fulfilled_at === null) throw new Error("an order that is not fulfilled");
  const ended = { status: "fulfilled", fulfilled_at: isoTime(fulfilled_at) } as const;
  // Up to 500,000 eSIMs: their codes join the payload when it is sent, from the order.
  const fulfilled: NewEvent = { kind: "order.fulfilled", data: { id, order_number, external_order_id, ...ended } };
  const count = lines.reduce((sum, line) => sum + (line.status === "fulfilled" ? line.assigned : 0), 0);
  if (count === 0) return [fulfilled];
  return [fulfilled, { kind: "esims.ready", data: { order_id: id, order_number, external_order_id, count } }];
}

/** Writes order.fulfilled of a fulfilled order again, since what was recorded of its delivery is corrected. */
export async function announceCorrected(tx: Tx, order: OrderRow): Promise<void> {
  const { id, order_number, external_order_id, fulfilled_at } = order;
  const now = await nowOf(tx, order);
  const ended = { status: "fulfilled", fulfilled_at: isoTime(fulfilled_at ?? now) } as const;
  const data = { id, order_number, external_order_id, ...ended, corrected_at: isoTime(now) };
  await recordEvent(tx, { kind: "order.fulfilled", ...audienceOf(order), data });
}

function audienceOf({ id, partner_id, environment }: OrderRow) {
  return { partnerId: partner_id, environment, subjectId: id };
}

/** Ends an order as fulfilled once none of its lines is pending; otherwise leaves it as it is. */
export async function completeOrder(tx: Tx, order: OrderRow): Promise<OrderRow> {
  const lines = await linesOfOrder(tx, order.id);
  return lines.some((line) => line.status === "pending") ? order : finishOrder(tx, order, lines);
}

/**
 * Ends an order of which nothing was delivered as failed, with its money back and its event (order.failed) in the same
 * transaction.
 */
export async function failOrder(tx: Tx, whole: WholeOrder, reason: string): Promise<OrderRow> {
  const { order } = await withdrawUndelivered(tx, whole, "failed");
  const ended = { status: "failed", reason, due_at: null, leased_until: null, reserved: false } as const;
  const failed = await progressOrder(tx, order, ended);
  const { id, order_number, external_order_id } = failed;
  const end = { status: "failed", failure_reason: reason, failed_at: isoTime(tx.now) } as const;
  const data = { id, order_number, external_order_id, ...end };
  await recordEvent(tx, { kind: "order.failed", ...audienceOf(failed), data });
  return failed;
}

/**
 * Holds a paid order for review; one that is held already gets the newest reason. The audit trail keeps `cause`, also
 * after the order has ended: the reason without text from the supplier, which may name a traveler.
 */
export async function holdOrder(tx: Tx, order: OrderRow, reason: string, cause: string): Promise<void> {
  if (order.status !== "paid" && order.status !== "waiting_review") return;
  const change = { status: "waiting_review", reason } as const;
  await progressOrder(tx, order, change);
  const { id: targetId, partner_id: partnerId } = order;
  const changes = changesOf(order, change, ["status"]);
  const held = { actor: "worker", action: "orders.hold", targetKind: "order", targetId, partnerId, note: cause };
  await recordAudit(tx, { ...held, changes });
}
