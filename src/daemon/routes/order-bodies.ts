import type { EsimId } from "../../core/kernel/brand.ts";
import {
  type EsimsPage,
  type OrderEsim as ListedEsim,
  lineEsims,
  orderEsimsAfter,
} from "../../core/orders/delivered-esims.ts";
import { MAX_INLINE_ESIMS, type OrderRequest, showOrder } from "../../core/orders/show.ts";
import type { Store } from "../../core/store/store.ts";
import { serializerOf } from "../plugins/validation.ts";
import { DeliveredLine, OrderWithFulfillment } from "../schemas/delivered-order.ts";
import { OrderEsim, OrderEsims } from "../schemas/order.ts";

/** eSIMs read and sent at a time. */
const PAGE = 100;

/** Whose order is read, and where. */
interface Reading {
  store: Store;
  asked: OrderRequest;
}

/** The body of GET /orders/{id} in pieces; all of it is of the state at its first read. */
export async function* orderPieces({ store, asked }: Reading): AsyncGenerator<string> {
  const { order, open } = await store.read(showOrder, { ...asked, most: MAX_INLINE_ESIMS });
  const whole = serializerOf(OrderWithFulfillment);
  const line = serializerOf(DeliveredLine);
  yield without(whole({ ...order, line_items: [] }), "]}");
  for (const [at, item] of order.line_items.entries()) {
    const comma = at === 0 ? "" : ",";
    if (!open.has(item.id)) {
      yield comma + line(item);
      continue;
    }
    yield comma + without(line(item), "]}}");
    const read = (after: EsimId | null) => store.list(lineEsims, { ...asked, line: item.id, after, limit: PAGE });
    yield* listed(read, JSON.stringify);
    yield "]}}";
  }
  yield "]}";
}

/**
 * The body of GET /orders/{id}/esims in pieces. Which eSIMs it has is settled once the order is fulfilled; the status
 * of each is of the moment at which its piece is read.
 */
export async function* esimsPieces({ store, asked }: Reading): AsyncGenerator<string> {
  const whole = serializerOf(OrderEsims);
  const one = serializerOf(OrderEsim);
  const read = (after: EsimId | null) => store.list(orderEsimsAfter, { ...asked, after, limit: PAGE });
  // Before the first piece, while a refusal can still be sent.
  const first = await read(null);
  let count = 0;
  const counted = (esim: ListedEsim) => {
    count += 1;
    return one(esim);
  };
  const end = '],"count":0}';
  yield without(whole({ order_id: asked.id, esims: [], count: 0 }), end);
  yield* listed((after) => (after === null ? Promise.resolve(first) : read(after)), counted);
  yield end.replace("0", String(count));
}

/** The items of a list's pages, with commas between. */
async function* listed<E>(
  read: (after: EsimId | null) => Promise<EsimsPage<E>>,
  serialize: (esim: E) => string,
): AsyncGenerator<string> {
  let after: EsimId | null = null;
  do {
    const page: EsimsPage<E> = await read(after);
    const text = page.esims.map((esim) => serialize(esim)).join(",");
    if (text !== "") yield after === null ? text : `,${text}`;
    after = page.next;
  } while (after !== null);
}

/** A serialized record up to where its last list, empty so far, begins. */
function without(text: string, end: string): string {
  if (!text.endsWith(`[${end}`)) throw new Error(`a record that ends with "[${end}" was expected`);
  return text.slice(0, -end.length);
}
