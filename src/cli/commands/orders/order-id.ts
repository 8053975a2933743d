import type { Order, PageBody } from "../../client/answers.ts";
import { type Api, apiPath } from "../../client/api.ts";
import type { OwnerOf } from "../../client/caller.ts";
import { CliError } from "../../kernel/errors.ts";

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
