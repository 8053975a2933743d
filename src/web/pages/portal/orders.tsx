import { offeredProducts } from "../../../core/catalog/offered.ts";
import type { OrderId } from "../../../core/kernel/brand.ts";
import { listOrders } from "../../../core/orders/list.ts";
import type { Quote } from "../../../core/orders/quote.ts";
import { auditCodesRead } from "../../../core/orders/read-audit.ts";
import { type ShownOrder, showOrder } from "../../../core/orders/show.ts";
import { orderStatuses } from "../../../core/store/schema/values.ts";
import { type Column, Record } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { backLink, type Fields, pageShown, record, table } from "../../parts/shown.tsx";
import { type Cell, moneyWords, titleOf } from "../../parts/words.ts";
import { portalPage } from "../../session/page.ts";
import { idIn, type PortalVisit, type Shown } from "../../session/visit.ts";
import { orderHistoryShown } from "./history.tsx";
import { newOrderForm, placeOrder, quoteOf } from "./order-form.tsx";

type Listed = Awaited<ReturnType<typeof listOrders>>["data"][number];

/** The columns of orders, also of the latest ones. */
export const orderColumns: readonly Column<Listed>[] = [
  { title: "Order", cell: (one) => ({ text: one.order_number, to: `/orders/${one.id}` }) },
  { title: "Status", cell: (one) => ({ status: one.status }) },
  { title: "Total", right: true, cell: (one) => ({ money: one.total_price_cents, currency: one.currency }) },
  { title: "Your ID", cell: (one) => one.external_order_id ?? null },
  { title: "Placed", cell: (one) => ({ time: one.created_at }) },
];

function ordersPage(visit: PortalVisit, quote: Quote | null = null): Promise<Shown> {
  const { owner, store } = visit;
  const form = async () => [
    newOrderForm({ visit, quote, products: await store.read(offeredProducts, owner.partnerId) }),
    backLink(visit, "/orders/bulk", "Many orders from a file"),
  ];
  return listed(visit, {
    ...{ path: "/orders", title: "Orders", columns: orderColumns },
    filters: [
      { name: "status", label: "Status", options: orderStatuses },
      { name: "external_order_id", label: "Your ID" },
    ],
    read: (page, { status, external_order_id: externalOrderId }) =>
      store.list(listOrders, { ...owner, ...page, status, externalOrderId }),
    empty: "No orders here. Place one above, or by the API.",
    above: visit.may("orders.write") && form,
  });
}

async function quoteShown(visit: PortalVisit): Promise<Shown> {
  return ordersPage(visit, await quoteOf(visit));
}

/** eSIMs that an order's page shows with their codes. */
const MOST_ESIMS = 100;

type Line = ShownOrder["order"]["line_items"][number];
interface LineEsim {
  iccid: string;
  activation_code?: string;
  qr_code_url?: string;
  install_url?: string;
}

/** What `showOrder` lists under `esims` are eSIMs. */
function esimsOf({ fulfillment: { esims } }: Line): LineEsim[] {
  return Array.isArray(esims) ? esims : [];
}

async function orderPage(visit: PortalVisit): Promise<Shown> {
  const { store, owner, context, zone } = visit;
  const asked = { owner, id: idIn<OrderId>(visit), publicUrl: context.addresses.publicUrl, most: MOST_ESIMS };
  const shown = await store.read(showOrder, asked);
  const { order } = shown;
  const maySee = visit.may("esims.read");
  const codes = maySee ? order.line_items.flatMap(esimsOf).length : 0;
  if (visit.viewing && codes > 0) {
    await visit.write(auditCodesRead, { partnerId: owner.partnerId, orderId: asked.id, codes });
  }
  const money = (cents: number) => moneyWords(cents, order.currency);
  return pageShown(visit, order.order_number, [
    record(visit, [
      ["Status", { status: order.status }],
      ["Total", { money: order.total_price_cents, currency: order.currency }],
      ...refundedShown(order),
      ["Placed", { time: order.created_at }],
      ["Changed", { time: order.updated_at }],
      ["ID", order.id],
    ]),
    order.line_items.map((line) => (
      <section>
        <h2>
          {line.quantity} × {line.product_name}
        </h2>
        <p>
          {line.product_sku}, {money(line.price_per_unit_cents)} each, {money(line.subtotal_cents)} in all
        </p>
        {maySee && deliveredShown(visit, line, shown)}
      </section>
    )),
    await orderHistoryShown(visit, asked.id),
    <p class="hint">Times are in {zone}.</p>,
  ]);
}

const esimColumns: readonly Column<LineEsim>[] = [
  { title: "ICCID", cell: (one) => ({ text: one.iccid, to: `/esims/${one.iccid}` }) },
  { title: "Activation code", cell: ({ activation_code: copy }) => (copy === undefined ? null : { copy }) },
  { title: "QR code", cell: ({ qr_code_url: url }) => (url ? { text: "show", href: new URL(url).pathname } : null) },
  {
    title: "Install page",
    cell: ({ install_url: url }) => (url ? { text: "open", href: new URL(url).pathname } : null),
  },
];

function deliveredShown(visit: PortalVisit, line: Line, shown: ShownOrder) {
  const known = Object.entries(line.fulfillment).flatMap(([name, value]) =>
    typeof value === "string" ? [[titleOf(name), fulfillmentCell(name, value)] as const] : [],
  );
  return [
    <Record visit={visit} fields={known} />,
    shown.open.has(line.id) && (
      <p>
        More than {MOST_ESIMS}: <a href={`${visit.base}/esims?order=${shown.order.id}`}>list them</a>, or download CSV.
      </p>
    ),
    table(visit, { caption: "Delivered eSIMs", rows: esimsOf(line) }, esimColumns),
  ];
}

function refundedShown({ refunded_cents: money, currency }: ShownOrder["order"]): Fields {
  return money === 0 ? [] : [["Refunded", { money, currency }]];
}

function fulfillmentCell(name: string, value: string): Cell {
  if (name === "status") return { status: value };
  return name.endsWith("_at") ? { time: value } : value;
}

const form = { needs: "orders.write", again: (visit: PortalVisit) => ordersPage(visit) } as const;

export const orderPages = [
  portalPage({ path: "/orders", needs: "orders.read", show: (visit) => ordersPage(visit) }),
  portalPage({ path: "/orders", ...form, act: placeOrder }),
  portalPage({ path: "/orders/quote", ...form, act: quoteShown }),
  portalPage({ path: "/orders/:id", needs: "orders.read", show: orderPage }),
];
