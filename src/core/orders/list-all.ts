import { and, desc, eq, gte, lt, type SQL, sql } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import type { Environment } from "../kernel/environment.ts";
import { firstUuidOf } from "../kernel/ids.ts";
import { bindingOf, isCustomer, isEmail, type OverAll, startOf } from "../kernel/list-filter.ts";
import { byCreation, type Pagination, pageOf, walk } from "../kernel/page.ts";
import { emailKey } from "../kernel/search-keys.ts";
import type { Waiting } from "../kernel/waiting.ts";
import type { Tables } from "../store/schema/tables.ts";
import type { OrderStatus } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { linesOfOrders } from "./list.ts";
import { type Order, type OrderRow, toOrder } from "./order.ts";
import { waitingOfOrder } from "./waiting.ts";

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

interface Window {
  environment: Environment;
  /** The least id, and the least moment of creation. */
  from: string;
  since: number;
  key: number;
  id: string;
  limit: number;
  status: OrderStatus;
  sku: string;
  email: string;
  partnerId: PartnerId;
}

type Narrowed = (t: Tables, slot: Slots<Window>) => SQL | undefined;

/** Orders by what leads to them, newest first; `narrowed` only filters. */
function listed(byCreated: boolean, narrowed: Narrowed[]) {
  return statement((db, t, slot: Slots<Window>) => {
    const { created_at, id, environment, partner_id } = t.orders;
    const position = sql`(${created_at}, ${id}) < (${slot.key}, ${slot.id})`;
    // Ids begin with the moment of creation.
    const reached = byCreated ? [gte(created_at, slot.since), position] : [gte(id, slot.from), lt(id, slot.id)];
    return db
      .select({ order: t.orders, partner: t.partners.slug })
      .from(t.orders)
      .innerJoin(t.partners, eq(t.partners.id, partner_id))
      .where(and(eq(environment, slot.environment), ...reached, ...narrowed.map((one) => one(t, slot))))
      .orderBy(...(byCreated ? [desc(created_at)] : []), desc(id))
      .limit(slot.limit);
  });
}

const inStatus: Narrowed = (t, slot) => eq(t.orders.status, slot.status);
const ofPartner: Narrowed = (t, slot) => eq(t.orders.partner_id, slot.partnerId);
const ofEmail: Narrowed = (t, slot) => eq(t.orders.email_key, slot.email);
const withSku: Narrowed = (t, slot) =>
  sql`exists (select 1 from ${t.orderLines} where ${t.orderLines.order_id} = ${t.orders.id}
    and ${t.orderLines.product_sku} = ${slot.sku})`;

/** A list, and the same narrowed to a product. */
function both(byCreated: boolean, narrowed: Narrowed[]) {
  return { any: listed(byCreated, narrowed), sku: listed(byCreated, [...narrowed, withSku]) };
}

const lists = {
  all: both(false, []),
  inStatus: both(true, [inStatus]),
  ofPartner: both(true, [ofPartner]),
  ofPartnerInStatus: both(true, [ofPartner, inStatus]),
  ofEmail: both(false, [ofEmail]),
};

type Found = Awaited<ReturnType<typeof lists.all.any>>[number];

function listFor({ partnerId, status, sku, customer }: AllOrdersFilter) {
  const list = () => {
    if (isEmail(customer)) return lists.ofEmail;
    if (partnerId === undefined) return status === undefined ? lists.all : lists.inStatus;
    return status === undefined ? lists.ofPartner : lists.ofPartnerInStatus;
  };
  return list()[sku === undefined ? "any" : "sku"];
}

/**
 * A page of the orders of all partners in one environment, newest first, each with whom it waits for. A customer's name
 * is looked for page by page, an e-mail address by its index. Throws `invalid_cursor`.
 */
export async function listAllOrders(
  q: Read,
  filter: AllOrdersFilter,
): Promise<{ data: ListedOrder[]; count: number; pagination: Pagination }> {
  const { limit, cursor, customer, partnerId, status, environment, since = 0, until, sku } = filter;
  const list = listFor(filter);
  const slots = { environment, since, from: firstUuidOf(since), email: emailKey(customer) ?? "" };
  const fits = (order: OrderRow) =>
    (partnerId === undefined || order.partner_id === partnerId) &&
    (status === undefined || order.status === status) &&
    isCustomer(order.customer, customer);
  const positionOf = ({ order }: Found) => byCreation(order);
  const { rows, pagination } = await pageOf(
    { limit, cursor, binding: bindingOf("all_orders", filter), start: startOf(until) },
    (window) =>
      walk(window, ({ order }) => fits(order), {
        // The chosen list uses only some of the slots.
        read: (from) => list(q, { ...slots, ...from, status, sku, partnerId } as Window),
        positionOf,
      }),
    positionOf,
  );
  const lines = await linesOfOrders(
    q,
    rows.map(({ order }) => order.id),
  );
  const data: ListedOrder[] = [];
  for (const { order, partner } of rows) {
    const own = lines.get(order.id) ?? [];
    data.push({ partner, environment, ...toOrder(order, own), waiting: await waitingOfOrder(q, order, own) });
  }
  return { data, count: data.length, pagination };
}
