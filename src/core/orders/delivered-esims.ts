import { ALL_ESIMS, type Esim, type EsimRow, esimPage, toEsim } from "../esims/esim.ts";
import type { EsimId, OrderId, OrderLineId } from "../kernel/brand.ts";
import { type Pagination, pageOf } from "../kernel/page.ts";
import { notFound, Problem } from "../kernel/problem.ts";
import type { OrderEsimStatus } from "../store/schema/values.ts";
import type { Read } from "../store/store.ts";
import { linesOfOrder, type OrderRow, requireOwnOrder } from "./order.ts";
import { type OrderRequest, toLineEsim } from "./show.ts";

/** Which page of eSIMs to read. */
interface PageRequest extends OrderRequest {
  after: EsimId | null;
  limit: number;
}

/** A page of eSIMs in one of the contract's forms; `next` is where to go on, null at the end. */
export interface EsimsPage<E> {
  esims: E[];
  next: EsimId | null;
}

/** Some eSIMs of a fulfilled line as the line shows them. Throws `not_found` when the order is gone. */
export async function lineEsims(
  q: Read,
  input: PageRequest & { line: OrderLineId },
): Promise<EsimsPage<ReturnType<typeof toLineEsim>>> {
  const order = await requireOwnOrder(q, input.owner, input.id);
  const line = (await linesOfOrder(q, order.id)).find(({ id }) => id === input.line);
  if (line === undefined) throw notFound("order");
  const rows = await esimPage(q, order, { after: input.after, limit: input.limit, line: line.id });
  const esims = rows.map(({ esim }) => toLineEsim(q, input.publicUrl, esim, line));
  return { esims, next: nextAfter(rows, input.limit) };
}

function nextAfter(rows: { esim: EsimRow }[], limit: number): EsimId | null {
  return rows.length < limit ? null : (rows.at(-1)?.esim.id ?? null);
}

/** An eSIM as its order lists it. */
export interface OrderEsim extends Omit<Esim, "status"> {
  /** An expired one is inactive here: the contract's enum has no other word for it. */
  status: OrderEsimStatus;
}

/** Contract: OrderEsims. */
export interface OrderEsims {
  order_id: OrderId;
  esims: OrderEsim[];
  count: number;
}

type EsimInPage = Awaited<ReturnType<typeof esimPage>>[number];

function toOrderEsim(q: Read, publicUrl: string, { esim, activation_policy }: EsimInPage): OrderEsim {
  const shown = toEsim(q, publicUrl, esim, activation_policy);
  return { ...shown, status: shown.status === "expired" ? "inactive" : shown.status };
}

/**
 * The eSIMs of a fulfilled order (contract: GET /orders/{id}/esims); null when it has more than `most` units: then
 * `orderEsimsAfter` reads them. Throws `not_found`, `order_not_fulfilled`.
 */
export async function orderEsims(q: Read, input: OrderRequest & { most: number }): Promise<OrderEsims | null> {
  const order = await requireFulfilled(q, input);
  if (order.quantity > input.most) return null;
  const rows = await esimPage(q, order, ALL_ESIMS);
  const esims = rows.map((row) => toOrderEsim(q, input.publicUrl, row));
  return { order_id: order.id, esims, count: esims.length };
}

/** Some eSIMs of a fulfilled order, those after an id. Throws as `orderEsims` does. */
export async function orderEsimsAfter(q: Read, input: PageRequest): Promise<EsimsPage<OrderEsim>> {
  const order = await requireFulfilled(q, input);
  const rows = await esimPage(q, order, { after: input.after, limit: input.limit });
  const esims = rows.map((row) => toOrderEsim(q, input.publicUrl, row));
  return { esims, next: nextAfter(rows, input.limit) };
}

/** A page of the eSIMs of a fulfilled order, with a cursor. Throws as `orderEsims` does, and `invalid_cursor`. */
export async function pageOfOrderEsims(
  q: Read,
  input: OrderRequest & { limit: number; cursor: string | undefined },
): Promise<OrderEsims & { pagination: Pagination }> {
  const order = await requireFulfilled(q, input);
  const { limit, cursor, publicUrl } = input;
  const { rows, pagination } = await pageOf(
    { limit, cursor, binding: { list: "order_esims", order: order.id }, start: { key: "", id: "" } },
    // An id from a cursor of this very list is that of an eSIM.
    (window) => esimPage(q, order, { after: window.first ? null : (window.id as EsimId), limit: window.limit }),
    ({ esim }) => ({ key: "", id: esim.id }),
  );
  const esims = rows.map((row) => toOrderEsim(q, publicUrl, row));
  return { order_id: order.id, esims, count: esims.length, pagination };
}

async function requireFulfilled(q: Read, { owner, id }: OrderRequest): Promise<OrderRow> {
  const order = await requireOwnOrder(q, owner, id);
  if (order.status === "fulfilled") return order;
  throw new Problem(
    "order_not_fulfilled",
    `Order ${order.order_number} is ${order.status}; eSIMs come when it is fulfilled.`,
  );
}
