import type { OrderWithFulfillment } from "../../../core/orders/show.ts";
import { apiPath } from "../../client/api.ts";
import { command } from "../../command.ts";
import { argument } from "../../input.ts";
import type { Sheet } from "../../output/sheet.ts";
import { moment, shown, statusPaint } from "../../output/words.ts";

export const show = command({
  name: "show",
  summary: "one order with its lines and what was delivered",
  stand: "partner",
  effects: "Reads only.",
  json: "the API's body: {id, order_number, status, total_amount_cents, currency, line_items: [{…, fulfillment}]}",
  examples: ["orders show 0190d3c2-7b4e-7cc1-9a55-0c6e1f2a3b4c --partner acme"],
  args: { id: argument("id", "the order's id") },
  options: {},
  async run(context, { id }) {
    const { body } = await context.withApi((api) => api.request<OrderWithFulfillment>("GET", apiPath`/orders/${id}`));
    return { json: body, text: (sheet) => orderText(sheet, body) };
  },
});

function orderText(sheet: Sheet, order: OrderWithFulfillment): string {
  const head = sheet.fields({
    number: order.order_number,
    id: order.id,
    status: statusPaint(sheet, order.status)(order.status),
    total: sheet.money(order.total_amount_cents, order.currency),
    created: moment(order.created_at),
  });
  const lines = sheet.table(
    [
      { title: "sku", value: (line) => line.product_sku },
      { title: "product", value: (line) => line.product_name, shrinks: true },
      { title: "quantity", value: (line) => line.quantity, align: "right" },
      { title: "each", value: (line) => sheet.money(line.price_per_unit_cents, order.currency), align: "right" },
      { title: "delivery", value: (line) => shown(String(line.fulfillment.status ?? "")) },
    ],
    order.line_items,
    "No lines.",
  );
  return `${head}\n\n${lines}`;
}
