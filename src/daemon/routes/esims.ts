import { esimStatus } from "../../core/esims/status.ts";
import type { RoutePlugin } from "../context/fastify.ts";
import { principalOf } from "../plugins/access.ts";
import { EsimStatus, IccidParams } from "../schemas/esim.ts";

/** Contract: eSIM status. */
export const esimRoutes: RoutePlugin = (app, { store }) => {
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
};
