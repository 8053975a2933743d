import { listOwnEsims } from "../../core/esims/list-own.ts";
import { esimStatus } from "../../core/esims/status.ts";
import type { DaemonContext } from "../context/context.ts";
import type { App, RoutePlugin } from "../context/fastify.ts";
import { principalOf } from "../plugins/access.ts";
import { EsimStatus, IccidParams } from "../schemas/esim.ts";
import { EsimPage, EsimQuery } from "../schemas/order.ts";
import { noteReading } from "./codes-read.ts";
import { timesIn } from "./query-times.ts";

/** Contract: eSIM status; beyond it: the list of a partner's eSIMs. */
export const esimRoutes: RoutePlugin = (app, context) => {
  listRoute(app, context);
  statusRoute(app, context);
};

function listRoute(app: App, { store, addresses }: DaemonContext): void {
  const { publicUrl } = addresses;
  app.route({
    method: "GET",
    url: "/api/v1/esims",
    config: { scope: "read:esims", problems: ["invalid_cursor"] },
    schema: {
      operationId: "listEsims",
      tags: ["eSIMs"],
      summary: "List your eSIMs over all orders",
      description:
        "Delivered eSIMs of the environment of your credential, as their orders show them, the newest order first. " +
        "With expires_before only those that were activated, the soonest expiry first.",
      querystring: EsimQuery,
      response: { 200: EsimPage },
    },
    async handler(request) {
      const { partnerId, environment } = principalOf(request);
      const { limit, cursor, status, order_id: orderId, product_id: productId, expires_before } = request.query;
      const expiresBefore = timesIn({ expires_before }).get("expires_before");
      const filter = { partnerId, environment, limit, cursor, status, orderId, productId, expiresBefore };
      const page = await store.list(listOwnEsims, { ...filter, publicUrl });
      const byOrder = Map.groupBy(page.data, (esim) => esim.order_id);
      await noteReading(
        store,
        request,
        [...byOrder].map(([id, esims]) => [id, esims.length] as const),
      );
      return page;
    },
  });
}

function statusRoute(app: App, { store }: DaemonContext): void {
  app.route({
    method: "GET",
    url: "/api/v1/esims/:iccid/status",
    config: { scope: "read:esims", problems: ["invalid_iccid", "esim_forbidden", "not_found"] },
    schema: {
      operationId: "getEsimStatus",
      tags: ["eSIMs"],
      summary: "Read the status, data usage and location of an eSIM",
      description: "The latest that the supplier reported. 403 for an eSIM that is not of your orders.",
      params: IccidParams,
      response: { 200: EsimStatus },
    },
    handler(request) {
      const { partnerId, environment } = principalOf(request);
      return store.read(esimStatus, { iccid: request.params.iccid, partnerId, environment });
    },
  });
}
