import { type Product, toProduct } from "../../core/catalog/product.ts";
import { payloadHash } from "../../core/kernel/canonical.ts";
import { type NewTopup as CoreTopup, createTopup } from "../../core/topups/create.ts";
import { fittingProducts } from "../../core/topups/fitting.ts";
import { atPartnerPrices } from "../../core/topups/offers.ts";
import { listTopups, showTopup } from "../../core/topups/topup.ts";
import { pathPrefix } from "../context/addresses.ts";
import { actorOf, credentialOf, type DaemonContext, type Principal } from "../context/context.ts";
import type { App, RoutePlugin } from "../context/fastify.ts";
import { principalOf } from "../plugins/access.ts";
import { requireExactNumbers } from "../plugins/exact-numbers.ts";
import { scenarioOf } from "../plugins/sandbox-only.ts";
import { IccidParams } from "../schemas/esim.ts";
import { NewOrderHeaders } from "../schemas/order.ts";
import { NewTopup, Topup, TopupPage, TopupParams, TopupProducts, TopupQuery } from "../schemas/topup.ts";
import { type TopupOffers, topupOffersOf } from "./topup-offers.ts";

/** Beyond the contract: more data for an eSIM that is sold. */
export const esimTopupRoutes: RoutePlugin = (app, context) => {
  requireExactNumbers(app);
  const offers = topupOffersOf(context);
  productsRoute(app, context, offers);
  createRoute(app, context, offers);
  listRoute(app, context);
};

/** One top-up by its id. */
export const topupRoutes: RoutePlugin = (app, { store }) => {
  app.route({
    method: "GET",
    url: "/api/v1/topups/:id",
    config: { scope: "read:esims", problems: ["not_found"] },
    schema: {
      operationId: "getTopup",
      tags: ["eSIMs"],
      summary: "Read one top-up",
      description: "Applied, it is on the eSIM; failed, its price was refunded.",
      params: TopupParams,
      response: { 200: Topup },
    },
    handler: (request) => store.read(showTopup, { id: request.params.id, owner: principalOf(request) }),
  });
};

function productsRoute(app: App, { store }: DaemonContext, offers: TopupOffers): void {
  app.route({
    method: "GET",
    url: "/api/v1/esims/:iccid/topup-products",
    config: { scope: "read:esims", problems: ["invalid_iccid", "esim_forbidden", "not_found", "supplier_unreachable"] },
    schema: {
      operationId: "listTopupProducts",
      tags: ["eSIMs"],
      summary: "List what an eSIM can be topped up with",
      description:
        "As its supplier has it at this moment, in the currency of its order. Empty for an eSIM that cannot be " +
        "topped up. In the sandbox: the top-ups of the catalog that cover its countries; where there are none, its " +
        "own product.",
      params: IccidParams,
      response: { 200: TopupProducts },
    },
    async handler(request) {
      const { partnerId, environment } = principalOf(request);
      const asked = { iccid: request.params.iccid, partnerId, environment };
      const fitting = await store.read(fittingProducts, asked);
      const products = await offers.products(fitting);
      const data: Product[] = (await store.read(atPartnerPrices, { partnerId, products })).map(toProduct);
      return { data, count: data.length };
    },
  });
}

function createRoute(app: App, { store, addresses }: DaemonContext, offers: TopupOffers): void {
  const prefix = pathPrefix(addresses.publicUrl);

  app.route({
    method: "POST",
    url: "/api/v1/esims/:iccid/topups",
    config: {
      scope: "write:orders",
      problems: [
        "validation",
        "invalid_iccid",
        "insufficient_balance",
        "spend_cap_exceeded",
        "sandbox_only",
        "esim_forbidden",
        "not_found",
        "esim_not_toppable",
        "idempotency_conflict",
        "price_changed",
        "paused",
        "supplier_unreachable",
      ],
      responseHeaders: { 200: ["Location", "Idempotent-Replayed"], 201: ["Location"] },
    },
    schema: {
      operationId: "createTopup",
      tags: ["eSIMs"],
      summary: "Top up an eSIM, paid from the wallet",
      description:
        "Charged at once and bought within seconds; what the supplier refuses is refunded. In the sandbox it costs " +
        "nothing and is applied within 3 seconds. Repeat a request with the same Idempotency-Key to get the same " +
        "top-up again, with 200. The event esim.topped_up or esim.topup_failed says how it ended.",
      params: IccidParams,
      headers: NewOrderHeaders,
      body: NewTopup,
      response: { 200: Topup, 201: Topup },
    },
    async handler(request, reply) {
      const principal = principalOf(request);
      const { iccid } = request.params;
      const asked: CoreTopup = {
        ...callerOf(principal),
        iccid,
        productId: request.body.product_id,
        maxTotal: request.body.max_total_cents ?? null,
        key: request.headers["idempotency-key"].normalize("NFC"),
        payloadHash: payloadHash({ iccid, payload: request.rawPayload }),
        scenario: scenarioOf(principal, request.headers["x-sandbox-scenario"]),
        offer: null,
      };
      const input = { ...asked, offer: await offers.offer(asked) };
      const { topup, replayed } = await store.write(createTopup, input, request.id, principal);
      reply.header("location", `${prefix}/api/v1/topups/${topup.id}`);
      if (replayed) reply.header("idempotent-replayed", "true");
      return reply.code(replayed ? 200 : 201).send(topup);
    },
  });
}

function callerOf(principal: Principal): Pick<CoreTopup, "partnerId" | "environment" | "actor" | "credential"> {
  const { partnerId, environment } = principal;
  return { partnerId, environment, actor: actorOf(principal), credential: credentialOf(principal) };
}

function listRoute(app: App, { store }: DaemonContext): void {
  app.route({
    method: "GET",
    url: "/api/v1/esims/:iccid/topups",
    config: { scope: "read:esims", problems: ["invalid_iccid", "esim_forbidden", "not_found", "invalid_cursor"] },
    schema: {
      operationId: "listTopups",
      tags: ["eSIMs"],
      summary: "List the top-ups of an eSIM, newest first",
      description: "Those that failed too, with the reason.",
      params: IccidParams,
      querystring: TopupQuery,
      response: { 200: TopupPage },
    },
    handler(request) {
      const { partnerId, environment } = principalOf(request);
      const { limit, cursor } = request.query;
      return store.list(listTopups, { iccid: request.params.iccid, partnerId, environment, limit, cursor });
    },
  });
}
