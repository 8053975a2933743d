import { inventoryStatus } from "../../core/catalog/inventory.ts";
import { isUuid } from "../../core/kernel/is-uuid.ts";
import { type FieldErrors, invalid } from "../../core/kernel/problem.ts";
import { readSetting } from "../../core/platform/settings.ts";
import type { RoutePlugin } from "../context/fastify.ts";
import { Inventory, InventoryQuery } from "../schemas/catalog.ts";

/** Deprecated since 2026-01-01, as RFC 9745 writes a date. */
const DEPRECATION = "@1767225600";

const MOST = 200;
/** Contract: GET /inventory/status, deprecated. */
export const inventoryRoutes: RoutePlugin = (app, { store, addresses }) => {
  app.route({
    method: "GET",
    url: "/api/v1/inventory/status",
    config: { scope: "read:products", responseHeaders: { 200: ["Deprecation", "Sunset", "Link"] } },
    schema: {
      operationId: "getInventoryStatus",
      deprecated: true,
      tags: ["Catalog"],
      summary: "Read what is in stock",
      description:
        "Deprecated: place orders and read the balance instead. The Sunset header is sent once a date is set.",
      querystring: InventoryQuery,
      response: { 200: Inventory },
    },
    async handler(request, reply) {
      const errors: FieldErrors = {};
      const productIds = listed(request.query.product_ids?.toLowerCase(), "product_ids", errors);
      const skus = listed(request.query.skus, "skus", errors);
      if (productIds?.some((id) => !isUuid(id))) errors.product_ids = ["must be UUIDs with commas between"];
      if (Object.keys(errors).length > 0) throw invalid(errors);
      const sunset = await store.read(readSetting, "inventory_sunset");
      reply.header("deprecation", DEPRECATION).header("link", `<${addresses.docsUrl}>; rel="deprecation"`);
      if (sunset !== null) reply.header("sunset", new Date(sunset).toUTCString());
      return store.list(inventoryStatus, { productIds, skus, region: request.query.region });
    },
  });
};

/** The values between commas; empty ones do not count. */
function listed(text: string | undefined, field: string, errors: FieldErrors): string[] | undefined {
  if (text === undefined) return undefined;
  const values = [...new Set(text.split(",").map((value) => value.trim()))].filter((value) => value !== "");
  if (values.length === 0) errors[field] = ["must name at least one"];
  if (values.length > MOST) errors[field] = [`must name at most ${MOST}`];
  return values;
}
