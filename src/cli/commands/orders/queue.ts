import type { HeldAfter, HeldOrder } from "../../../core/orders/queue.ts";
import { command } from "../../command.ts";
import { listResult } from "../../output/result.ts";
import type { Column } from "../../output/sheet.ts";
import { moment } from "../../output/words.ts";

const PAGE = 200;

const columns: Column<HeldOrder>[] = [
  { title: "number", value: (order) => order.order_number },
  { title: "partner", value: (order) => order.partner },
  { title: "product", value: (order) => order.product_sku },
  { title: "quantity", value: (order) => order.quantity, align: "right" },
  { title: "total", value: (order, sheet) => sheet.money(order.total_price_cents, order.currency), align: "right" },
  { title: "why", value: (order) => order.reason ?? "being delivered", wraps: true },
  { title: "created", value: (order) => moment(order.created_at) },
];

export const queue = command({
  name: "queue",
  summary: "orders of all partners that wait for review, oldest first, and why",
  stand: "operator",
  effects: "Reads only. `orders approve`, `reject`, `retry` and `cancel` end the waiting.",
  json:
    "{data: [{id, order_number, partner, environment, product_sku, quantity, total_price_cents, currency, reason, " +
    "created_at}], count}",
  examples: ["orders queue", "orders queue --json"],
  args: {},
  options: {},
  async run(context) {
    const { heldOrders } = await import("../../../core/orders/queue.ts");
    const orders: HeldOrder[] = [];
    await context.withStore(async ({ store }) => {
      for (let after: HeldAfter | null = { key: 0, id: "" }; after !== null; ) {
        const page: Awaited<ReturnType<typeof heldOrders>> = await store.read(heldOrders, { limit: PAGE, after });
        orders.push(...page.data);
        after = page.next;
      }
    });
    return listResult(orders, columns, "No order waits for review.");
  },
});
