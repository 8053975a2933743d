import { addSuppliedEsims } from "../esims/supplied.ts";
import type { OrderItemId } from "../kernel/brand.ts";
import { retryAt } from "../kernel/fault-retries.ts";
import { canMove } from "../kernel/state-machine.ts";
import { travelerOf } from "../orders/customer.ts";
import { anythingDelivered, wholeOrder } from "../orders/delivered.ts";
import { completeOrder, failOrder, holdOrder } from "../orders/finish.ts";
import {
  costAt,
  type ItemRow,
  itemsOfOrder,
  lineOfItem,
  orderItemTransitions,
  progressItem,
  requireItem,
} from "../orders/items.ts";
import { type LineRow, type OrderRow, requireOrder } from "../orders/order.ts";
import { progressLine } from "../orders/progress.ts";
import { type ActivationStep, activationStep } from "../outbox/activation-step.ts";
import { recordEvent } from "../outbox/record.ts";
import { outcomeCounts } from "../platform/lease.ts";
import { nowOf } from "../platform/sandbox-clock.ts";
import type { OrderItemStatus } from "../store/schema/values.ts";
import type { Tx } from "../store/store.ts";
import { postCost } from "../supply/costs.ts";
import { firstLook } from "../supply/looks.ts";
import { type Attempt, recordAttempt, type SupplyOutcome, saidOf } from "./outcome.ts";

/** How long after submission a supplier's final answer may take. */
const SUPPLY_ANSWER_WITHIN_MS = 48 * 3_600_000;

/**
 * Applies an outcome from a worker, a callback or the operator to an item, and then to its line and order, in one
 * transaction. A repeated outcome, one for an item that has ended, and one of a worker that lost its lease (see
 * `outcomeCounts`) change nothing. `attempt` null: it is on record already. `at` is when the step happened, now unless
 * given. Throws `not_found`, `validation` for eSIMs that are known already.
 */
export async function applySupplyOutcome(
  tx: Tx,
  input: { id: OrderItemId; outcome: SupplyOutcome; attempt: Attempt | null; leaseNo?: number; at?: number },
): Promise<ItemRow> {
  const item = await requireItem(tx, input.id);
  if (input.attempt !== null) await recordAttempt(tx, item, saidOf(input.outcome), input.attempt);
  if (!outcomeCounts(item, input.leaseNo, input.outcome.kind === "temporary")) return item;
  const order = await requireOrder(tx, item.order_id);
  const { outcome, at = await nowOf(tx, order) } = input;
  switch (outcome.kind) {
    case "accepted":
      return accept(tx, order, item);
    case "confirmed":
      return confirm(tx, order, item, { number: outcome.confirmationNumber, at });
    case "activated":
      return activate(tx, order, item, { ...outcome, at });
    case "refused":
      return refuse(tx, order, item, outcome);
    case "temporary":
      return retryLater(tx, order, item, outcome.reason);
  }
}

function mayMove(item: ItemRow, to: OrderItemStatus): boolean {
  return canMove(orderItemTransitions, item.status, to);
}

async function accept(tx: Tx, order: OrderRow, item: ItemRow): Promise<ItemRow> {
  const deadline_at = tx.now + SUPPLY_ANSWER_WITHIN_MS;
  const waiting = { attempts: 0, due_at: null, leased_until: null, deadline_at };
  // Submitted again after the operator's retry: the same request, with a new time to answer.
  if (item.status === "submitted" || item.status === "confirmed") return progressItem(tx, item, waiting);
  if (!mayMove(item, "submitted")) return item;
  const submitted = await progressItem(tx, item, {
    ...waiting,
    status: "submitted",
    submitted_at: await nowOf(tx, order),
  });
  await announceItem(tx, order, submitted, "submitted", null);
  return submitted;
}

async function confirm(
  tx: Tx,
  order: OrderRow,
  item: ItemRow,
  { number, at }: { number: string | null; at: number },
): Promise<ItemRow> {
  const before = item.status === "pending" ? await accept(tx, order, item) : item;
  if (!mayMove(before, "confirmed")) return before;
  const change = {
    status: "confirmed",
    confirmation_number: number,
    confirmed_at: Math.max(at, before.submitted_at ?? 0),
  } as const;
  const confirmed = await progressItem(tx, before, { ...change, due_at: null, leased_until: null });
  await announceItem(tx, order, confirmed, "confirmed", null);
  return confirmed;
}

type Activated = Extract<SupplyOutcome, { kind: "activated" }>;

