import type { HeldOrder, ToShip } from "../../../core/orders/queue.ts";
import type { Read } from "../../../core/store/store.ts";
import { type Context, command } from "../../frame/command.ts";
import { readPages } from "../../frame/list-command.ts";
import { flag } from "../../kernel/input.ts";
import { listResult } from "../../output/result.ts";
import type { Column } from "../../output/sheet.ts";
import { moment } from "../../output/words.ts";

const columns: Column<HeldOrder>[] = [
  { title: "number", value: (order) => order.order_number },
  { title: "partner", value: (order) => order.partner },
  { title: "product", value: (order) => order.product_sku },
  { title: "quantity", value: (order) => order.quantity, align: "right" },
  { title: "total", value: (order, sheet) => sheet.money(order.total_price_cents, order.currency), align: "right" },
  { title: "why", value: (order) => order.reason ?? "being delivered", wraps: true },
  { title: "created", value: (order) => moment(order.created_at) },
];

const shippingColumns: Column<ToShip>[] = [
  { title: "number", value: (line) => line.order_number },
  { title: "partner", value: (line) => line.partner },
  { title: "product", value: (line) => line.product_sku },
  { title: "quantity", value: (line) => line.quantity, align: "right" },
  { title: "created", value: (line) => moment(line.created_at) },
];

const NEXT = "Fix what is said under why (stock import …), then: esimctl orders approve NUMBER. Or reject, cancel.";
const ONCE_SENT =
  "Once they went out: esimctl orders ship NUMBER. That ships all of an order, and cannot be corrected.";

export default command({
  target: "operator",
  effects:
    "Reads only. `orders approve`, `reject`, `retry` and `cancel` end the waiting. With --to-ship: SIM cards that " +
    "were paid and not sent yet, a row for each product of an order, until `orders ship`.",
  json:
    "{data: [{id, order_number, partner, environment, product_sku, quantity, total_price_cents, currency, reason, " +
    "created_at}], count}; with --to-ship: {data: [{order_id, order_number, partner, status, product_sku, quantity, " +
    "created_at}], count}",
  examples: ["orders queue", "orders queue --to-ship", "orders queue --json"],
  args: {},
  options: { toShip: flag("--to-ship", "SIM cards that wait for `orders ship` instead") },
  async run(context, { toShip }) {
    if (toShip) {
      const { linesToShip } = await import("../../../core/orders/queue.ts");
      const lines = await allOf(context, linesToShip);
      const listed = listResult(lines, shippingColumns, "No SIM card waits to be shipped.");
      return lines.length === 0 ? listed : { ...listed, note: ONCE_SENT };
    }
    const { heldOrders } = await import("../../../core/orders/queue.ts");
    const orders = await allOf(context, heldOrders);
    const listed = listResult(orders, columns, "No order waits for review.");
    return orders.length === 0 ? listed : { ...listed, note: NEXT };
  },
});

type Pages<T, After> = (q: Read, input: { limit: number; after?: After }) => Promise<{ data: T[]; next: After | null }>;

/** Every page of it. */
function allOf<T, After>(context: Context, pages: Pages<T, After>): Promise<T[]> {
  return context.withStore(async ({ store }) => {
    const { rows } = await readPages((limit, after: After | undefined) => store.read(pages, { limit, after }));
    return rows;
  });
}
