import { minorUnits } from "../kernel/money.ts";
import type { Tx } from "../store/store.ts";
import { postMovement } from "../wallet/post.ts";
import type { ItemRow } from "./items.ts";
import type { LineRow, OrderRow } from "./order.ts";

/** Units of a line that its customer has: all of a fulfilled one, else those whose item was activated. */
export function deliveredUnits(line: LineRow, items: ItemRow[]): number {
  if (line.status === "fulfilled") return line.quantity;
  return items
    .filter((item) => item.line_id === line.id && item.status === "activated")
    .reduce((sum, item) => sum + item.quantity, 0);
}

/** The price of what was not delivered. */
export function undeliveredCents(lines: LineRow[], items: ItemRow[]): number {
  return lines.reduce((sum, line) => sum + line.unit_price_cents * (line.quantity - deliveredUnits(line, items)), 0);
}

/** Gives `cents` of an order back to its wallet; the sandbox never took any. */
export async function refund(tx: Tx, order: OrderRow, cents: number): Promise<void> {
  if (order.environment === "sandbox" || cents === 0) return;
  await postMovement(tx, {
    kind: "refund",
    partnerId: order.partner_id,
    currency: order.currency,
    amount: minorUnits(cents),
    orderId: order.id,
    reference: order.order_number,
  });
}
