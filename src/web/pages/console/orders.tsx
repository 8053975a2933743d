import { findStory } from "../../../core/find/find.ts";
import type { OrderId } from "../../../core/kernel/brand.ts";
import { type ListedOrder, listAllOrders } from "../../../core/orders/list-all.ts";
import { linesOfOrder, requireOrder, toOrder } from "../../../core/orders/order.ts";
import { type HeldOrder, heldOrders, linesToShip, type ToShip } from "../../../core/orders/queue.ts";
import { orderStatuses } from "../../../core/store/schema/values.ts";
import type { Read } from "../../../core/store/store.ts";
import { orderInside } from "../../../core/supplier-requests/order-inside.ts";
import type { Column, Filter } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { type Fields, pageShown, record, table } from "../../parts/shown.tsx";
import type { Cell } from "../../parts/words.ts";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, chosen, idIn, type Shown } from "../../session/visit.ts";
import { dayFilters, environmentFilter, overAll, partnerFilter, queueOf, waitingWords } from "./all-partners.ts";
import { timelineShown } from "./history.tsx";
import { personWords, withoutPhones } from "./masked.ts";
import { orderActPages, orderLinks } from "./order-acts.tsx";
import { orderItemPages } from "./order-items.tsx";
import { pauseShown } from "./orders-pause.tsx";

/** What orders wait for that staff do: each is a queue of its own, oldest first. */
const waitingFilter: Filter = { name: "waiting", label: "Waiting for", options: ["review", "shipping"] };

function orderLink(number: string, id: string): Cell {
  return { text: number, to: `/orders/${id}` };
}

const columns: readonly Column<ListedOrder>[] = [
  { title: "Order", cell: (one) => orderLink(one.order_number, one.id) },
  { title: "Partner", cell: (one) => one.partner },
  { title: "Status", cell: (one) => ({ status: one.status }) },
  { title: "Product", cell: productWords },
  { title: "Quantity", right: true, cell: (one) => one.quantity },
  { title: "Total", right: true, cell: (one) => ({ money: one.total_price_cents, currency: one.currency }) },
  { title: "Customer", cell: (one) => personWords(one.customer?.name ?? null) },
  { title: "Waiting", cell: (one) => waitingWords(one.waiting) },
  { title: "Placed", cell: (one) => ({ time: one.created_at }) },
];

function productWords({ product_sku, line_items }: ListedOrder): string {
  return line_items.length > 1 ? `${product_sku} and ${line_items.length - 1} more` : product_sku;
}

async function ordersPage(visit: ConsoleVisit): Promise<Shown> {
  const waiting = chosen(visit.query, "waiting", ["review", "shipping"]);
  if (waiting === "review") return reviewPage(visit);
  if (waiting === "shipping") return shippingPage(visit);
  const over = await overAll(visit);
  return listed(visit, {
    title: "Orders",
    path: "/orders",
    caption: "Orders of all partners",
    columns,
    filters: [
      await partnerFilter(visit),
      { name: "status", label: "Status", options: orderStatuses },
      { name: "sku", label: "Product (SKU)" },
      waitingFilter,
      environmentFilter,
      ...dayFilters,
    ],
    read: (page, { status, sku }) => visit.store.list(listAllOrders, { ...over, status, sku, ...page }),
    empty: "No orders here. Leave a filter out to see more.",
    none: "No orders in production yet. Those of the sandbox are listed by its filter.",
    above: () => pauseShown(visit),
  });
}

const heldColumns: readonly Column<HeldOrder>[] = [
  { title: "Order", cell: (one) => orderLink(one.order_number, one.id) },
  { title: "Partner", cell: (one) => one.partner },
  { title: "Product", cell: (one) => one.product_sku },
  { title: "Quantity", right: true, cell: (one) => one.quantity },
  { title: "Total", right: true, cell: (one) => ({ money: one.total_price_cents, currency: one.currency }) },
  { title: "Why", cell: (one) => one.reason ?? "being delivered" },
  { title: "Waiting", cell: (one) => waitingWords(one.waiting) },
  { title: "Placed", cell: (one) => ({ time: one.created_at }) },
];

async function reviewPage(visit: ConsoleVisit): Promise<Shown> {
  return listed(visit, {
    title: "Orders in review",
    path: "/orders",
    caption: "Orders that wait for review, oldest first",
    columns: heldColumns,
    filters: [await partnerFilter(visit), waitingFilter],
    read: queueOf<HeldOrder>(visit, "console_review", (limit, after) => visit.store.list(heldOrders, { limit, after })),
    empty: "No order waits for review.",
  });
}

const shippingColumns: readonly Column<ToShip>[] = [
  { title: "Order", cell: (one) => orderLink(one.order_number, one.order_id) },
  { title: "Partner", cell: (one) => one.partner },
  { title: "Status", cell: (one) => ({ status: one.status }) },
  { title: "Product", cell: (one) => one.product_sku },
  { title: "Quantity", right: true, cell: (one) => one.quantity },
  { title: "Placed", cell: (one) => ({ time: one.created_at }) },
];

