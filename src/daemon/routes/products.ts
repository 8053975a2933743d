import { LRUCache } from "lru-cache";
import { Type } from "typebox";
import { type ProductPage as CatalogPage, listProducts } from "../../core/catalog/list.ts";
import { showProduct } from "../../core/catalog/product.ts";
import type { Store } from "../../core/store/store.ts";
import type { RoutePlugin } from "../context/fastify.ts";
import { UuidOf } from "../schemas/common.ts";
import { ProductDetail, ProductPage, ProductQuery } from "../schemas/product.ts";

/** The size of the cache of pages: hundreds of usual ones, and a bound on long ones. */
const CACHED_CHARACTERS = 8_000_000;

/** Contract: Products. */
export const productRoutes: RoutePlugin = (app, { store }) => {
  const pages = createPageCache<CatalogPage>(store, CACHED_CHARACTERS);

  app.route({
    method: "GET",
    url: "/api/v1/products",
    config: { scope: "read:products", problems: ["invalid_cursor"] },
    schema: {
      operationId: "listProducts",
      tags: ["Products"],
      summary: "Browse the catalog",
      description:
        "Filter by region, type and status, sort by date, price or name. By default active " +
        "products, newest first.",
      querystring: ProductQuery,
      response: { 200: ProductPage },
    },
    async handler(request, reply) {
      const kept = await pages.get(JSON.stringify(request.query), async () => {
        const page = await store.read(listProducts, request.query);
        return { page, text: String(reply.serialize({ ...page })) };
      });
      return reply
        .type("application/json; charset=utf-8")
        .serializer(() => kept.text)
        .send(kept.page);
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
    handler: (request) => store.read(showProduct, request.params.id),
  });
};

/** A response and its serialized form. */
interface Kept<T> {
  page: T;
  text: string;
}

/** Responses that depend on reference data alone, ready to be sent: valid for one epoch of it. */
interface PageCache<T> {
  /** The response for `key`; made and kept when this epoch has none yet. */
  get(key: string, make: () => Promise<Kept<T>>): Promise<Kept<T>>;
}

/** Keeps `characters` of responses at most, and drops all of them once any process changes reference data. */
function createPageCache<T>(store: Store, characters: number): PageCache<T> {
  const kept = new LRUCache<string, Kept<T>>({ maxSize: characters, sizeCalculation: ({ text }) => text.length });
  let epoch = -1;
  return {
    async get(key, make) {
      const now = await store.epoch();
      if (now !== epoch) {
        kept.clear();
        epoch = now;
      }
      const known = kept.get(key);
      if (known !== undefined) return known;
      const made = await make();
      // Made in an epoch that has ended since: valid for this request, not for the next.
      if (now === epoch) kept.set(key, made);
      return made;
    },
  };
}
