import type { OrderId } from "../../../core/kernel/brand.ts";
import type { OrderInside } from "../../../core/supplier-requests/order-inside.ts";
import type { OrderWithFulfillment } from "../../client/answers.ts";
import { type Api, apiPath } from "../../client/api.ts";
import { orderId, ownerOfOrder } from "../../client/identifiers.ts";
import { command } from "../../frame/command.ts";
import { attemptsTable, insideFields } from "../../output/inside.ts";
import { outagesText } from "../../output/outages-text.ts";
import type { Column, Sheet } from "../../output/sheet.ts";
import { moment, shown, statusPaint } from "../../output/words.ts";
import { orderArgument, statusWords } from "./order.ts";

export default command({
  target: "partner",
  shows: "record",
  effects:
    "Reads only. On the operator's data it also shows whose order it is, who placed it, for whom and why it waits, " +
    "its items with each attempt, and which of their suppliers fail; activation codes that it shows are noted in the " +
    "audit trail.",
  json:
    "the API's body: {id, order_number, status, external_order_id, customer, total_amount_cents, currency, " +
    "line_items: [{…, fulfillment}]}; on the operator's data without --partner also {partner, environment, waiting: " +
    "{for, act, on, since} or null, reason, created_by, fulfilled_at, cancelled_at, iccids, history: [{at, actor, " +
    "action, note}], items: [{item_id, status, supplier, supplier_sku, cost, cost_currency, reason (why there), " +
    "quantity, activation_date, error_message, attempts: [{at, source, outcome, status_code, latency_ms, answer}]}], " +
    "at, " +
    "outages: [{kind, name, since, last_at, failures, last_error, next_attempt_at, waiting}]}",
  examples: [
    "orders show ORD-20260301-7KQ2M",
    "orders show 0190d3c2-7b4e-7cc1-9a55-0c6e1f2a3b4c --partner acme --json",
  ],
  args: { id: orderArgument },
  options: {},
  async run(context, { id }) {
    const { body, inside } = await context.withApi(async (api) => {
      const asked = apiPath`/orders/${await orderId(api, id)}`;
      const answer = await api.request<OrderWithFulfillment>("GET", asked);
      return { body: answer.body, inside: await insideOf(api, answer.body.id) };
    }, ownerOfOrder(id));
    // With --partner it prints what the partner reads at a server.
    const json = context.actsFor.partner === undefined ? { ...body, ...inside } : body;
    return { json, text: (sheet) => orderText(sheet, body, inside) };
  },
});

/** What the operator sees beyond the API; null at a server. */
async function insideOf({ local }: Api, id: OrderId): Promise<OrderInside | null> {
  if (local === undefined) return null;
  const { orderInside } = await import("../../../core/supplier-requests/order-inside.ts");
  return local.store.read(orderInside, id);
}

function orderText(sheet: Sheet, order: OrderWithFulfillment, inside: OrderInside | null): string {
  const head = sheet.fields({
    number: order.order_number,
    id: order.id,
    status: statusWords(sheet, { status: order.status, reason: inside === null ? "" : inside.reason }),
    ...(inside === null ? {} : insideFields(inside)),
    ...(order.external_order_id === null ? {} : { "booking number": shown(order.external_order_id) }),
    ...(order.customer === null ? {} : { customer: customerWords(order.customer) }),
    total: sheet.money(order.total_amount_cents, order.currency),
    ...(order.refunded_cents === 0 ? {} : { refunded: sheet.money(order.refunded_cents, order.currency) }),
    created: moment(order.created_at),
    ...(inside?.fulfilled_at ? { fulfilled: moment(inside.fulfilled_at) } : {}),
    ...(inside?.cancelled_at ? { cancelled: moment(inside.cancelled_at) } : {}),
    ...(inside === null || inside.iccids.length === 0 ? {} : { iccids: iccidWords(inside.iccids, order) }),
    ...(inside === null || inside.created_by === null ? {} : { by: shown(inside.created_by) }),
    ...(inside === null || inside.reason === null ? {} : { reason: shown(inside.reason) }),
  });
  const lines = sheet.table(
    [
      { title: "sku", value: (line) => line.product_sku },
      { title: "product", value: (line) => line.product_name, shrinks: true, spare: true },
      { title: "quantity", value: (line) => line.quantity, align: "right" },
      {
        title: "each",
        value: (line) => sheet.money(line.price_per_unit_cents, order.currency),
        align: "right",
        spare: 1,
      },
      { title: "delivery", value: ({ fulfillment }) => deliveryWords(fulfillment), wraps: true },
    ],
    order.line_items,
    "No lines.",
  );
  const parts = [
    head,
    lines,
    ...(inside === null ? [] : [...historyTexts(sheet, inside), ...itemsTexts(sheet, inside)]),
  ];
  if (inside !== null && inside.outages.length > 0) parts.push(outagesText(sheet, inside.outages, inside.at));
  return parts.join("\n\n");
}

