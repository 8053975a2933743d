import { parseMarkup } from "../../core/catalog/retail-price.ts";
import { catalogSync } from "../../core/catalog/sync/sync.ts";
import type { RoutePlugin } from "../context/fastify.ts";
import { principalOf } from "../plugins/access.ts";
import { CatalogSync, SyncQuery } from "../schemas/catalog.ts";

/** Contract: GET /catalog/sync. */
export const catalogRoutes: RoutePlugin = (app, { store, addresses }) => {
  app.route({
    method: "GET",
    url: "/api/v1/catalog/sync",
    config: { scope: "read:products" },
    schema: {
      operationId: "syncCatalog",
      tags: ["Catalog"],
      summary: "Export the catalog for an e-commerce platform",
      description: "All active products at once, oldest first, with a suggested retail price.",
      querystring: SyncQuery,
      response: { 200: CatalogSync },
    },
    async handler(request, reply) {
      const { format, region, country, type, purpose, currency, include_images, markup } = request.query;
      const catalog = await store.list(catalogSync, {
        format,
        region,
        country,
        type,
        purpose,
        currency,
        priceList: principalOf(request).priceList ?? null,
        // A number of up to 15 digits has the very text it was read from; parseMarkup lets fewer through.
        markup: parseMarkup(String(markup)),
        pictures: include_images === "true" ? addresses.publicUrl : null,
      });
      // The compiled serializer would try each of the three shapes on each product.
      return reply
        .type("application/json; charset=utf-8")
        .serializer(() => JSON.stringify(catalog))
        .send(catalog);
    },
  });
};
