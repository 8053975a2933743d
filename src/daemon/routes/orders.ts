import type { FastifyRequest } from "fastify";
import type { OrderId } from "../../core/kernel/brand.ts";
import { payloadHash } from "../../core/kernel/canonical.ts";
import { type ActivationRequest, wrongEids } from "../../core/orders/activation-requests.ts";
import { type NewOrder as CoreOrder, createOrder } from "../../core/orders/create.ts";
import { orderEsims, pageOfOrderEsims } from "../../core/orders/delivered-esims.ts";
import { listOrders } from "../../core/orders/list.ts";
import { checkMetadata } from "../../core/orders/metadata.ts";
import { activationStatus, codesIn, MAX_INLINE_ESIMS, showOrder } from "../../core/orders/show.ts";
import { pathPrefix } from "../context/addresses.ts";
import { actorOf, credentialOf, type DaemonContext } from "../context/context.ts";
import type { App, RoutePlugin } from "../context/fastify.ts";
import { principalOf } from "../plugins/access.ts";
import { requireExactNumbers } from "../plugins/exact-numbers.ts";
import { keptResponse, sendKept } from "../plugins/kept-response.ts";
import { scenarioOf } from "../plugins/sandbox-only.ts";
import { serializerOf } from "../plugins/validation.ts";
import { NotModified } from "../schemas/common.ts";
import { OrderWithFulfillment } from "../schemas/delivered-order.ts";
import {
  ActivationStatus,
  CreatedOrder,
  NewOrder,
  NewOrderHeaders,
  OrderEsims,
  OrderEsimsQuery,
  OrderPage,
  OrderParams,
  OrderQuery,
} from "../schemas/order.ts";
import { noteReading } from "./codes-read.ts";
import { esimsPieces, orderPieces } from "./order-bodies.ts";
import { askedOf, ownId } from "./order-input.ts";
import { timesIn } from "./query-times.ts";

/** Contract: Orders, single. */
export const orderRoutes: RoutePlugin = (app, context) => {
  requireExactNumbers(app);
  createRoute(app, context);
  listRoute(app, context);
  readRoutes(app, context);
  esimsRoute(app, context);
};

function createRoute(app: App, { store, addresses }: DaemonContext): void {
  const prefix = pathPrefix(addresses.publicUrl);

  app.route({
    method: "POST",
    url: "/api/v1/orders",
    config: {
      scope: "write:orders",
      problems: [
        "validation",
        "invalid_activation_date",
        "insufficient_balance",
        "spend_cap_exceeded",
        "idempotency_conflict",
        "price_changed",
        "paused",
        "sandbox_only",
      ],
      responseHeaders: { 200: ["Location", "Idempotent-Replayed"], 201: ["Location"] },
    },
    schema: {
      operationId: "createOrder",
      tags: ["Orders"],
      summary: "Place an order, paid from the wallet",
      description:
        "Production orders are charged at once, in full or not at all; sandbox orders cost " +
        "nothing. A production order of at most 10 units, all from stock, is fulfilled with it: the response says " +
        "paid, the next read fulfilled. Repeat a request with the same Idempotency-Key to get the same order again, " +
        "with 200. With max_total_cents a dearer order is refused with 409 price_changed: nothing is charged, and " +
        "the key stays free.",
      headers: NewOrderHeaders,
      body: NewOrder,
      response: { 200: CreatedOrder, 201: CreatedOrder },
    },
    async handler(request, reply) {
      const principal = principalOf(request);
      const { partnerId, environment } = principal;
      const order = askedOf(request.body);
      checkMetadata(order.metadata);
      const asked: CoreOrder = {
        partnerId,
        environment,
        ...order,
        key: { space: "single", value: request.headers["idempotency-key"].normalize("NFC") },
        externalOrderId: ownId(request.body.external_order_id),
        payloadHash: payloadHash(request.rawPayload),
        customer: null,
        scenario: scenarioOf(principal, request.headers["x-sandbox-scenario"]),
        actor: actorOf(principal),
        credential: credentialOf(principal),
      };
      const { order: placed, replayed } = await store.write(createOrder, asked, request.id, asked);
      reply.header("location", `${prefix}/api/v1/orders/${placed.id}`);
      if (replayed) reply.header("idempotent-replayed", "true");
      else warnOfEids(request, placed, order.activationRequests);
      return reply.code(replayed ? 200 : 201).send(placed);
    },
  });
}

