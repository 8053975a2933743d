import { Type } from "typebox";
import { instantOf } from "../../core/kernel/clock.ts";
import { invalid } from "../../core/kernel/problem.ts";
import { listOwnDeliveries, showOwnDelivery } from "../../core/webhooks/delivery-log.ts";
import { redeliver, replayAll, replayStep } from "../../core/webhooks/redeliver.ts";
import { rotateWebhookSecret } from "../../core/webhooks/rotate-secret.ts";
import { sendSample } from "../../core/webhooks/send-sample.ts";
import { updateWebhook } from "../../core/webhooks/update.ts";
import { requireOwnWebhook, toWebhook } from "../../core/webhooks/webhook.ts";
import type { DaemonContext } from "../context/context.ts";
import type { App, RoutePlugin } from "../context/fastify.ts";
import { callerOf } from "../plugins/access.ts";
import {
  DeliveryDetail,
  DeliveryPage,
  DeliveryParams,
  DeliveryQuery,
  Replayed,
  ReplayRequest,
  RotatedWebhook,
  SampleRequest,
  SampleSent,
  SecretRotation,
  WebhookChange,
  WebhookDetail,
  WebhookParams,
} from "../schemas/webhook.ts";
import { timesIn } from "./query-times.ts";

const HOUR_MS = 3_600_000;

/** Changes of endpoints, and their deliveries. */
export const webhookChangeRoutes: RoutePlugin = (app, context) => {
  changeRoute(app, context);
  rotateRoute(app, context);
  testRoute(app, context);
  deliveryRoutes(app, context);
  redeliverRoute(app, context);
  replayRoute(app, context);
};

function changeRoute(app: App, { store }: DaemonContext): void {
  app.route({
    method: "PATCH",
    url: "/api/v1/webhooks/:id",
    config: { scope: "write:webhooks", problems: ["not_found"] },
    schema: {
      operationId: "updateWebhook",
      tags: ["Webhooks"],
      summary: "Change, enable or disable an endpoint",
      description:
        "What is left out stays. Enabling resets the count of failures and sends nothing of what was held: replay it.",
      params: WebhookParams,
      body: WebhookChange,
      response: { 200: WebhookDetail },
    },
    handler(request) {
      const { owner, actor } = callerOf(request);
      return store.write(updateWebhook, { ...request.body, id: request.params.id, owner, actor }, request.id, owner);
    },
  });
}

function rotateRoute(app: App, { store }: DaemonContext): void {
  app.route({
    method: "POST",
    url: "/api/v1/webhooks/:id/rotate-secret",
    // The answer holds a secret beside texts that the caller chose.
    compress: false,
    config: { scope: "write:webhooks", problems: ["not_found", "conflict"] },
    schema: {
      operationId: "rotateWebhookSecret",
      tags: ["Webhooks"],
      summary: "Replace the signing secret",
      description:
        "During the overlap both secrets sign. While one runs, only an `overlap_hours` of 0 is accepted: the new " +
        "secret then replaces both at once. Without a body the overlap is 24 hours.",
      params: WebhookParams,
      body: SecretRotation,
      response: { 200: RotatedWebhook },
    },
    async handler(request) {
      const { owner, actor } = callerOf(request);
      const { id } = request.params;
      const input = { id, owner, actor, overlapMs: request.body.overlap_hours * HOUR_MS };
      const { secret, overlap_until } = await store.write(rotateWebhookSecret, input, request.id, owner);
      const row = await store.read((q) => requireOwnWebhook(q, owner, id), null);
      return { webhook: toWebhook(row), secret, previous_secret_expires_at: overlap_until };
    },
  });
}

function testRoute(app: App, { store }: DaemonContext): void {
  app.route({
    method: "POST",
    url: "/api/v1/webhooks/:id/test",
    config: { scope: "write:webhooks", problems: ["not_found", "conflict"] },
    schema: {
      operationId: "testWebhook",
      tags: ["Webhooks"],
      summary: "Send a sample event to one endpoint",
      description:
        "To this endpoint only, whether it subscribed to the kind or not; its `data.test` is true. It is not in the " +
        "feed of events. 409 unless the endpoint is active.",
      params: WebhookParams,
      body: SampleRequest,
      response: { 202: SampleSent },
    },
    async handler(request, reply) {
      const { owner, actor } = callerOf(request);
      const { event } = request.body;
      const input = { id: request.params.id, owner, actor, kind: event };
      const sent = await store.write(sendSample, input, request.id, owner);
      return reply.code(202).send({ event, ...sent });
    },
  });
}

