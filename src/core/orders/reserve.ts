import { type Need, reserveStock, type Shortage } from "../esims/stock.ts";
import type { Environment } from "../kernel/environment.ts";
import { Problem } from "../kernel/problem.ts";
import type { Tx } from "../store/store.ts";
import type { LineRow, OrderRow } from "./order.ts";
import type { PricedLine } from "./price-lines.ts";
import { progressOrder } from "./progress.ts";

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