function listRoute(app: App, { store }: DaemonContext): void {
  app.route({
    method: "GET",
    url: "/api/v1/orders",
    config: { scope: "read:orders", problems: ["invalid_cursor"] },
    schema: {
      operationId: "listOrders",
      tags: ["Orders"],
      summary: "List your orders, newest first",
      description:
        "Orders of the environment of your credential, with cursors. Filters narrow the list together; an empty one " +
        "counts as absent.",
      querystring: OrderQuery,
      response: { 200: OrderPage },
    },
    async handler(request) {
      const { partnerId, environment } = principalOf(request);
      const { limit, cursor, status, product_id: productId, external_order_id: named } = request.query;
      const externalOrderId = ownId(named) ?? undefined;
      const filter = { partnerId, environment, limit, cursor, status, productId, externalOrderId };
      const { created_after, created_before } = request.query;
      const times = timesIn({ created_after, created_before });
      const created = { createdAfter: times.get("created_after"), createdBefore: times.get("created_before") };
      return store.list(listOrders, { ...filter, ...created });
    },
  });
}

const IN_PIECES =
  "The body of an order with more than 1,000 units is sent in pieces, and a credential gets one such body at a time: " +
  "further requests for one wait. A body that is cut off ends without the last chunk of its transfer coding.";

function readRoutes(app: App, { store, addresses }: DaemonContext): void {
  const { publicUrl } = addresses;
  const textOf = serializerOf(OrderWithFulfillment);

  app.route({
    method: "GET",
    url: "/api/v1/orders/:id",
    config: { scope: "read:orders", problems: ["not_found"], etag: true },
    schema: {
      operationId: "getOrder",
      tags: ["Orders"],
      summary: "Read one order with what was delivered",
      description: `The content of each line's fulfillment depends on its product_type. ${IN_PIECES}`,
      params: OrderParams,
      response: { 200: OrderWithFulfillment, 304: NotModified },
    },
    async handler(request, reply) {
      const asked = { owner: principalOf(request), id: request.params.id, publicUrl };
      const shown = await store.read(showOrder, { ...asked, most: MAX_INLINE_ESIMS });
      await noteReading(store, request, [[asked.id, codesIn(shown)]]);
      if (shown.open.size === 0) return sendKept(request, reply, keptResponse(textOf(shown.order)));
      return app.sendLongBody(request, reply, () => orderPieces({ store, asked }));
    },
  });

  app.route({
    method: "GET",
    url: "/api/v1/orders/:id/activation-status",
    config: { scope: "read:orders", problems: ["not_found"] },
    schema: {
      operationId: "getOrderActivationStatus",
      tags: ["Orders"],
      summary: "Follow the scheduled activations of an order",
      description: "One entry for each unit that a supplier delivers on its date, with counts by status.",
      params: OrderParams,
      response: { 200: ActivationStatus },
    },
    handler: (request) => store.read(activationStatus, { owner: principalOf(request), id: request.params.id }),
  });
}

function esimsRoute(app: App, { store, addresses }: DaemonContext): void {
  const { publicUrl } = addresses;

  app.route({
    method: "GET",
    url: "/api/v1/orders/:id/esims",
    config: { scope: "read:esims", problems: ["not_found", "order_not_fulfilled", "invalid_cursor"] },
    schema: {
      operationId: "getOrderEsims",
      tags: ["Orders"],
      summary: "Fetch the eSIMs of a fulfilled order",
      description:
        "Activation codes, QR codes and install pages of all eSIMs of the order, or of a page of them with limit or " +
        `cursor. 400 order_not_fulfilled until the order is fulfilled. ${IN_PIECES}`,
      params: OrderParams,
      querystring: OrderEsimsQuery,
      response: { 200: OrderEsims },
    },
    async handler(request, reply) {
      const asked = { owner: principalOf(request), id: request.params.id, publicUrl };
      const { limit, cursor } = request.query;
      if (limit !== undefined || cursor !== undefined) {
        const page = await store.list(pageOfOrderEsims, { ...asked, limit: limit ?? MAX_INLINE_ESIMS, cursor });
        await noteReading(store, request, [[asked.id, page.esims.length]]);
        return page;
      }
      const esims = await store.list(orderEsims, { ...asked, most: MAX_INLINE_ESIMS });
      const count = esims?.count ?? codesIn(await store.read(showOrder, { ...asked, most: 0 }));
      await noteReading(store, request, [[asked.id, count]]);
      return esims ?? app.sendLongBody(request, reply, () => esimsPieces({ store, asked }));
    },
  });
}

/** Logs which EIDs of an order just placed have a wrong check digit, without repeating them. */
export function warnOfEids(request: FastifyRequest, order: { id: OrderId }, travelers: ActivationRequest[]): void {
  const fields = wrongEids(travelers);
  if (fields.length > 0) request.log.warn({ order_id: order.id, fields }, "an EID has a wrong check digit");
}
