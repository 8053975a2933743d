import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Environment } from "../kernel/environment.ts";
import type { OverAll } from "../kernel/list-filter.ts";
import type { Pagination } from "../kernel/page.ts";
import type { Waiting } from "../kernel/waiting.ts";
import { type AllPartnersWindow, pageOfAllPartners, windowOf } from "../platform/all-partners.ts";
import { type CustomerFilter, customerFilter } from "../platform/customer-filter.ts";
import type { Tables } from "../store/schema/tables.ts";
import type { OrderStatus } from "../store/schema/values.ts";
import { namedIn } from "../store/sealing/people.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Dialect, Read } from "../store/store.ts";
import { customerOf } from "./customer.ts";
import { linesOfOrders } from "./list.ts";
import { notFulfilled, type Order, toOrder } from "./order.ts";
import { waitingOfOrder } from "./waiting-of-order.ts";

/** Which orders of all partners. */
export interface AllOrdersFilter extends OverAll {
  status?: OrderStatus | undefined;
  /** With a line of this product. */
  sku?: string | undefined;
}

/** An order as the operator's list shows it. */
export interface ListedOrder extends Order {
  partner: string;
  environment: Environment;
  waiting: Waiting | null;
}

interface Window extends AllPartnersWindow {
  status: OrderStatus;
  sku: string;
}

type Narrowed = (t: Tables, slot: Slots<Window>, dialect: Dialect) => SQL | undefined;

/** Orders by what leads to them, newest first; `narrowed` only filters. */
function listed(byCreated: boolean, narrowed: Narrowed[]) {
  return statement((db, t, slot: Slots<Window>, dialect) => {
    const { rows, order } = windowOf(t.orders, slot, byCreated);
    return db
      .select({ order: t.orders, partner: t.partners.slug })
      .from(t.orders)
      .innerJoin(t.partners, eq(t.partners.id, t.orders.partner_id))
      .where(and(rows, ...narrowed.map((one) => one(t, slot, dialect))))
      .orderBy(...order)
      .limit(slot.limit);
  });
}

const inStatus: Narrowed = (t, slot) => eq(t.orders.status, slot.status);
const others: Narrowed = (t) => notFulfilled(t);
const ofPartner: Narrowed = (t, slot) => eq(t.orders.partner_id, slot.partnerId);
const ofCustomer: Narrowed = (t, slot, dialect) => namedIn(t, t.orders.id, sql`${slot.digests}`, dialect);
const withSku: Narrowed = (t, slot) =>
  sql`exists (select 1 from ${t.orderLines} where ${t.orderLines.order_id} = ${t.orders.id}
    and ${t.orderLines.product_sku} = ${slot.sku})`;

/** A list, and the same narrowed to a product. */
function both(byCreated: boolean, narrowed: Narrowed[]) {
  return { any: listed(byCreated, narrowed), sku: listed(byCreated, [...narrowed, withSku]) };
}

const lists = {
  all: both(false, []),
  fulfilled: both(false, [inStatus]),
  inStatus: both(true, [inStatus, others]),
  ofPartner: both(true, [ofPartner]),
  ofPartnerFulfilled: both(true, [ofPartner, inStatus]),
  ofPartnerInStatus: both(true, [ofPartner, inStatus, others]),
  ofCustomer: both(false, [ofCustomer]),
};

type Found = Awaited<ReturnType<typeof lists.all.any>>[number];

function listFor({ partnerId, status, sku }: AllOrdersFilter, { digests }: CustomerFilter) {
  const list = () => {
    if (digests !== null) return lists.ofCustomer;
    if (partnerId === undefined) {
      if (status === undefined) return lists.all;
      return status === "fulfilled" ? lists.fulfilled : lists.inStatus;
    }
    if (status === undefined) return lists.ofPartner;
    return status === "fulfilled" ? lists.ofPartnerFulfilled : lists.ofPartnerInStatus;
  };
  return list()[sku === undefined ? "any" : "sku"];
}

/**
 * A page of the orders of all partners in one environment, newest first, each with whom it waits for. A customer
 * is looked for by the index of people. Throws `invalid_cursor`.
 */
export async function listAllOrders(
  q: Read,
  filter: AllOrdersFilter,
): Promise<{ data: ListedOrder[]; count: number; pagination: Pagination }> {
  const { customer, status, environment, sku } = filter;
  const who = await customerFilter(q, customer, filter);
  const list = listFor(filter, who);
  const { rows, pagination } = await pageOfAllPartners<Found>("all_orders", filter, {
    // The chosen list uses only some of the slots.
    read: (window) => list(q, { ...window, digests: who.digests ?? "", status, sku } as Window),
    fits: ({ order }) => (status === undefined || order.status === status) && who.fits(() => customerOf(q, order)),
    recordOf: ({ order }) => order,
  });
  const lines = await linesOfOrders(
    q,
    rows.map(({ order }) => order.id),
  );
  const data: ListedOrder[] = [];
  for (const { order, partner } of rows) {
    const own = lines.get(order.id) ?? [];
    data.push({ partner, environment, ...toOrder(q, order, own), waiting: await waitingOfOrder(q, order, own) });
  }
  return { data, count: data.length, pagination };
}
