import { LRUCache } from "lru-cache";
import { Type } from "typebox";
import { listProducts } from "../../core/catalog/list.ts";
import { showProductAt } from "../../core/catalog/product.ts";
import { isoTime } from "../../core/kernel/clock.ts";
import type { Store } from "../../core/store/store.ts";
import type { RoutePlugin } from "../context/fastify.ts";
import { principalOf } from "../plugins/access.ts";
import { type KeptResponse, keptResponse, keptSize, sendKept } from "../plugins/kept-response.ts";
import { serializerOf } from "../plugins/validation.ts";
import { NotModified, UuidOf } from "../schemas/common.ts";
import { ProductDetail, ProductPage, ProductQuery } from "../schemas/product.ts";

/** The size of the cache of pages: hundreds of usual ones, and a bound on long ones. */
const CACHED_BYTES = 8_000_000;

/** Contract: Products. */
export const productRoutes: RoutePlugin = (app, { store, clock }) => {
  const textOf = serializerOf(ProductPage);
  const pages = keptForEpoch<KeptResponse>(store, { bytes: CACHED_BYTES, sizeOf: keptSize });

  app.route({
    method: "GET",
    url: "/api/v1/products",
    config: { scope: "read:products", problems: ["invalid_cursor"], etag: true },
    schema: {
      operationId: "listProducts",
      tags: ["Products"],
      summary: "Browse the catalog",
      description:
        "Filter by region, type and status, sort by date, price or name. By default active " +
        "products, newest first.",
      querystring: ProductQuery,
      response: { 200: ProductPage, 304: NotModified },
    },
    async handler(request, reply) {
      const { query } = request;
      const { priceList = null } = principalOf(request);
      const kept = await pages();
      // What a list says changes by itself when a rule begins or ends, at midnight UTC.
      const key = JSON.stringify(priceList === null ? query : [query, priceList, isoTime(clock.now()).slice(0, 10)]);
      const known = kept.get(key);
      if (known !== undefined) return sendKept(request, reply, known);
      const made = keptResponse(textOf(await store.list(listProducts, { ...query, priceList })));
      kept.set(key, made);
      return sendKept(request, reply, made);
    },
  });

  app.route({
    method: "GET",
    url: "/api/v1/products/:id",
    config: { scope: "read:products", problems: ["not_found"] },
    schema: {
      operationId: "getProduct",
      tags: ["Products"],
      summary: "Read one product",
      description: "Any product by its id, with features, network and compatible devices, whatever its status.",
      params: Type.Object({ id: UuidOf<"product">("The product") }),
      response: { 200: ProductDetail },
    },
    handler(request) {
      const { priceList = null } = principalOf(request);
      return store.read(showProductAt, { id: request.params.id, priceList });
    },
  });
};

/** Values by key, made from what one epoch of reference data holds. */
interface Kept<T> {
  readonly epoch: number;
  get(key: string): T | undefined;
  /** Keeps a value that was made after these were asked for; once their epoch has ended it is not kept. */
  set(key: string, value: T): void;
}

/** How much is kept: `bytes` in all, each value with its key counted by `sizeOf`. */
interface Bound<T> {
  bytes: number;
  sizeOf(value: T, key: string): number;
}

/**
 * Keeps values, those used last, and drops all of them once any process changes reference data: partners, keys, the
 * catalog, settings, and what names an erased person. The result asks for the epoch at each call.
 */
export function keptForEpoch<T extends object>(store: Store, { bytes, sizeOf }: Bound<T>): () => Promise<Kept<T>> {
  let kept = fresh(-1);

  function fresh(epoch: number): Kept<T> {
    const values = new LRUCache<string, T>({ maxSize: bytes, sizeCalculation: sizeOf });
    return { epoch, get: (key) => values.get(key), set: (key, value) => void values.set(key, value) };
  }

  return async () => {
    const now = await store.epoch();
    // Who still makes a value of the last epoch keeps it there, where no one finds it.
    if (now !== kept.epoch) kept = fresh(now);
    return kept;
  };
}
