import { createHash } from "node:crypto";
import { Type } from "typebox";
import { showProduct } from "../../core/catalog/product.ts";
import type { RoutePlugin } from "../context/fastify.ts";
import { productPicture } from "../pages/product-picture.ts";
import { Picture, UuidOf } from "../schemas/common.ts";

/** The pictures that shops load by the addresses of the catalog export. */
export const mediaRoutes: RoutePlugin = (app, { store }) => {
  app.route({
    method: "GET",
    url: "/media/products/:id.svg",
    config: { public: true, cache: "public, max-age=86400", problems: ["not_found"] },
    schema: {
      operationId: "getProductPicture",
      tags: ["Catalog"],
      summary: "Picture of a product as SVG",
      description: "Drawn by the server. The catalog export links to it.",
      produces: ["image/svg+xml"],
      params: Type.Object({ id: UuidOf<"product">("The product") }),
      response: { 200: Picture, 304: Type.Null({ description: "Not modified since If-None-Match" }) },
    },
    async handler(request, reply) {
      // Whatever its status: a shop may still show what can no longer be ordered.
      const picture = productPicture(await store.read(showProduct, request.params.id));
      const etag = `"${createHash("sha256").update(picture).digest("base64url").slice(0, 22)}"`;
      reply.header("etag", etag);
      if (request.headers["if-none-match"] === etag) return reply.code(304).send(null);
      return reply.type("image/svg+xml").send(picture);
    },
  });
};
