import { assignFromStock, type Need, reserveAll, reserveStock, type Shortage } from "../esims/stock.ts";
import type { Environment } from "../kernel/environment.ts";
import { Problem } from "../kernel/problem.ts";
import { assertMove } from "../kernel/state-machine.ts";
import type { Tx } from "../store/store.ts";
import { postStockCosts } from "../supply/stock-costs.ts";
import type { LineRow, OrderRow } from "./order.ts";
import type { PricedLine, PricedOrder } from "./price-lines.ts";
import { orderLineTransitions, orderTransitions, progressOrder } from "./progress.ts";

/** A line as far as its need of stock goes. */
type NeedingLine = Pick<LineRow, "delivery_method" | "status" | "product_id" | "product_sku" | "quantity">;

/** The stock that an order's pending lines need, all of it. */
export function needsOf(lines: readonly NeedingLine[]): Need[] {
  return lines
    .filter((line) => line.delivery_method === "stock" && line.status === "pending")
    .map((line) => ({ productId: line.product_id, sku: line.product_sku, quantity: line.quantity }));
}

/** The stock that an order takes which is yet to be placed; the sandbox takes none. */
export function needsOfNew(environment: Environment, lines: readonly PricedLine[]): Need[] {
  if (environment === "sandbox") return [];
  const status = "pending" as const;
  return needsOf(
    lines.map(({ product: { id: product_id, sku: product_sku, delivery_method }, quantity }) => {
      return { product_id, product_sku, delivery_method, quantity, status };
    }),
  );
}

/**
 * Reserves the stock of all pending stock lines together or of none; `short` says what is missing. An order that needs
 * no stock, or holds it already, stays as it is.
 */
export async function reserveForOrder(
  tx: Tx,
  order: OrderRow,
  lines: LineRow[],
): Promise<{ reserved: OrderRow; short: Shortage[] }> {
  const needs = needsOf(lines);
  if (order.reserved || needs.length === 0) return { reserved: order, short: [] };
  const short = await reserveStock(tx, needs);
  if (short.length > 0) return { reserved: order, short };
  return { reserved: await progressOrder(tx, order, { reserved: true }), short };
}

/** The refusal of an act that the stock is too short for. */
export function shortStock(short: Shortage[], act: "approve" | "retry"): Problem {
  const words = short.map(({ sku, needed, available }) => `${sku} needs ${needed}, has ${available}`);
  return new Problem("conflict", `The stock is still short: ${words.join("; ")}. Import more, then ${act} again.`);
}

/** Units of an order that the transaction which creates it delivers at most: other writes wait for it. */
export const MAX_INSTANT_UNITS = 10;

/** What an order takes from the stock as it is created. */
export interface Taken {
  /** All units of its stock lines are reserved. */
  reserved: boolean;
  /** They are the whole order, and few: the transaction that creates it fulfills it. */
  atOnce: boolean;
}

/**
 * Reserves the stock that a new production order needs, all of it or none. Where the stock is short the order is left
 * to the worker, which holds it for review. Orders thus get their stock in the order of their creation, whatever their
 * size.
 */
export async function takeStock(
  tx: Tx,
  { environment, unitsAtOnce = MAX_INSTANT_UNITS }: { environment: Environment; unitsAtOnce?: number },
  { lines, quantity }: PricedOrder,
): Promise<Taken> {
  const needs = needsOfNew(environment, lines);
  if (needs.length === 0) return { reserved: false, atOnce: false };
  const reserved = await reserveAll(tx, needs);
  return { reserved, atOnce: reserved && needs.length === lines.length && quantity <= unitsAtOnce };
}

/** An order as it is written where the same transaction fulfills it; its lines follow by `fulfilledLine`. */
export function fulfilledOrder(order: OrderRow): OrderRow {
  assertMove(orderTransitions, order.status, "fulfilled");
  return { ...order, status: "fulfilled", fulfilled_at: order.created_at, due_at: null };
}

/** A line of it. */
export function fulfilledLine(line: LineRow): LineRow {
  assertMove(orderLineTransitions, line.status, "fulfilled");
  return { ...line, status: "fulfilled", assigned: line.quantity };
}

/** Hands the reserved eSIMs to the lines of an order that is written as fulfilled. */
export async function deliverAtOnce(tx: Tx, order: OrderRow, lines: LineRow[]): Promise<void> {
  const { id: orderId, partner_id: partnerId } = order;
  // One after the other: each chooses of what the one before has left.
  for (const { id: lineId, product_id: productId, quantity, cost, cost_currency } of lines) {
    await assignFromStock(tx, { orderId, partnerId, lineId, productId, quantity, cost, cost_currency }, postStockCosts);
  }
}
