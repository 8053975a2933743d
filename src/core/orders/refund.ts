import { changesOf } from "../audit/changes.ts";
import { recordAudit } from "../audit/record.ts";
import type { OrderId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import { formatMoney, minorUnits, parseMoney } from "../kernel/money.ts";
import { invalid, Problem } from "../kernel/problem.ts";
import { recordEvent } from "../outbox/record.ts";
import { updateRow } from "../store/rows.ts";
import type { Tx } from "../store/store.ts";
import { postMovement } from "../wallet/post.ts";
import { type LineRow, linesOfOrder, type OrderRow, requireOrder } from "./order.ts";
import { progressOrder } from "./progress.ts";

/** What is to go back to the wallet: units of a line, an amount, or all that is left. */
export interface RefundAsked {
  /** The line's number, from 1 on; null: the whole order. */
  line: number | null;
  units: number | null;
  /** A decimal in the order's currency. */
  amount: string | null;
}

/**
 * Refunds a part of what an order was charged, in any state after its payment: a ledger refund, a part of the order's
 * `refunded_cents`, and order.refunded, in one transaction. Its eSIMs stay as they are. Never more than was charged
 * goes back, with all cancellations and refunds before. Throws `not_found`, `validation`, `conflict` when nothing is
 * left or the order is the sandbox's, which charges nothing.
 */
export async function refundOrder(
  tx: Tx,
  input: RefundAsked & { id: OrderId; reason: string; actor: string },
): Promise<OrderRow> {
  const order = await requireOrder(tx, input.id);
  const lines = await linesOfOrder(tx, order.id);
  const parts = refundParts(order, lines, input);
  const refunded = await refundLines(tx, order, parts);
  const { id, order_number, external_order_id, partner_id: partnerId, environment, currency } = refunded;
  const after = await progressOrder(tx, refunded, {});
  await recordAudit(tx, {
    ...{ actor: input.actor, action: "orders.refund", targetKind: "order", targetId: id, partnerId },
    changes: changesOf(order, { refunded_cents: refunded.refunded_cents }, ["refunded_cents"]),
    note: input.reason,
  });
  const amount_cents = refunded.refunded_cents - order.refunded_cents;
  const about = { amount_cents, currency, reason: input.reason, refunded_at: isoTime(tx.now) };
  const data = { id, order_number, external_order_id, ...about };
  await recordEvent(tx, { kind: "order.refunded", partnerId, environment, subjectId: id, data });
  return after;
}

/** What goes back of a line. */
export interface LineRefund {
  line: LineRow;
  cents: number;
}

/** The parts of a refund by line. Throws `validation`, `conflict`. */
function refundParts(order: OrderRow, lines: LineRow[], { line, units, amount }: RefundAsked): LineRefund[] {
  if (order.environment === "sandbox") {
    throw new Problem("conflict", `Order ${order.order_number} is a sandbox order: nothing was charged for it.`);
  }
  const chosen = chosenLines(lines, line);
  const left = chosen.reduce((sum, one) => sum + refundable(one), 0);
  const money = (cents: number) => `${formatMoney(cents, order.currency)} ${order.currency}`;
  if (left === 0) {
    const what = line === null ? `order ${order.order_number}` : `line ${line} of order ${order.order_number}`;
    throw new Problem(
      "conflict",
      `There is nothing left to refund of ${what}: ${money(order.refunded_cents)} went back.`,
    );
  }
  const cents = units === null ? centsOf(amount, order.currency, left) : centsOfUnits(chosen, units);
  if (cents > left) throw invalid({ amount: [`must be at most ${money(left)}, which is all that is left`] });
  return spread(chosen, cents);
}

function chosenLines(lines: LineRow[], line: number | null): LineRow[] {
  if (line === null) return lines;
  const chosen = lines[line - 1];
  if (chosen === undefined) throw invalid({ line: [`must be from 1 to ${lines.length}: the order has no other`] });
  return [chosen];
}

function centsOfUnits(chosen: readonly LineRow[], units: number): number {
  const [line, second] = chosen;
  if (line === undefined || second !== undefined) {
    throw invalid({ units: ["are of one line: name it, the order has several"] });
  }
  if (units > line.quantity) throw invalid({ units: [`must be at most ${line.quantity}, which the line has`] });
  return units * line.unit_price_cents;
}

function centsOf(amount: string | null, currency: string, left: number): number {
  if (amount === null) return left;
  const cents = parseMoney(amount, currency, "amount");
  if (cents === 0) throw invalid({ amount: ["must be above 0"] });
  return cents;
}

/** What of a line's price has not gone back. */
export function refundable({ quantity, unit_price_cents, refunded_cents }: LineRow): number {
  return quantity * unit_price_cents - refunded_cents;
}

/** Takes the amount from the lines in their order, from each as far as it goes. */
function spread(lines: readonly LineRow[], cents: number): LineRefund[] {
  let left = cents;
  return lines.map((line) => {
    const part = Math.min(left, refundable(line));
    left -= part;
    return { line, cents: part };
  });
}

/**
 * Refunds these parts of an order to its wallet, in one ledger transaction; returns the order's row. The sandbox
 * charges nothing and refunds nothing.
 */
export async function refundLines(tx: Tx, order: OrderRow, parts: readonly LineRefund[]): Promise<OrderRow> {
  const cents = parts.reduce((sum, part) => sum + part.cents, 0);
  if (order.environment === "sandbox" || cents === 0) return order;
  await postMovement(tx, {
    kind: "refund",
    partnerId: order.partner_id,
    currency: order.currency,
    amount: minorUnits(cents),
    orderId: order.id,
    reference: order.order_number,
  });
  for (const part of parts.filter((one) => one.cents > 0)) {
    part.line.refunded_cents += part.cents;
    await updateRow(tx, "orderLines", { id: part.line.id }, { refunded_cents: part.line.refunded_cents });
  }
  const refunded_cents = order.refunded_cents + cents;
  await updateRow(tx, "orders", { id: order.id }, { refunded_cents });
  return { ...order, refunded_cents };
}
