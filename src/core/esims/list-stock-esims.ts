import { and, desc, eq, gte, lt, sql } from "drizzle-orm";
import type { OrderId, OrderLineId, PartnerId, ProductId } from "../kernel/brand.ts";
import type { Environment } from "../kernel/environment.ts";
import type { Owner } from "../kernel/owner.ts";
import type { Window } from "../kernel/page.ts";
import type { Tables } from "../store/schema/tables.ts";
import type { EsimStatus } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Db, Read } from "../store/store.ts";
import type { EsimRow } from "./esim.ts";

/** A delivered eSIM with what its product and its order say of it. */
export interface OwnEsim {
  esim: EsimRow;
  activation_policy: string | null;
  data_amount_mb: number;
  product_sku: string;
  order: { id: OrderId; order_number: string; created_at: number };
  line: { id: OrderLineId; position: number };
}

/** Whose eSIMs to read: each status has its own stretch of the index, and they are merged. */
interface Stored extends Owner {
  statuses: readonly EsimStatus[];
  orderId?: OrderId | undefined;
  productId?: ProductId | undefined;
}

interface Slot {
  partner_id: PartnerId;
  environment: Environment;
  status: EsimStatus;
  order_id: string | null;
  product_id: string | null;
  limit: number;
  id: string;
}

function describedEsims(db: Db, t: Tables) {
  return db
    .select({
      esim: t.esims,
      activation_policy: t.products.activation_policy,
      data_amount_mb: t.products.data_amount_mb,
      product_sku: t.orderLines.product_sku,
      order: { id: t.orders.id, order_number: t.orders.order_number, created_at: t.orders.created_at },
      line: { id: t.orderLines.id, position: t.orderLines.position },
    })
    .from(t.esims)
    .innerJoin(t.orderLines, eq(t.orderLines.id, t.esims.line_id))
    .innerJoin(t.orders, eq(t.orders.id, t.esims.order_id))
    .innerJoin(t.products, eq(t.products.id, t.esims.product_id));
}

/** Those of one owner in one status whose line is fulfilled: no code is visible before. */
function isOwn({ esims, orderLines }: Tables, slot: Slots<Slot>) {
  return and(
    eq(esims.partner_id, slot.partner_id),
    eq(esims.environment, slot.environment),
    eq(esims.status, slot.status),
    sql`(cast(${slot.product_id} as text) is null or ${esims.product_id} = cast(${slot.product_id} as text))`,
    eq(orderLines.status, "fulfilled"),
  );
}

const newest = statement((db, t, slot: Slots<Slot & { from: string; key: string }>) =>
  describedEsims(db, t)
    .where(
      and(
        isOwn(t, slot),
        gte(t.esims.order_id, sql`${slot.from}`),
        sql`(${t.esims.order_id}, ${t.esims.id}) < (${slot.key}, ${slot.id})`,
      ),
    )
    .orderBy(desc(t.esims.order_id), desc(t.esims.id))
    .limit(slot.limit),
);

const soonest = statement((db, t, slot: Slots<Slot & { before: number; key: number }>) =>
  describedEsims(db, t)
    .where(
      and(
        isOwn(t, slot),
        sql`(cast(${slot.order_id} as text) is null or ${t.esims.order_id} = cast(${slot.order_id} as text))`,
        lt(t.esims.expires_at, slot.before),
        sql`(${t.esims.expires_at}, ${t.esims.id}) > (${slot.key}, ${slot.id})`,
      ),
    )
    .orderBy(t.esims.expires_at, t.esims.id)
    .limit(slot.limit),
);

function slotsOf({ partnerId, environment, orderId, productId }: Stored) {
  return { partner_id: partnerId, environment, order_id: orderId ?? null, product_id: productId ?? null };
}

/** Stored eSIMs, the newest order first; of one order where `orderId` is given and the window begins at it. */
export async function ownByOrder(q: Read, asked: Stored, { key, id, limit }: Window<string>): Promise<OwnEsim[]> {
  const { order_id, ...slots } = slotsOf(asked);
  const rows: OwnEsim[] = [];
  for (const status of asked.statuses) {
    rows.push(...(await newest(q, { ...slots, order_id, from: order_id ?? "", status, key, id, limit })));
  }
  const placed = ({ esim }: OwnEsim) => `${esim.order_id} ${esim.id}`;
  return rows.sort((a, b) => (placed(a) < placed(b) ? 1 : -1)).slice(0, limit);
}

/** Stored eSIMs that expire before a moment (ms), the soonest first. */
export async function ownByExpiry(
  q: Read,
  asked: Stored & { expiresBefore: number },
  { key, id, limit }: Window<number>,
): Promise<OwnEsim[]> {
  const rows: OwnEsim[] = [];
  for (const status of asked.statuses) {
    const slots = { ...slotsOf(asked), before: asked.expiresBefore, status, key, id, limit };
    rows.push(...(await soonest(q, slots)));
  }
  const at = ({ esim }: OwnEsim) => esim.expires_at ?? 0;
  return rows.sort((a, b) => at(a) - at(b) || (a.esim.id < b.esim.id ? -1 : 1)).slice(0, limit);
}
