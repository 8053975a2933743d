import { type ActivationRow, activationById, activationsOfIccid, holderOfIccid } from "../activations/activation.ts";
import { customerOf, type NamedCustomer } from "../activations/customer.ts";
import { esimsOfIccid } from "../esims/esim.ts";
import type { ActivationId } from "../kernel/brand.ts";
import { travelerOf } from "../orders/customer.ts";
import { findItem, type ItemRow, itemsOfOrder } from "../orders/items.ts";
import { type OrderRow, requireOrder } from "../orders/order.ts";
import type { Traveler } from "../store/schema/values.ts";
import type { Read } from "../store/store.ts";
import { isOwn, type Named, namedOrders } from "./named-orders.ts";

/**
 * The physical-SIM requests that an identifier names: by id, or by ICCID the one that holds it. Where all of an ICCID
 * have ended, it is the newest of each owner.
 */
export async function namedActivations(q: Read, { given, owner }: Named): Promise<ActivationRow[]> {
  const word = given.trim().toLowerCase();
  const rows = /^\d{13,20}$/.test(word) ? await ofIccid(q, word) : await ofId(q, word);
  return rows.filter((row) => isOwn(row, owner));
}

async function ofId(q: Read, id: string): Promise<ActivationRow[]> {
  // A typed id: the database decides whether it exists.
  const row = await activationById(q, id as ActivationId);
  return row === null ? [] : [row];
}

async function ofIccid(q: Read, iccid: string): Promise<ActivationRow[]> {
  const ended = (await activationsOfIccid(q, iccid)).toSorted((a, b) => (a.id < b.id ? 1 : -1));
  const holder = await holderOfIccid(q, iccid);
  const newest = new Map<string, ActivationRow>();
  for (const row of holder === null ? ended : [holder, ...ended]) {
    const owner = `${row.partner_id} ${row.environment}`;
    if (!newest.has(owner)) newest.set(owner, row);
  }
  return holder === null ? [...newest.values()] : [holder];
}

/** What staff work by hand: a physical-SIM request, or an item of an order. */
export type HandWork =
  | { kind: "activation"; row: ActivationRow; customer: NamedCustomer }
  | { kind: "order_item"; row: ItemRow; order: OrderRow; traveler: Traveler | null };

/**
 * What an identifier names of the work that is done by hand: a physical-SIM request by id or ICCID; else items of
 * orders, by their id, by the ICCID of the eSIM that their line delivered, or by anything that names the order.
 */
export async function namedHandWork(q: Read, given: string): Promise<HandWork[]> {
  const requests = await namedActivations(q, { given });
  if (requests.length > 0) return requests.map((row) => ({ kind: "activation", row, customer: customerOf(q, row) }));
  const word = given.trim().toLowerCase();
  const item = await findItem(q, word);
  if (item !== null) return [itemWork(q, item, await requireOrder(q, item.order_id))];
  const lines = /^\d{19,20}$/.test(word) ? (await esimsOfIccid(q, word)).map(({ line_id }) => line_id) : [];
  const work: HandWork[] = [];
  for (const order of await namedOrders(q, { given })) {
    const items = await itemsOfOrder(q, order.id);
    const ofEsim = items.filter(({ line_id }) => lines.includes(line_id));
    for (const row of ofEsim.length > 0 ? ofEsim : items) work.push(itemWork(q, row, order));
  }
  return work;
}

function itemWork(q: Read, row: ItemRow, order: OrderRow): HandWork {
  return { kind: "order_item", row, order, traveler: travelerOf(q, row) };
}
