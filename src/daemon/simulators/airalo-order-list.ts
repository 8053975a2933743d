import { invalid, notFound, success } from "./airalo-answers.ts";
import { readFilters, readInclude } from "./airalo-filters.ts";
import type { AiraloMemory, AiraloOrder } from "./airalo-memory.ts";
import { listedOrder, type OrderInclude, orderCode } from "./airalo-order-body.ts";
import { pageOf, readPage } from "./airalo-pages.ts";
import type { ProviderAnswer, ProviderRequest } from "./provider.ts";

const includes = ["sims", "user", "status"] as const satisfies OrderInclude[];
const filterNames = ["created_at", "code", "order_status", "iccid", "description"];
const statuses = ["completed", "failed", "partially_refunded", "refunded"];

/** `GET /orders`: orders and top-ups, the newest first, once lists have them. */
export function listOrders(memory: AiraloMemory, request: ProviderRequest): ProviderAnswer {
  const { query, now } = request;
  const asked = readPage(query);
  if ("fault" in asked) return asked.fault;
  const including = readInclude(query, includes);
  if ("fault" in including) return including.fault;
  const read = readFilters(query, filterNames);
  if ("fault" in read) return read.fault;
  const { filters } = read;
  const status = filters.given("order_status");
  if (status !== null && !statuses.includes(status)) {
    return invalid({ "filter.order_status": "The selected filter.order_status is invalid." });
  }
  const [describes, codes, iccids] = [filters.like("description"), filters.like("code"), filters.like("iccid")];
  const found = memory.orders.filter(
    (order) =>
      isListed(memory, order, now) &&
      // Refunds are given by people, of which there are none here: every order stays as it was made.
      (status ?? "completed") === "completed" &&
      filters.within(order.created_at) &&
      describes(order.description) &&
      codes(orderCode(order)) &&
      iccids(...order.sims.map(({ iccid }) => iccid)),
  );
  const { data, links, meta } = pageOf(found.reverse(), asked.page, request);
  return { status: 200, body: { data: data.map((one) => listedOrder(one, including.include)), links, meta } };
}

/** Whether lists have an order already. */
export function isListed({ list_delay_ms }: AiraloMemory, order: AiraloOrder, now: number): boolean {
  return now >= order.listed_at && now >= order.created_at + list_delay_ms;
}

/** `GET /orders/{id}`. */
export function showOrder(memory: AiraloMemory, { query }: ProviderRequest, id: string): ProviderAnswer {
  const including = readInclude(query, includes);
  if ("fault" in including) return including.fault;
  const order = memory.orders.find((one) => String(one.id) === id);
  return order === undefined ? notFound() : success(listedOrder(order, including.include));
}
