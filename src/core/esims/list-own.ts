import type { OrderId, ProductId } from "../kernel/brand.ts";
import { isoTimeOrNull } from "../kernel/clock.ts";
import type { Owner } from "../kernel/owner.ts";
import { byCreation, newestFirst, oldestFirst, type Pagination, pageOf, type Window } from "../kernel/page.ts";
import type { EsimStatus } from "../store/schema/values.ts";
import { esimStatuses } from "../store/schema/values.ts";
import type { Read } from "../store/store.ts";
import { toEsim } from "./esim.ts";
import { ownOfOrders, placeOf } from "./list-computed-esims.ts";
import { type OwnEsim, ownByExpiry, ownByOrder } from "./list-stock-esims.ts";
import { dataUsage, soldIn } from "./status.ts";

/** Which of a partner's delivered eSIMs, and the page. */
export interface OwnEsimsFilter extends Owner {
  limit: number;
  cursor?: string | undefined;
  status?: EsimStatus | undefined;
  orderId?: OrderId | undefined;
  productId?: ProductId | undefined;
  /** Those with an expiry before this moment (ms). */
  expiresBefore?: number | undefined;
  publicUrl: string;
}

/** A delivered eSIM as its order shows it, and its order, expiry and data. */
export type ListedOwnEsim = ReturnType<typeof toOwnEsim>;

/**
 * A page of a partner's delivered eSIMs: the newest order first, or with `expiresBefore` the soonest expiry first.
 * Throws `invalid_cursor`. Which index leads to them, see docs/decisions/0045.
 */
export async function listOwnEsims(
  q: Read,
  { publicUrl, limit, cursor, ...filter }: OwnEsimsFilter,
): Promise<{ data: ListedOwnEsim[]; pagination: Pagination }> {
  const page = { limit, cursor, binding: { list: "esims", ...filter } };
  const { rows, pagination } = await found(q, filter, page);
  return { data: rows.map((row) => toOwnEsim(q, publicUrl, row)), pagination };
}

type Filter = Omit<OwnEsimsFilter, "publicUrl" | "limit" | "cursor">;
type PageBounds = Omit<Parameters<typeof pageOf>[0], "start">;

function found(q: Read, filter: Filter, page: PageBounds): Promise<{ rows: OwnEsim[]; pagination: Pagination }> {
  const { status, orderId, expiresBefore } = filter;
  if (expiresBefore !== undefined) {
    // Only an eSIM that was activated has an expiry.
    const statuses = status === undefined ? esimStatuses.filter((each) => each !== "inactive") : [status];
    const read = (window: Window<number>) => ownByExpiry(q, { ...filter, expiresBefore, statuses }, window);
    return pageOf({ ...page, start: oldestFirst }, read, ({ esim }) => ({ key: esim.expires_at ?? 0, id: esim.id }));
  }
  if (isReadThroughOrders(filter)) {
    const read = (window: Window<number>) => ownOfOrders(q, filter, window);
    return pageOf({ ...page, start: newestFirst }, read, (row) => ({ ...byCreation(row.order), id: placeOf(row) }));
  }
  const statuses = status === undefined ? esimStatuses : [status];
  const read = (window: Window<string>) => ownByOrder(q, { ...filter, statuses }, window);
  // A letter after f is above every id.
  const start = { key: orderId ?? "g", id: "g" };
  return pageOf({ ...page, start }, read, ({ esim }) => ({ key: soldIn(esim), id: esim.id }));
}

/**
 * Whether the eSIMs are read through their orders: those of the sandbox that never changed are no rows, and the orders
 * of a product have an index.
 */
function isReadThroughOrders({ environment, status, productId }: Filter): boolean {
  if (environment === "sandbox") return status === undefined || status === "inactive";
  return productId !== undefined && status === undefined;
}

function toOwnEsim(q: Read, publicUrl: string, row: OwnEsim) {
  const { esim, activation_policy, data_amount_mb, order, product_sku } = row;
  return {
    ...toEsim(q, publicUrl, esim, activation_policy),
    order_id: order.id,
    order_number: order.order_number,
    product_sku,
    expires_at: isoTimeOrNull(esim.expires_at),
    data_usage: { ...dataUsage(esim, data_amount_mb), updated_at: isoTimeOrNull(esim.usage_at) },
  };
}
