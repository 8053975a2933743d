import { Type } from "typebox";
import { listProducts } from "../../core/catalog/list.ts";
import { showProduct } from "../../core/catalog/product.ts";
import type { RoutePlugin } from "../context/fastify.ts";
import { keptForEpoch } from "../plugins/kept-for-epoch.ts";
import { type KeptResponse, keptResponse, keptSize, sendKept } from "../plugins/kept-response.ts";
import { serializerOf } from "../plugins/validation.ts";
import { NotModified, UuidOf } from "../schemas/common.ts";
import { ProductDetail, ProductPage, ProductQuery } from "../schemas/product.ts";

/** The size of the cache of pages: hundreds of usual ones, and a bound on long ones. */
const CACHED_BYTES = 8_000_000;

/** Contract: Products. */
export const productRoutes: RoutePlugin = (app, { store }) => {
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
      const kept = await pages();
      const key = JSON.stringify(request.query);
      const known = kept.get(key);
      if (known !== undefined) return sendKept(request, reply, known);
      const made = keptResponse(textOf(await store.list(listProducts, request.query)));
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
    handler: (request) => store.read(showProduct, request.params.id),
  });
};