/** As many as fit a line; `orders esims` lists them all. */
const MOST_ICCIDS = 4;

function iccidWords(iccids: readonly string[], { line_items }: OrderWithFulfillment): string {
  const more = line_items.reduce((sum, { quantity }) => sum + quantity, 0) - MOST_ICCIDS;
  const rest = iccids.length > MOST_ICCIDS ? `, and ${more} more: esimctl orders esims` : "";
  return `${iccids.slice(0, MOST_ICCIDS).join(", ")}${rest}`;
}

/** What people did with it. */
function historyTexts(sheet: Sheet, { history }: OrderInside): string[] {
  if (history.length === 0) return [];
  const columns: Column<OrderInside["history"][number]>[] = [
    { title: "at", value: ({ at }) => moment(at) },
    { title: "what", value: ({ action }) => action },
    { title: "who", value: ({ actor }) => actor },
    { title: "why", value: ({ note }) => note, wraps: true, spare: 1 },
  ];
  return [sheet.table(columns, history, "")];
}

function customerWords({ name, email, phone }: NonNullable<OrderWithFulfillment["customer"]>): string {
  return [name, email, phone].flatMap((one) => (one === null ? [] : [shown(one)])).join(", ");
}

/** "fulfilled"; of SIM cards also who carries them, and their number there. */
function deliveryWords({ status, carrier, tracking_number, tracking_url }: Record<string, unknown>): string {
  const known = [status, carrier, tracking_number, tracking_url].filter((word) => typeof word === "string");
  return shown(known.join(" "));
}

type Item = OrderInside["items"][number];

const COST: Column<Item> = {
  title: "cost",
  value: ({ cost, cost_currency }) => (cost === null ? null : `${cost} ${cost_currency ?? ""}`),
  align: "right",
  spare: 4,
};
const REASON: Column<Item> = { title: "why there", value: ({ reason }) => reason, wraps: true, spare: 5 };

/** The items, and every attempt to have them delivered. */
function itemsTexts(sheet: Sheet, { items }: OrderInside): string[] {
  if (items.length === 0) return [];
  const listed = sheet.table(
    [
      { title: "item", value: (item) => item.item_id },
      { title: "status", value: (item) => item.status, paint: (on, { status }) => statusPaint(on, status) },
      { title: "supplier", value: (item) => item.supplier, spare: 1 },
      ...(items.some(({ cost }) => cost !== null) ? [COST] : []),
      ...(items.some(({ reason }) => reason !== null) ? [REASON] : []),
      { title: "units", value: (item) => item.quantity, align: "right", spare: true },
      { title: "date", value: (item) => item.activation_date, spare: 2 },
      { title: "error", value: (item) => item.error_message, wraps: true, spare: 3 },
    ],
    items,
    "",
  );
  const attempts = items.flatMap(({ item_id, attempts: own }) => own.map((one) => ({ item_id, ...one })));
  const exchanged = attemptsTable(sheet, attempts, {
    empty: "No supplier was asked yet.",
    columns: [{ title: "item", value: (one) => one.item_id, spare: true }],
  });
  return [listed, exchanged];
}
