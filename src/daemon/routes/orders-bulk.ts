import type { FastifyRequest } from "fastify";
import type { Static } from "typebox";
import { createOrder, type NewOrder } from "../../core/orders/create.ts";
import { checkMetadata } from "../../core/orders/metadata.ts";
import { queueName } from "../../core/platform/due-keys.ts";
import { actorOf, credentialOf, type DaemonContext } from "../context/context.ts";
import type { RoutePlugin } from "../context/fastify.ts";
import { principalOf } from "../plugins/access.ts";
import { requireExactNumbers } from "../plugins/exact-numbers.ts";
import { itemProblem } from "../plugins/refusals.ts";
import { scenarioOf } from "../plugins/sandbox-only.ts";
import { createTurns, endOf } from "../plugins/turns.ts";
import { BulkOrders, BulkResult, ScenarioHeader } from "../schemas/order.ts";
import { askedOf, hashedItems, ownId } from "./order-input.ts";
import { warnOfEids } from "./orders.ts";

type BulkItem = Static<typeof BulkOrders>["orders"][number];
type ItemResult = Static<typeof BulkResult>["results"][number];

/** Contract: POST /orders/bulk. */
export const bulkOrderRoutes: RoutePlugin = (app, context) => {
  requireExactNumbers(app);
  // However many a partner sends at a time, what waits to be written is one request of it, not all.
  const recordAndClaim = createTurns();
  app.route({
    method: "POST",
    url: "/api/v1/orders/bulk",
    config: { scope: "write:orders", problems: ["sandbox_only"] },
    schema: {
      operationId: "createBulkOrders",
      tags: ["Orders"],
      summary: "Place up to 100 orders, each on its own",
      description:
        "Each order is placed by itself: the failure of one does not affect others. " +
        "external_order_id is its idempotency key.",
      headers: ScenarioHeader,
      body: BulkOrders,
      response: { 200: BulkResult },
    },
    async handler(request, reply) {
      const scenario = scenarioOf(principalOf(request), request.headers["x-sandbox-scenario"]);
      const endTurn = await recordAndClaim(queueName(principalOf(request)), endOf(app, reply));
      try {
        // It may have waited for long.
        await request.confirmAccess();
        const results = await placeAll(context, request, scenario);
        const successful = results.filter((result) => result.status === "success").length;
        return { results, summary: { total: results.length, successful, failed: results.length - successful } };
      } finally {
        endTurn();
      }
    },
  });
};

/** All orders of a request are written at once: each has a savepoint of its own, and they share commits. */
function placeAll(
  context: DaemonContext,
  request: FastifyRequest<{ Body: Static<typeof BulkOrders> }>,
  scenario: NewOrder["scenario"],
) {
  const items = hashedItems(request.body.orders, request.rawPayload);
  return Promise.all(items.map(({ item, hash }) => placeOne(context, request, { item, scenario, hash })));
}

async function placeOne(
  { store }: DaemonContext,
  request: FastifyRequest,
  { item, scenario, hash }: { item: BulkItem; scenario: NewOrder["scenario"]; hash: string },
): Promise<ItemResult> {
  const { customer } = item;
  const external_order_id = ownId(item.external_order_id) ?? "";
  const principal = principalOf(request);
  const { partnerId, environment } = principal;
  try {
    const order = askedOf(item);
    checkMetadata(order.metadata);
    const asked: NewOrder = {
      partnerId,
      environment,
      ...order,
      key: { space: "bulk", value: external_order_id },
      payloadHash: hash,
      customer: { email: customer.email, name: customer.name, phone: customer.phone ?? null },
      scenario: scenario ?? null,
      actor: actorOf(principal),
      credential: credentialOf(principal),
    };
    const { order: created, replayed } = await store.write(createOrder, asked, request.id, asked);
    if (!replayed) warnOfEids(request, created, order.activationRequests);
    const { id: service_order_id, order_number, total_price_cents, currency } = created;
    const placed = { service_order_id, order_number, total_price_cents, currency, replayed };
    return { external_order_id, status: "success", ...placed };
  } catch (error) {
    const { slug: code, message } = itemProblem(error, request, "This order could not be placed; send it again later.");
    return { external_order_id, status: "failed", ...NOT_PLACED, error: { code, message } };
  }
}

const NOT_PLACED = {
  service_order_id: null,
  order_number: null,
  total_price_cents: null,
  currency: null,
  replayed: false,
} as const;
