import { isoTime, systemClock } from "../../../core/kernel/clock.ts";
import type { HeldOrder, ToShip } from "../../../core/orders/queue.ts";
import type { Read } from "../../../core/store/store.ts";
import { type Context, command } from "../../frame/command.ts";
import { pagesOf } from "../../frame/list-command.ts";
import { flag } from "../../kernel/input.ts";
import type { Listing } from "../../output/listing.ts";
import type { Column } from "../../output/sheet.ts";
import { moment, waitingWords } from "../../output/words.ts";

const columns: Column<HeldOrder>[] = [
  { title: "number", value: (order) => order.order_number },
  { title: "partner", value: (order) => order.partner },
  { title: "product", value: (order) => order.product_sku, shrinks: true, spare: 3 },
  { title: "quantity", value: (order) => order.quantity, align: "right", spare: true },
  {
    title: "total",
    value: (order, sheet) => sheet.money(order.total_price_cents, order.currency),
    align: "right",
    spare: 2,
  },
  { title: "why", value: (order) => order.reason ?? "being delivered", wraps: true },
  { title: "created", value: (order) => moment(order.created_at), spare: 1 },
  {
    title: "waiting",
    value: ({ waiting }) => waitingWords(waiting, isoTime(systemClock.now())),
    wraps: true,
    spare: 4,
  },
];

const shippingColumns: Column<ToShip>[] = [
  { title: "number", value: (line) => line.order_number },
  { title: "partner", value: (line) => line.partner },
  { title: "product", value: (line) => line.product_sku, shrinks: true },
  { title: "quantity", value: (line) => line.quantity, align: "right" },
  { title: "created", value: (line) => moment(line.created_at), spare: true },
];

const NEXT = "Fix what is said under why (stock import …), then: esimctl orders approve NUMBER. Or reject, cancel.";
const ONCE_SENT =
  "Once they went out: esimctl orders ship NUMBER. That ships all of an order; --correct replaces a wrong number.";

export default command({
  target: "operator",
  shows: "rows",
  effects:
    "Reads only. `orders approve`, `reject`, `retry` and `cancel` end the waiting. With --to-ship: SIM cards that " +
    "were paid and not sent yet, a row for each product of an order, until `orders ship`.",
  json:
    "{data: [{id, order_number, partner, environment, product_sku, quantity, total_price_cents, currency, reason, " +
    "created_at, waiting: {for, act, on, since} or null}], count}; with --to-ship: {data: [{order_id, order_number, " +
    "partner, status, product_sku, quantity, created_at}], count}",
  examples: ["orders queue", "orders queue --to-ship", "orders queue --json"],
  args: {},
  options: { toShip: flag("--to-ship", "SIM cards that wait for `orders ship` instead") },
  async run(context, { toShip }) {
    const { heldOrders, linesToShip } = await import("../../../core/orders/queue.ts");
    if (toShip) {
      const look = { columns: shippingColumns, empty: "No SIM card waits to be shipped." };
      return printAll(context, linesToShip, look, ONCE_SENT);
    }
    return printAll(context, heldOrders, { columns, empty: "No order waits for review." }, NEXT);
  },
});

type Pages<T, After> = (q: Read, input: { limit: number; after?: After }) => Promise<{ data: T[]; next: After | null }>;

/** Every page of it, and below it what to do. */
function printAll<T extends object, After>(
  context: Context,
  read: Pages<T, After>,
  look: Pick<Listing<T>, "columns" | "empty">,
  todo: string,
): Promise<null> {
  return context.withStore(({ store }) => {
    const { pages } = pagesOf((limit, after: After | undefined) => store.read(read, { limit, after }));
    const note = (count: number) => (count === 0 ? undefined : todo);
    return context.print({ ...look, key: "data", pages, rest: (count) => ({ count }), note });
  });
}
