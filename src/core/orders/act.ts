import type { Actor } from "../audit/record.ts";
import type { OrderId } from "../kernel/brand.ts";
import type { OrderStatus } from "../store/schema/values.ts";
import type { Tx } from "../store/store.ts";
import { approveOrder } from "./approve.ts";
import { cancelOrder } from "./cancel.ts";
import { type Consequence, consequenceSince, snapshotOf } from "./consequence.ts";
import { fulfilStep } from "./fulfil.ts";
import { linesOfOrder, type Order, requireOrder, toOrder } from "./order.ts";
import { type RefundAsked, refundOrder } from "./refund.ts";
import { rejectOrder } from "./reject.ts";
import { retryOrder } from "./retry.ts";
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
    for (let steps = 0; steps < STEPS_AHEAD && (await fulfilStep(tx, input.id)) === "more"; steps++);
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
