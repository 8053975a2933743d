import { createHash } from "node:crypto";
import { Type } from "typebox";
import { showProduct } from "../../core/catalog/product.ts";
import type { DaemonContext } from "../context/context.ts";
import type { App, RoutePlugin } from "../context/fastify.ts";
import { productPicture } from "../pages/product-picture.ts";
import { isUnchanged } from "../plugins/kept-response.ts";
import { NotModified, Picture, UuidOf } from "../schemas/common.ts";

/** The pictures that shops load by the addresses of the catalog export. */
export const mediaRoutes: RoutePlugin = (app, context) => {
  pictureRoute(app, context, { ending: "svg", type: "image/svg+xml", operationId: "getProductPicture" });
  pictureRoute(app, context, { ending: "png", type: "image/png", operationId: "getProductPicturePng" });
};

interface PictureForm {
  ending: "svg" | "png";
  type: string;
  operationId: string;
}

function pictureRoute(app: App, { store }: DaemonContext, { ending, type, operationId }: PictureForm): void {
  app.route({
    method: "GET",
    url: `/media/products/:id.${ending}`,
    config: { public: true, cache: "public, max-age=86400", problems: ["not_found"] },
    schema: {
      operationId,
      tags: ["Catalog"],
      summary: `Picture of a product as ${ending.toUpperCase()}`,
      description: "Drawn by the server, 800 by 800. The catalog export links to it.",
      produces: [type],
      params: Type.Object({ id: UuidOf<"product">("The product") }),
      response: { 200: Picture, 304: NotModified },
    },
    async handler(request, reply) {
      // Whatever its status: a shop may still show what can no longer be ordered.
      const svg = productPicture(await store.read(showProduct, request.params.id));
      const etag = `"${createHash("sha256").update(ending).update(svg).digest("base64url").slice(0, 22)}"`;
      reply.header("etag", etag);
      if (isUnchanged(request, etag)) return reply.code(304).send(null);
      return reply.type(type).send(ending === "svg" ? svg : await drawn(svg));
    },
  });
}

async function drawn(svg: string): Promise<Buffer> {
  const { rasterize } = await import("../pages/rasterize.ts");
  return rasterize(svg);
}
