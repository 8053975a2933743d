import type { OrderId } from "../../core/kernel/brand.ts";
import type { Owner } from "../../core/kernel/owner.ts";
import {
  listOrders,
  listOrderVersions,
  type OrderFilter,
  type OrderVersion,
  ordersInVersions,
} from "../../core/orders/list.ts";
import { orderVersion } from "../../core/orders/order.ts";
import { type OrderRequest, type ShownOrder, showOrder, UNITS_AT_ONCE } from "../../core/orders/show.ts";
import type { Store } from "../../core/store/store.ts";
import type { StillHolds } from "../context/fastify.ts";
import { type Kept, keptForEpoch, sameEpoch } from "../plugins/kept-for-epoch.ts";
import { type KeptResponse, keptResponse } from "../plugins/kept-response.ts";
import { serializerOf } from "../plugins/validation.ts";
import { Pagination } from "../schemas/common.ts";
import { OrderWithFulfillment } from "../schemas/delivered-order.ts";
import { Order, OrderPage } from "../schemas/order.ts";

/** What is kept of orders, in bytes: single ones as they are sent, and the records of lists. */
const KEPT_ORDERS = 24 * 1024 * 1024;
const KEPT_RECORDS = 8 * 1024 * 1024;
const KEPT_PAGES = 4 * 1024 * 1024;
/** What an entry costs beside its text. */
const ENTRY = 400;

/** An order as it is sent. */
export interface KeptOrder {
  version: number;
  response: KeptResponse;
  /** How many activation codes it shows. */
  codes: number;
  /** Whose it is. */
  owner: Owner;
  /** Of the database when this was found to be its version last (`Store.state`). */
  state: number | null;
  stillHolds: StillHolds;
}

/** A page as it is sent, in one state of the database. */
interface KeptPage {
  state: number;
  bytes: Buffer;
}

/** The record of an order in a list, serialized. */
interface KeptRecord {
  version: number;
  text: string;
}

/**
 * Responses about orders, kept while the version of their order is the stored one. While nothing is committed at all
 * not even that is looked up.
 */
export interface KeptOrders {
  /** One order; of a large one, whose body is sent in pieces, what was read. Throws `not_found`. */
  order(asked: OrderRequest): Promise<KeptOrder | ShownOrder>;
  /** The body of a page of orders. Throws `invalid_cursor`. */
  page(filter: OrderFilter): Promise<string | Buffer>;
}

/** Keeps what was read of orders by this process. */
export function keptOrders(store: Store): KeptOrders {
  const orders = keptForEpoch<KeptOrder>(store, {
    bytes: KEPT_ORDERS,
    sizeOf: ({ response }) => response.bytes.length + ENTRY,
  });
  const records = keptForEpoch<KeptRecord>(store, {
    bytes: KEPT_RECORDS,
    // A text may take two bytes a character.
    sizeOf: ({ text }) => 2 * text.length + ENTRY,
  });
  const pages = keptForEpoch<KeptPage>(store, { bytes: KEPT_PAGES, sizeOf: ({ bytes }) => bytes.length + ENTRY });
  return {
    order: async (asked) => orderOf(store, asked, await orders()),
    async page(filter) {
      const kept = await pages();
      // Before anything is read: what is committed meanwhile makes it another one.
      const state = await store.state();
      if (state === null) return pageOf(store, filter, await records());
      const name = JSON.stringify(filter);
      const known = kept.get(name);
      if (known?.state === state) return known.bytes;
      const bytes = Buffer.from(await pageOf(store, filter, await records()));
      kept.set(name, { state, bytes });
      return bytes;
    },
  };
}

/** Whether nothing was committed since this order was found to be current. */
function isUntouched({ owner, state }: KeptOrder, asked: OrderRequest, now: number | null): boolean {
  const { partnerId, environment } = asked.owner;
  return now !== null && state === now && owner.partnerId === partnerId && owner.environment === environment;
}

/** Whether an order has this version still, and nothing else changed that it is shown by. It holds on to no more. */
function inVersion(store: Store, own: { owner: Owner; id: OrderId }, version: number, epoch: number): StillHolds {
  const isSameEpoch = sameEpoch(store, epoch);
  return async () => (await isSameEpoch()) && (await store.look(orderVersion, own)) === version;
}

async function orderOf(store: Store, asked: OrderRequest, kept: Kept<KeptOrder>): Promise<KeptOrder | ShownOrder> {
  // Before anything is read, as above.
  const state = await store.state();
  const found = kept.get(asked.id);
  if (found !== undefined && isUntouched(found, asked, state)) return found;
  const version = await store.look(orderVersion, asked);
  const known = kept.get(asked.id);
  if (known !== undefined && known.version === version) {
    known.state = state;
    return known;
  }
  const shown = await store.read(showOrder, { ...asked, most: UNITS_AT_ONCE });
  if (shown.open.size > 0) return shown;
  const text = serializerOf(OrderWithFulfillment)(shown.order);
  const { partnerId, environment } = asked.owner;
  const owner = { partnerId, environment };
  const stillHolds = inVersion(store, { owner, id: asked.id }, shown.version, kept.epoch);
  const response = keptResponse(text);
  const made = { version: shown.version, response, codes: codesIn(shown), owner, state, stillHolds };
  kept.set(asked.id, made);
  return made;
}

/** How many eSIMs an order shows with their codes. */
export function codesIn({ order, open }: ShownOrder): number {
  const shown = order.line_items.map(({ id, quantity, fulfillment: { esims } }) =>
    open.has(id) ? quantity : Array.isArray(esims) ? esims.length : 0,
  );
  return shown.reduce((sum, esims) => sum + esims, 0);
}

async function pageOf(store: Store, filter: OrderFilter, kept: Kept<KeptRecord>): Promise<string> {
  const { productId, externalOrderId, ...others } = filter;
  if (productId === undefined && externalOrderId === undefined) {
    // One statement needs no snapshot, unless a replica takes it.
    const versions = store.replica === null ? store.look : store.list;
    const { orders, pagination } = await versions(listOrderVersions, others);
    const missing = orders.filter(({ id, version }) => kept.get(id)?.version !== version);
    if (missing.length > 0) await keepRecords(store, filter, missing, kept);
    const texts = orders.map(({ id, version }) => textOf(kept.get(id), version));
    if (texts.every((text) => text !== null)) {
      return `{"data":[${texts.join(",")}],"pagination":${serializerOf(Pagination)(pagination)}}`;
    }
  }
  // Of one state: a filter that no version follows, or an order that changed meanwhile.
  return serializerOf(OrderPage)(await store.list(listOrders, filter));
}

function textOf(known: KeptRecord | undefined, version: number): string | null {
  return known?.version === version ? known.text : null;
}

async function keepRecords(
  store: Store,
  owner: OrderFilter,
  missing: readonly OrderVersion[],
  kept: Kept<KeptRecord>,
): Promise<void> {
  const ids: OrderId[] = missing.map(({ id }) => id);
  const serialize = serializerOf(Order);
  for (const { version, record } of await store.list(ordersInVersions, { owner, ids })) {
    kept.set(record.id, { version, text: contiguous(serialize(record)) });
  }
}

/** The same text in one piece: concatenated by a serializer it keeps its hundred parts, and takes thrice the memory. */
function contiguous(text: string): string {
  return Buffer.from(text).toString();
}
