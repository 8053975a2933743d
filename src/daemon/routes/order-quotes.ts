import { quoteOrder } from "../../core/orders/quote.ts";
import { quoteOrders } from "../../core/orders/quote-bulk.ts";
import { credentialOf, type DaemonContext } from "../context/context.ts";
import type { App, RoutePlugin } from "../context/fastify.ts";
import { principalOf } from "../plugins/access.ts";
import { requireExactNumbers } from "../plugins/exact-numbers.ts";
import { BulkOrders, NewOrder } from "../schemas/order.ts";
import { BulkQuote, Quote } from "../schemas/quote.ts";
import { askedOf, hashedItems, ownId } from "./order-input.ts";

/** Beyond the contract: what orders would come to. Both routes read only. */
export const quoteRoutes: RoutePlugin = (app, context) => {
  requireExactNumbers(app);
  quoteRoute(app, context);
  bulkQuoteRoute(app, context);
};

function quoteRoute(app: App, { store }: DaemonContext): void {
  app.route({
    method: "POST",
    url: "/api/v1/orders/quote",
    config: {
      scope: "read:orders",
      problems: ["validation", "invalid_activation_date", "spend_cap_exceeded", "price_changed", "paused"],
    },
    schema: {
      operationId: "quoteOrder",
      tags: ["Orders"],
      summary: "Ask what an order would cost",
      description:
        "The body of POST /api/v1/orders, assessed as that request would be now. The refusals are the same, but too " +
        "little money is shortfall_cents. Nothing is written, charged or reserved, and no key is used.",
      body: NewOrder,
      response: { 200: Quote },
    },
    handler(request) {
      const principal = principalOf(request);
      const { partnerId, environment } = principal;
      const credential = credentialOf(principal);
      return store.read(quoteOrder, { partnerId, environment, credential, ...askedOf(request.body) });
    },
  });
}

function bulkQuoteRoute(app: App, { store }: DaemonContext): void {
  app.route({
    method: "POST",
    url: "/api/v1/orders/bulk/quote",
    config: { scope: "read:orders" },
    schema: {
      operationId: "quoteBulkOrders",
      tags: ["Orders"],
      summary: "Ask how up to 100 orders would end",
      description:
        "The body of POST /api/v1/orders/bulk. Orders are assessed in their sequence, each with what those before it " +
        "leave of wallet and stock. Nothing is written, charged or reserved.",
      body: BulkOrders,
      response: { 200: BulkQuote },
    },
    async handler(request) {
      const principal = principalOf(request);
      const { partnerId, environment } = principal;
      const items = hashedItems(request.body.orders, request.rawPayload).map(({ item, hash }) => {
        return { externalOrderId: ownId(item.external_order_id) ?? "", payloadHash: hash, ...askedOf(item) };
      });
      const { results, totals } = await store.read(quoteOrders, {
        partnerId,
        environment,
        credential: credentialOf(principal),
        items,
      });
      const successful = results.filter((result) => result.status === "success").length;
      return { results, summary: { total: results.length, successful, failed: results.length - successful }, totals };
    },
  });
}
