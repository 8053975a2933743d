import { Type } from "typebox";
import { type ProductPage as CatalogPage, listProducts } from "../../core/catalog/list.ts";
import { showProduct } from "../../core/catalog/product.ts";
import type { RoutePlugin } from "../context/fastify.ts";
import { UuidOf } from "../schemas/common.ts";
import { ProductDetail, ProductPage, ProductQuery } from "../schemas/product.ts";
import { createPageCache } from "./page-cache.ts";

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
