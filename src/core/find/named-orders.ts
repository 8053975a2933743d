import { esimsOfIccid, findEsim, presentEsims } from "../esims/esim.ts";
import type { EsimId, OrderId } from "../kernel/brand.ts";
import type { Owner } from "../kernel/owner.ts";
import { ordersBookedAs } from "../orders/idempotency.ts";
import { findItem } from "../orders/items.ts";
import { findOrderByNumber, type OrderRow } from "../orders/order.ts";
import { findByKey } from "../store/rows.ts";
import type { Read } from "../store/store.ts";

/** An identifier as it was typed, and whose records it may name; left out: any partner's. */
export interface Named {
  given: string;
  owner?: Owner | undefined;
}

/**
 * The orders that an identifier names: an order number, the id of an order, of one of its items or of an eSIM, the
 * ICCID of an eSIM, or the partner's own booking number. Partners choose booking numbers: one that looks like an
 * order's number or id does not hide that order.
 */
export async function namedOrders(q: Read, { given, owner }: Named): Promise<OrderRow[]> {
  const word = given.trim();
  const ours = await byOurs(q, word);
  const orders = ours.length > 0 ? ours : [...(await ofIccid(q, word, owner)), ...(await ordersBookedAs(q, word))];
  return [...new Map(orders.map((order) => [order.id, order])).values()].filter((order) => isOwn(order, owner));
}

/** Whether a record belongs to `owner`; true where none is given. */
export function isOwn(row: { partner_id: string | null; environment: string | null }, owner: Owner | undefined) {
  return owner === undefined || (row.partner_id === owner.partnerId && row.environment === owner.environment);
}

async function byOurs(q: Read, word: string): Promise<OrderRow[]> {
  const byNumber = await findOrderByNumber(q, word);
  if (byNumber !== null) return [byNumber];
  const id = word.toLowerCase();
  // Any text may come as an id: only that of a record finds one.
  const orderId = (await findItem(q, id))?.order_id ?? (await findEsim(q, id as EsimId))?.order_id ?? (id as OrderId);
  const order = await findByKey(q, "orders", { id: orderId });
  return order === null ? [] : [order];
}

async function ofIccid(q: Read, word: string, owner: Owner | undefined): Promise<OrderRow[]> {
  if (!/^\d{19,20}$/.test(word)) return [];
  const orders: OrderRow[] = [];
  const esims = (await esimsOfIccid(q, word)).filter((esim) => isOwn(esim, owner));
  for (const { order_id } of presentEsims(esims)) {
    const order = order_id === null ? null : await findByKey(q, "orders", { id: order_id });
    if (order !== null) orders.push(order);
  }
  return orders;
}