async function shippingPage(visit: ConsoleVisit): Promise<Shown> {
  return listed(visit, {
    title: "Orders to ship",
    path: "/orders",
    caption: "SIM cards that were paid and not sent yet, oldest order first",
    columns: shippingColumns,
    filters: [await partnerFilter(visit), waitingFilter],
    read: queueOf<ToShip>(visit, "console_shipping", async (limit, last) => {
      const after = last && { order: last.id, position: last.key };
      const { data, next } = await visit.store.list(linesToShip, { limit, after });
      return { data, next: next && { key: next.position, id: next.order } };
    }),
    empty: "No SIM card waits to be shipped.",
  });
}

/** An order with all that the operator sees of it, on one snapshot. Throws `not_found`. */
async function seenOrder(q: Read, id: OrderId) {
  const row = await requireOrder(q, id);
  const lines = await linesOfOrder(q, id);
  const inside = await orderInside(q, id);
  const { timeline } = await findStory(q, id);
  return { order: toOrder(q, row, lines), lines, inside, timeline };
}

type SeenOrder = Awaited<ReturnType<typeof seenOrder>>;

async function orderPage(visit: ConsoleVisit): Promise<Shown> {
  const seen = await visit.store.read(seenOrder, idIn(visit) as OrderId); // the database decides whether it is one
  const { order, lines, inside, timeline } = seen;
  const hasCards = lines.some(({ delivery_method }) => delivery_method === "shipping");
  const acts = visit.may("orders.write") ? orderLinks(visit, { order, inside, hasCards }) : [];
  const { currency } = order;
  const iccids = visit.may("esims.read") ? inside.iccids : [];
  const body = (
    <>
      {record(visit, orderFields(seen), acts.length > 0 && acts)}
      {table(visit, { title: "Lines", caption: "Lines of the order", rows: lines, empty: "No lines." }, [
        { title: "Product", cell: (line) => line.product_name },
        { title: "SKU", cell: (line) => line.product_sku },
        { title: "Quantity", right: true, cell: (line) => line.quantity },
        { title: "Each", right: true, cell: (line) => ({ money: line.unit_price_cents, currency }) },
        { title: "Refunded", right: true, cell: (line) => ({ money: line.refunded_cents, currency }) },
        { title: "Status", cell: (line) => ({ status: line.status }) },
        { title: "Shipped", cell: ({ shipping: sent }) => sent && `${sent.carrier}, ${sent.tracking_number}` },
      ])}
      {table(visit, { title: "Requests to suppliers", rows: inside.items }, itemColumns(order.id))}
      {table(visit, { title: "eSIMs", caption: "eSIMs of the order, the newest 50", rows: iccids }, [
        { title: "ICCID", cell: (iccid) => ({ text: iccid, to: `/esims/${iccid}` }) },
      ])}
      {await timelineShown(visit, withoutPhones(timeline))}
    </>
  );
  return pageShown(visit, order.order_number, body);
}

const itemColumns = (order: OrderId): Column<SeenOrder["inside"]["items"][number]>[] => [
  { title: "Supplier", cell: (one) => ({ text: one.supplier, to: `/orders/${order}/items/${one.item_id}` }) },
  { title: "Status", cell: (one) => ({ status: one.status }) },
  { title: "Quantity", right: true, cell: (one) => one.quantity },
  { title: "Plan there", cell: (one) => one.supplier_sku },
  { title: "Cost", right: true, cell: (one) => (one.cost === null ? null : `${one.cost} ${one.cost_currency ?? ""}`) },
  { title: "Why there", cell: (one) => one.reason },
  { title: "Activation date", cell: (one) => one.activation_date },
  { title: "Attempts", right: true, cell: (one) => one.attempts.length },
  { title: "Error", cell: (one) => one.error_message },
];

function orderFields({ order, inside }: SeenOrder): Fields {
  const approved = order.status === "waiting_review" && inside.reason === null;
  return [
    ["Status", { status: order.status }],
    ["Waiting", approved ? "approved, being delivered" : waitingWords(inside.waiting)],
    ["Reason", inside.reason],
    ["Partner", `${inside.partner} (${inside.environment})`],
    ["Total", { money: order.total_price_cents, currency: order.currency }],
    ["Refunded", { money: order.refunded_cents, currency: order.currency }],
    ["Customer", personWords(order.customer?.name ?? null)],
    ["Partner's own ID", order.external_order_id],
    ["Placed", { time: order.created_at }],
    ["Placed by", inside.created_by],
    ["Fulfilled", { time: inside.fulfilled_at }],
    ["Cancelled", { time: inside.cancelled_at }],
    ["ID", order.id],
  ];
}

export const consoleOrderPages = [
  consolePage({ path: "/orders", needs: "orders.read", show: ordersPage }),
  consolePage({ path: "/orders/:id", needs: "orders.read", show: orderPage }),
  ...orderActPages,
  ...orderItemPages,
];
