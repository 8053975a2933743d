import { and, desc, eq, gte, sql } from "drizzle-orm";
import { isoTimeOrNull } from "../kernel/clock.ts";
import { firstUuidOf } from "../kernel/ids.ts";
import { bindingOf, isCustomer, type OverAll, startOf } from "../kernel/list-filter.ts";
import { type Pagination, pageOf, walk } from "../kernel/page.ts";
import type { EsimStatus } from "../store/schema/values.ts";
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
}

const sold = statement((db, t, slot: Slots<Window>) =>
  db
    .select({
      esim: t.esims,
      partner: t.partners.slug,
      sku: t.products.sku,
      order_number: t.orders.order_number,
      external_order_id: t.orders.external_order_id,
      customer: t.orders.customer,
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
      ),
    )
    .orderBy(desc(t.esims.order_id), desc(t.esims.id))
    .limit(slot.limit),
);

type Found = Awaited<ReturnType<typeof sold>>[number];

/** A sold eSIM as the operator's list shows it; its codes are not in it. */
export type ListedEsim = ReturnType<typeof toListed>;

/**
 * A page of the eSIMs of all partners' production orders, the newest order first. All but the times is looked for page
 * by page. Throws `invalid_cursor`.
 */
export async function listAllEsims(
  q: Read,
  filter: AllEsimsFilter,
): Promise<{ data: ListedEsim[]; count: number; pagination: Pagination }> {
  const { limit, cursor, customer, partnerId, status, sku, expiresBefore, since = 0, until } = filter;
  const fits = ({ esim, sku: own, customer: known }: Found) =>
    (partnerId === undefined || esim.partner_id === partnerId) &&
    (status === undefined || esim.status === status) &&
    (sku === undefined || own === sku) &&
    (expiresBefore === undefined || (esim.expires_at !== null && esim.expires_at < expiresBefore)) &&
    isCustomer(known, customer);
  const positionOf = ({ esim }: Found) => ({ key: esim.order_id ?? "", id: esim.id });
  const { rows, pagination } = await pageOf(
    {
      limit,
      cursor,
      binding: bindingOf("all_esims", { ...filter, environment: "production" }),
      start: { key: startOf(until).id, id: "" },
    },
    (window) => walk(window, fits, { read: (from) => sold(q, { ...from, from: firstUuidOf(since) }), positionOf }),
    positionOf,
  );
  return { data: rows.map(toListed), count: rows.length, pagination };
}

function toListed({ esim, partner, sku, order_number, external_order_id, customer }: Found) {
  return {
    iccid: esim.iccid,
    id: esim.id,
    partner,
    status: esim.status,
    sku,
    order_id: esim.order_id,
    order_number,
    external_order_id,
    customer_name: customer?.name ?? null,
    assigned_at: isoTimeOrNull(esim.assigned_at),
    activated_at: isoTimeOrNull(esim.activated_at),
    expires_at: isoTimeOrNull(esim.expires_at),
    used_mb: esim.used_mb,
  };
}
