import type { Order, PageBody } from "../../client/answers.ts";
import type { OwnerOf } from "../../client/api.ts";
import { type Api, apiPath } from "../../client/api.ts";
import type { Context } from "../../frame/command.ts";
import { CliError } from "../../kernel/errors.ts";
import type { Column, Sheet } from "../../output/sheet.ts";
import { moment, statusPaint } from "../../output/words.ts";

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
  };
}

/** A note for an order that no running daemon delivers; undefined where one runs or may run. */
export async function undeliveredNote(context: Context): Promise<string | undefined> {
  const where = await context.where();
  if (where.kind !== "directory") return undefined;
  const { isServed } = await import("../../../core/store/data-directory.ts");
  if (isServed(where.path)) return undefined;
  return "No daemon serves this data: what was ordered waits until esimctl serve delivers it.";
}

/** ORD-<day of creation in UTC>-<5 letters and digits>. */
const NUMBER = /^ORD-(\d{4})(\d\d)(\d\d)-[A-Z0-9]{5}$/;

/** Requests that the search for one number may take at a server: 10,000 orders. */
const PAGES = 100;

/** Finds the owner of the order with this id or number. */
export function ownerOfOrder(given: string): OwnerOf {
  return async (store) => {
    const { findOrderId, requireOrder } = await import("../../../core/orders/order.ts");
    return store.read(requireOrder, await store.read(findOrderId, given.trim()));
  };
}

/** The id of the order that `given` names: an order number is looked up, anything else stays. Throws `not_found`. */
export async function orderId(api: Api, given: string): Promise<string> {
  const number = given.trim().toUpperCase();
  const day = NUMBER.exec(number)?.slice(1).join("-");
  if (day === undefined) return given;
  const id = api.local === undefined ? await listedId(api, number, day) : await storedId(api.local.store, number);
  if (id !== null) return id;
  const hint = "See esimctl orders list; its ids are found however old they are.";
  throw new CliError("not_found", `No order here has the number ${number}.`, hint);
}

/** Local data: the order is found by its number. */
async function storedId(store: NonNullable<Api["local"]>["store"], number: string): Promise<string | null> {
  const { orderIdByNumber } = await import("../../../core/orders/order.ts");
  return store.read(orderIdByNumber, number);
}

/** The API has no look-up by number: its list is read, newest first, down to the day that the number names. */
async function listedId(api: Api, number: string, day: string): Promise<string | null> {
  let cursor: string | undefined;
  for (let pages = 0; pages < PAGES; pages++) {
    const asked = { query: { limit: 100, cursor } };
    const { body } = await api.request<PageBody<Order>>("GET", apiPath`/orders`, asked);
    const found = body.data.find(({ order_number }) => order_number === number);
    if (found !== undefined) return found.id;
    const oldest = body.data.at(-1)?.created_at.slice(0, 10) ?? "";
    if (body.pagination.next_cursor === null || oldest < day) return null;
    cursor = body.pagination.next_cursor;
  }
  return null;
}
