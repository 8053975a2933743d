import { instantOf } from "../../core/kernel/clock.ts";
import type { Owner } from "../../core/kernel/owner.ts";
import { listOrders, type OrderFilter } from "../../core/orders/list.ts";
import { type OrderStatus, orderStatuses } from "../../core/store/schema/values.ts";
import type { Store } from "../../core/store/store.ts";
import type { Asked } from "./api.ts";

type Query = NonNullable<Asked["query"]>;

/** Reads what the API's handlers would respond with; undefined: it is left to them. Throws problems as core does. */
type DirectRead = (store: Store, owner: Owner, query: Query) => Promise<object | undefined>;

/** Contract: `limit` of a list. */
const PAGE = 20;
const LONGEST_PAGE = 100;

/**
 * Lists of the API by their path, as core reads them. A command that asks for one loads none of the API's handlers,
 * which takes longer than all else that it does (docs/decisions/0070). Queries that are not plainly valid are theirs.
 */
export const directReads: ReadonlyMap<string, DirectRead> = new Map([["/api/v1/orders", readOrders]]);

async function readOrders(store: Store, owner: Owner, query: Query): Promise<object | undefined> {
  const filter = orderFilter(query);
  return filter && store.list(listOrders, { ...owner, ...filter });
}

function orderFilter({ limit = PAGE, cursor, ...filters }: Query): Omit<OrderFilter, keyof Owner> | undefined {
  const { status, created_after, created_before, ...others } = filters;
  if (Object.values(others).some((value) => value !== undefined)) return undefined;
  const [createdAfter, createdBefore] = [created_after, created_before].map(momentIn);
  const valid =
    isPage(limit) && isCursor(cursor) && isStatus(status) && createdAfter !== null && createdBefore !== null;
  return valid ? { limit, cursor, status, createdAfter, createdBefore } : undefined;
}

function isPage(limit: Query[string]): limit is number {
  return Number.isInteger(limit) && Number(limit) >= 1 && Number(limit) <= LONGEST_PAGE;
}

function isCursor(cursor: Query[string]): cursor is string | undefined {
  return cursor === undefined || (typeof cursor === "string" && /^\S{1,500}$/.test(cursor));
}

function isStatus(status: Query[string]): status is OrderStatus | undefined {
  return status === undefined || orderStatuses.some((one) => one === status);
}

/** The moment (ms) of a time in a query; null for one that is not valid. */
function momentIn(text: Query[string]): number | null | undefined {
  if (text === undefined) return undefined;
  return typeof text === "string" ? instantOf(text) : null;
}