async function activate(tx: Tx, order: OrderRow, item: ItemRow, outcome: Activated & { at: number }): Promise<ItemRow> {
  if (!mayMove(item, "activated")) return item;
  const line = await lineOfItem(tx, item);
  await addSuppliedEsims(tx, {
    orderId: order.id,
    lineId: line.id,
    productId: line.product_id,
    partnerId: order.partner_id,
    supplier: item.supplier,
    eid: travelerOf(tx, item)?.eid_number ?? null,
    lookAt: await firstLook(tx, item.supplier),
    esims: outcome.esims,
  });
  const activated = await progressItem(tx, item, {
    status: "activated",
    confirmation_number: outcome.confirmationNumber ?? item.confirmation_number,
    activated_at: outcome.at,
    error_type: null,
    error_message: null,
    ...ENDED,
  });
  await postItem(tx, order, { item, line }, outcome.confirmationNumber);
  await announceItem(tx, order, activated, "activated", outcome.esims[0]?.iccid ?? null);
  const items = await itemsOfOrder(tx, order.id);
  const complete = items.every((each) => each.line_id !== line.id || each.status === "activated");
  const assigned = line.assigned + outcome.esims.length;
  await progressLine(tx, line, { assigned, ...(complete ? { status: "fulfilled" } : {}) });
  if (complete) await completeOrder(tx, order);
  // What was refused while this one was under way is decided now.
  if (order.status === "paid" && items.some(({ status }) => status === "failed")) await endAfterRefusal(tx, order);
  return activated;
}

/** Posts what an item cost, where that is known and was not posted as it was bought. The sandbox buys nothing. */
async function postItem(
  tx: Tx,
  order: OrderRow,
  { item, line }: { item: ItemRow; line: LineRow },
  reference: string | null,
): Promise<void> {
  const { supplier, quantity: units } = item;
  const { cost, cost_currency: currency } = costAt(item, line);
  if (order.environment === "sandbox" || cost === null || currency === null) return;
  const of = { partnerId: order.partner_id, orderId: order.id, lineId: line.id, itemId: item.id };
  await postCost(tx, { kind: "purchase", supplier, currency, cost: cost * units, units, ...of, reference });
}

const ENDED = { due_at: null, leased_until: null, deadline_at: null } as const;

type Refused = Extract<SupplyOutcome, { kind: "refused" }>;

/** The order fails with a full refund if nothing of it was delivered; otherwise it is held for review. */
async function refuse(tx: Tx, order: OrderRow, item: ItemRow, outcome: Refused): Promise<ItemRow> {
  if (!mayMove(item, "failed")) return item;
  const { errorType: error_type, errorMessage: error_message } = outcome;
  const failed = await progressItem(tx, item, { status: "failed", error_type, error_message, ...ENDED });
  await announceItem(tx, order, failed, "failed", null);
  await endAfterRefusal(tx, order);
  return failed;
}

/**
 * What becomes of an order of which an item was refused: nothing while a purchase of another one is under way, since
 * that may deliver; then it is held for review if anything was delivered, and fails with its money back if not.
 */
async function endAfterRefusal(tx: Tx, order: OrderRow): Promise<void> {
  const whole = await wholeOrder(tx, order.id);
  const refused = whole.items.find(({ status }) => status === "failed");
  if (refused === undefined || whole.order.status === "fulfilled") return;
  if (whole.items.some(({ status, memory }) => memory !== null && canMove(orderItemTransitions, status, "failed")))
    return;
  const words = refused.error_message ?? "for a reason that it did not say";
  if (!anythingDelivered(whole)) {
    await failOrder(tx, whole, `the supplier refused: ${words}`);
    return;
  }
  const cause = `the supplier ${refused.supplier} refused an item`;
  await holdOrder(tx, whole.order, `${cause}: ${words}`, cause);
}

/** The supplier gave no usable response: it is asked again later; after the last attempt the order is held. */
async function retryLater(tx: Tx, order: OrderRow, item: ItemRow, reason: string): Promise<ItemRow> {
  if (!mayMove(item, "cancelled")) return item;
  const attempts = item.attempts + 1;
  const due_at = retryAt(tx.now, attempts);
  const cause = `the supplier ${item.supplier} could not be reached`;
  if (due_at === null) await holdOrder(tx, order, `${cause}: ${reason}`, cause);
  return progressItem(tx, item, { attempts, due_at, leased_until: null });
}

/**
 * Records the event of a traveler's item: `id` is the item's, `carrier` null. Items without a traveler have none.
 * `corrects` is when the step was taken (ms) whose recorded result is another one from now on.
 */
export async function announceItem(
  tx: Tx,
  order: OrderRow,
  item: ItemRow,
  step: ActivationStep,
  iccid: string | null,
  { corrects }: { corrects?: number } = {},
): Promise<void> {
  const { id, traveller_sealed } = item;
  if (traveller_sealed === null) return;
  const { activation_date = "", customer_name = "" } = travelerOf(tx, item) ?? {};
  const { id: order_id, order_number, external_order_id } = order;
  const traveling = { activation_date, customer_name };
  const subject = { id, order_id, order_number, external_order_id, iccid, carrier: null, ...traveling };
  const result = { ...item, mobile_number: null };
  await recordEvent(tx, {
    partnerId: order.partner_id,
    environment: order.environment,
    subjectId: id,
    ...activationStep(step, subject, result, { now: await nowOf(tx, order), corrects }),
  });
  tx.signal("deliveries");
}
