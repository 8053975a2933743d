import { changesOf } from "../audit/changes.ts";
import { type Actor, recordAudit } from "../audit/record.ts";
import type { OrderId } from "../kernel/brand.ts";
import { Problem } from "../kernel/problem.ts";
import type { OrderStatus } from "../store/schema/values.ts";
import type { Tx } from "../store/store.ts";
import { approveOrder, orderInReview } from "./approve.ts";
import { cancelOrder, endCancelled } from "./cancel.ts";
import { type Consequence, consequenceSince, snapshotOf } from "./consequence.ts";
import { anythingDelivered, wholeOrder } from "./delivered.ts";
import { fulfillStep } from "./fulfill.ts";
import { isBackedOff, isStuck, sendAgain } from "./items.ts";
import { linesOfOrder, type Order, type OrderRow, refuseSandboxOrder, requireOrder, toOrder } from "./order.ts";
import { progressOrder } from "./progress.ts";
import { type RefundAsked, refundOrder } from "./refund.ts";
import { reserveForOrder, shortStock } from "./reserve.ts";
import { correctShipment, shipOrder } from "./ship.ts";

/** What the operator decides about an order. */
export type OrderAct =
  | { verb: "approve" }
  | { verb: "reject"; reason: string }
  | { verb: "cancel"; reason: string }
  | { verb: "ship" | "correct"; carrier: string; tracking: string; trackingUrl: string | null }
  | { verb: "retry" }
  | ({ verb: "refund"; reason: string } & RefundAsked);

/** An order after an act, and all that the act did. */
export interface ActedOn {
  before: OrderStatus;
  order: Order & { reason: string | null };
  done: Consequence;
}

interface Acting {
  id: OrderId;
  act: OrderAct;
  actor: Actor;
}

/** Performs an act in one transaction and returns what it changed. Throws as the act itself does. */
export async function actOnOrder(tx: Tx, input: Acting): Promise<ActedOn> {
  const before = await snapshotOf(tx, input.id);
  await perform(tx, input);
  return outcomeSince(tx, before);
}

/** Delivery steps that a rehearsal includes: 10,000 units. More would keep the other orders waiting. */
const STEPS_AHEAD = 20;

/**
 * The same with the step of the worker that follows: the delivery from stock of an approved or retried order. Meant for
 * a rehearsal, which shows what the act would change.
 */
export async function actAndFollow(tx: Tx, input: Acting): Promise<ActedOn> {
  const before = await snapshotOf(tx, input.id);
  await perform(tx, input);
  if (before.order.status === "waiting_review" && (input.act.verb === "approve" || input.act.verb === "retry")) {
    for (let steps = 0; steps < STEPS_AHEAD && (await fulfillStep(tx, input.id)) === "more"; steps++);
  }
  return outcomeSince(tx, before);
}

function perform(tx: Tx, { id, act, actor }: Acting): Promise<unknown> {
  switch (act.verb) {
    case "approve":
      return approveOrder(tx, { id, actor });
    case "reject":
      return rejectOrder(tx, { id, reason: act.reason, actor });
    case "cancel":
      return cancelOrder(tx, { id, reason: act.reason, actor });
    case "ship":
    case "correct": {
      const { carrier, tracking, trackingUrl } = act;
      const record = act.verb === "ship" ? shipOrder : correctShipment;
      return record(tx, { id, carrier, tracking, trackingUrl, actor });
    }
    case "retry":
      return retryOrder(tx, { id, actor });
    case "refund": {
      const { reason, line, units, amount } = act;
      return refundOrder(tx, { id, reason, line, units, amount, actor });
    }
  }
}

async function outcomeSince(tx: Tx, before: Awaited<ReturnType<typeof snapshotOf>>): Promise<ActedOn> {
  const row = await requireOrder(tx, before.order.id);
  const order = { ...toOrder(tx, row, await linesOfOrder(tx, row.id)), reason: row.reason };
  return { before: before.order.status, order, done: await consequenceSince(tx, before) };
}

/**
 * Rejects a held order of which nothing was delivered: it ends cancelled, refunded in full, with order.cancelled, in
 * one transaction. Throws `not_found`, `conflict` when it is not in review or partly delivered.
 */
export async function rejectOrder(tx: Tx, input: { id: OrderId; reason: string; actor: string }): Promise<OrderRow> {
  const order = await orderInReview(tx, input.id);
  const { id: targetId, partner_id: partnerId, order_number } = order;
  const whole = await wholeOrder(tx, targetId);
  if (anythingDelivered(whole)) {
    throw new Problem("conflict", `Order ${order_number} is partly delivered: cancel it instead.`);
  }
  const { actor, reason: note } = input;
  const changes = changesOf(order, { status: "cancelled" }, ["status"]);
  await recordAudit(tx, { actor, action: "orders.reject", targetKind: "order", targetId, partnerId, changes, note });
  return endCancelled(tx, whole, note);
}

/**
 * Resumes every stuck part of an order at once: requests to suppliers are sent again, also those that would be after a
 * delay, and stock that was short is reserved and delivered. Throws `not_found`, `conflict` unless it is paid or in
 * review, or when the stock it waits for is still short and no request is stuck; then nothing changes.
 */
export async function retryOrder(tx: Tx, input: { id: OrderId; actor: string }): Promise<OrderRow> {
  const { order, lines, items } = await wholeOrder(tx, input.id);
  if (order.status !== "paid" && order.status !== "waiting_review") {
    throw new Problem(
      "conflict",
      `Order ${order.order_number} is ${order.status}; only paid or waiting_review can retry.`,
    );
  }
  refuseSandboxOrder(order);
  const stuck = items.filter((item) => isStuck(item) || isBackedOff(item, tx.now));
  // The worker reserves the stock of a paid order.
  const inReview = order.status === "waiting_review" ? lines : [];
  const { reserved, short } = await reserveForOrder(tx, order, inReview);
  if (short.length > 0 && stuck.length === 0) throw shortStock(short, "retry");
  for (const item of stuck) await sendAgain(tx, item);
  const { id: targetId, partner_id: partnerId } = order;
  await recordAudit(tx, { actor: input.actor, action: "orders.retry", targetKind: "order", targetId, partnerId });
  tx.signal("fulfillment");
  // Its stock is no longer what it waits for.
  const refilled = reserved.reserved && !order.reserved;
  return progressOrder(tx, reserved, { due_at: tx.now, leased_until: null, ...(refilled ? { reason: null } : {}) });
}
