import type { Order } from "../../client/answers.ts";
import type { Context } from "../../frame/command.ts";
import { argument } from "../../kernel/input.ts";
import type { Column, Sheet } from "../../output/sheet.ts";
import { moment, statusPaint } from "../../output/words.ts";

/** An order, by any identifier. */
export const orderArgument = argument(
  "id",
  "the order's number or id, its booking number, or the ICCID of one of its eSIMs",
);

export const orderColumns: Column<Order>[] = [
  { title: "number", value: (order) => order.order_number },
  {
    title: "status",
    value: (order) => order.status,
    paint: (sheet, { status }) => statusPaint(sheet, status),
    shrinks: true,
  },
  { title: "product", value: products, shrinks: true },
  { title: "quantity", value: (order) => order.quantity, align: "right", spare: true },
  {
    title: "total",
    value: (order, sheet) => sheet.money(order.total_price_cents, order.currency),
    align: "right",
    spare: 2,
  },
  { title: "created", value: (order) => moment(order.created_at), spare: 1 },
];

function products(order: Order): string {
  const more = order.line_items.length - 1;
  return more > 0 ? `${order.product_sku} and ${more} more` : order.product_sku;
}

/** The status for the operator: an approved order stays in review until it is delivered in full. */
export function statusWords(sheet: Sheet, { status, reason }: { status: string; reason: string | null }): string {
  const approved = status === "waiting_review" && reason === null;
  return statusPaint(sheet, status)(status) + (approved ? " (approved, being delivered)" : "");
}

/** An order's own fields, for people. */
export function orderFields(sheet: Sheet, order: Order): Record<string, string> {
  return {
    number: order.order_number,
    id: order.id,
    status: statusPaint(sheet, order.status)(order.status),
    product: products(order),
    quantity: String(order.quantity),
    total: sheet.money(order.total_price_cents, order.currency),
    created: moment(order.created_at),
    ...(order.sandbox_scenario === undefined ? {} : { scenario: order.sandbox_scenario }),
  };
}

/** A note for an order that no running daemon delivers; undefined where one runs or may run. */
export async function undeliveredNote(context: Context): Promise<string | undefined> {
  const where = await context.where();
  if (where.kind !== "directory") return undefined;
  const { isServed } = await import("../../../core/platform/data-directory.ts");
  if (isServed(where.path)) return undefined;
  return "No daemon serves this data: what is not delivered yet waits until esimctl serve delivers it.";
}
