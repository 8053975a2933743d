import { and, desc, eq, gte, sql } from "drizzle-orm";
import { isoTimeOrNull } from "../kernel/clock.ts";
import { firstUuidOf } from "../kernel/ids.ts";
import { bindingOf, type OverAll, startOf } from "../kernel/list-filter.ts";
import { type Pagination, pageOf, walk } from "../kernel/page.ts";
import { customerFilter } from "../platform/customer-filter.ts";
import type { EsimStatus } from "../store/schema/values.ts";
import { namedIn, sealedOrderCustomer } from "../store/sealing/people.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

/** Which sold eSIMs of all partners; `since` and `until` are when they were ordered. */
export interface AllEsimsFilter extends Omit<OverAll, "environment"> {
  status?: EsimStatus | undefined;
  sku?: string | undefined;
  /** Those with an expiry before this moment (ms). */
  expiresBefore?: number | undefined;
}

interface Window {
  from: string;
  key: string;
  id: string;
  limit: number;
  digests: string;
}

/** Sold eSIMs, the newest order first: all, or those of customers that the index of people leads to. */
function listed(ofCustomer: boolean) {
  return statement((db, t, slot: Slots<Window>, dialect) =>
    db
      .select({
        esim: t.esims,
        partner: t.partners.slug,
        sku: t.products.sku,
        order_id: t.orders.id,
        order_number: t.orders.order_number,
        external_order_id: t.orders.external_order_id,
        customer_sealed: t.orders.customer_sealed,
      })
      .from(t.esims)
      .innerJoin(t.orders, eq(t.orders.id, t.esims.order_id))
      .innerJoin(t.partners, eq(t.partners.id, t.orders.partner_id))
      .innerJoin(t.products, eq(t.products.id, t.esims.product_id))
      .where(
        and(
          gte(t.esims.order_id, sql`${slot.from}`),
          sql`(${t.esims.order_id}, ${t.esims.id}) < (${slot.key}, ${slot.id})`,
          // Those of the sandbox are computed: only what changed of them is stored.
          eq(t.orders.environment, "production"),
          ofCustomer ? namedIn(t, t.orders.id, sql`${slot.digests}`, dialect) : undefined,
        ),
      )
      .orderBy(desc(t.esims.order_id), desc(t.esims.id))
      .limit(slot.limit),
  );
}

const lists = { all: listed(false), ofCustomer: listed(true) };

type Found = Awaited<ReturnType<typeof lists.all>>[number];

/** A sold eSIM as the operator's list shows it; its codes are not in it. */
export type ListedEsim = ReturnType<typeof toListed>;

/**
 * A page of the eSIMs of all partners' production orders, the newest order first. A customer
 * is looked for by the index of people, a status and a product page by page. Throws `invalid_cursor`.
 */
export async function listAllEsims(
  q: Read,
  filter: AllEsimsFilter,
): Promise<{ data: ListedEsim[]; count: number; pagination: Pagination }> {
  const { limit, cursor, customer, partnerId, status, sku, expiresBefore, since = 0, until } = filter;
  const who = await customerFilter(q, customer, { partnerId, environment: "production" });
  const fits = ({ esim, sku: own, ...found }: Found) =>
    (partnerId === undefined || esim.partner_id === partnerId) &&
    (status === undefined || esim.status === status) &&
    (sku === undefined || own === sku) &&
    (expiresBefore === undefined || (esim.expires_at !== null && esim.expires_at < expiresBefore)) &&
    who.fits(() => customerIn(q, found));
  const list = who.digests === null ? lists.all : lists.ofCustomer;
  const slots = { from: firstUuidOf(since), digests: who.digests ?? "" };
  const positionOf = ({ esim }: Found) => ({ key: esim.order_id ?? "", id: esim.id });
  const { rows, pagination } = await pageOf(
    {
      limit,
      cursor,
      binding: bindingOf("all_esims", { ...filter, environment: "production" }),
      start: { key: startOf(until).id, id: "" },
    },
    (window) => walk(window, fits, { read: (from) => list(q, { ...from, ...slots }), positionOf }),
    positionOf,
  );
  return { data: rows.map((row) => toListed(q, row)), count: rows.length, pagination };
}

function customerIn(q: Read, { order_id: id, customer_sealed }: Pick<Found, "order_id" | "customer_sealed">) {
  return sealedOrderCustomer.open(q, id, customer_sealed);
}

function toListed(q: Read, { esim, partner, sku, order_number, external_order_id, ...found }: Found) {
  return {
    iccid: esim.iccid,
    id: esim.id,
    partner,
    status: esim.status,
    sku,
    order_id: esim.order_id,
    order_number,
    external_order_id,
    customer_name: customerIn(q, found)?.name ?? null,
    assigned_at: isoTimeOrNull(esim.assigned_at),
    activated_at: isoTimeOrNull(esim.activated_at),
    expires_at: isoTimeOrNull(esim.expires_at),
    used_mb: esim.used_mb,
  };
}