function deliveryRoutes(app: App, { store }: DaemonContext): void {
  app.route({
    method: "GET",
    url: "/api/v1/webhooks/:id/deliveries",
    config: { scope: "read:webhooks", problems: ["not_found", "invalid_cursor"] },
    schema: {
      operationId: "listDeliveries",
      tags: ["Webhooks"],
      summary: "List the deliveries of an endpoint, newest first",
      description: "Each event on its way to this endpoint. Deliveries are kept for 90 days.",
      params: WebhookParams,
      querystring: DeliveryQuery,
      response: { 200: DeliveryPage },
    },
    handler(request) {
      const { owner } = callerOf(request);
      const { partnerId, environment } = owner;
      const { created_after, created_before, ...query } = request.query;
      const times = timesIn({ created_after, created_before });
      const created = { since: times.get("created_after"), until: times.get("created_before") };
      const filter = { owner: { partnerId, environment }, webhookId: request.params.id, ...query, created };
      return store.list(listOwnDeliveries, filter);
    },
  });

  app.route({
    method: "GET",
    url: "/api/v1/webhooks/:id/deliveries/:delivery_id",
    config: { scope: "read:webhooks", problems: ["not_found"] },
    schema: {
      operationId: "getDelivery",
      tags: ["Webhooks"],
      summary: "Read one delivery with all its attempts",
      description: "When each attempt was made, how long it took, and its response.",
      params: DeliveryParams,
      response: { 200: DeliveryDetail },
    },
    handler(request) {
      const { id: webhookId, delivery_id: id } = request.params;
      return store.read(showOwnDelivery, { owner: callerOf(request).owner, webhookId, id });
    },
  });
}

function redeliverRoute(app: App, { store }: DaemonContext): void {
  app.route({
    method: "POST",
    url: "/api/v1/webhooks/:id/deliveries/:delivery_id/redeliver",
    config: { scope: "write:webhooks", problems: ["not_found", "conflict"] },
    schema: {
      operationId: "redeliver",
      tags: ["Webhooks"],
      summary: "Send a delivery again",
      description:
        "In any status, with all its attempts and the same `event_id`. 409 unless the endpoint is active, and for an " +
        "event whose personal data was erased.",
      params: DeliveryParams,
      response: { 202: Type.Null({ description: "On its way again" }) },
    },
    async handler(request, reply) {
      const { owner, actor } = callerOf(request);
      const { id: webhookId, delivery_id: id } = request.params;
      await store.write(redeliver, { id, of: { owner, webhookId }, actor }, request.id, owner);
      return reply.code(202).send(null);
    },
  });
}

function replayRoute(app: App, { store }: DaemonContext): void {
  app.route({
    method: "POST",
    url: "/api/v1/webhooks/:id/replay",
    config: { scope: "write:webhooks", problems: ["not_found", "conflict"] },
    schema: {
      operationId: "replayDeliveries",
      tags: ["Webhooks"],
      summary: "Send again what did not arrive",
      description:
        "Everything that is held or exhausted since a time, oldest first. 409 unless the endpoint is active.",
      params: WebhookParams,
      body: ReplayRequest,
      response: { 202: Replayed },
    },
    async handler(request, reply) {
      const { owner, actor } = callerOf(request);
      const { kinds } = request.body;
      const since = instantOf(request.body.since);
      if (since === null) {
        throw invalid({ since: ["must be an ISO 8601 time with its zone, such as 2026-03-01T09:30:00Z"] });
      }
      const input = { endpointId: request.params.id, owner, kinds, since, actor };
      const step = (after: Parameters<Parameters<typeof replayAll>[0]>[0]) =>
        store.write(replayStep, { ...input, after }, request.id, owner);
      return reply.code(202).send({ count: await replayAll(step) });
    },
  });
}
