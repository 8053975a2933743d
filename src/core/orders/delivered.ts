import type { OrderId } from "../kernel/brand.ts";
import type { Read } from "../store/store.ts";
import { type ItemRow, itemsOfOrder } from "./items.ts";
import { type LineRow, linesOfOrder, type OrderRow, requireOrder } from "./order.ts";

/** An order with everything it consists of. */
export interface WholeOrder {
  order: OrderRow;
  lines: LineRow[];
  items: ItemRow[];
}

/** The order with its lines and items. Throws `not_found`. */
export async function wholeOrder(q: Read, id: OrderId): Promise<WholeOrder> {
  return { order: await requireOrder(q, id), lines: await linesOfOrder(q, id), items: await itemsOfOrder(q, id) };
}

/**
 * Units of a line that its customer has. That is a fact about units: all of a fulfilled line (its codes are visible,
 * its cards are shipped), else those whose item is activated. What is only reserved or assigned is not delivered.
 */
export function deliveredUnits(line: LineRow, items: ItemRow[]): number {
  if (line.status === "fulfilled") return line.quantity;
  return items
    .filter((item) => item.line_id === line.id && item.status === "activated")
    .reduce((sum, item) => sum + item.quantity, 0);
}

/** Whether the customer has at least one unit of the order. */
export function anythingDelivered({ lines, items }: WholeOrder): boolean {
  return lines.some((line) => deliveredUnits(line, items) > 0);
}
