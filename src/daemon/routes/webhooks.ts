import { Type } from "typebox";
import { createWebhook } from "../../core/webhooks/create.ts";
import { deleteWebhook } from "../../core/webhooks/delete.ts";
import { listWebhooks } from "../../core/webhooks/list.ts";
import { showWebhook } from "../../core/webhooks/webhook.ts";
import { pathPrefix } from "../context/addresses.ts";
import { actorOf, type DaemonContext, type Principal } from "../context/context.ts";
import type { App, RoutePlugin } from "../context/fastify.ts";
import { principalOf } from "../plugins/access.ts";
import {
  CreatedWebhook,
  NewWebhook,
  WebhookDetail,
  WebhookPage,
  WebhookParams,
  WebhookQuery,
} from "../schemas/webhook.ts";

/** Contract: Webhooks. */
export const webhookRoutes: RoutePlugin = (app, context) => {
  writeRoutes(app, context);
  readRoutes(app, context);
};

function ownerOf({ partnerId, environment }: Principal) {
  return { partnerId, environment };
}

function writeRoutes(app: App, { store, addresses }: DaemonContext): void {
  const prefix = pathPrefix(addresses.publicUrl);

  app.route({
    method: "POST",
    url: "/api/v1/webhooks",
    // The answer holds a secret beside texts that the caller chose.
    compress: false,
    config: { scope: "write:webhooks", problems: ["too_many_endpoints"], responseHeaders: { 201: ["Location"] } },
    schema: {
      operationId: "createWebhook",
      tags: ["Webhooks"],
      summary: "Register an address that receives events",
      description: "The signing secret is in this response only. Deliveries go to public HTTPS addresses.",
      body: NewWebhook,
      response: { 201: CreatedWebhook },
    },
    async handler(request, reply) {
      const principal = principalOf(request);
      const input = { ...request.body, owner: ownerOf(principal), actor: actorOf(principal) };
      const created = await store.write(createWebhook, input, request.id, principal);
      reply.header("location", `${prefix}/api/v1/webhooks/${created.webhook.id}`);
      return reply.code(201).send(created);
    },
  });

  app.route({
    method: "DELETE",
    url: "/api/v1/webhooks/:id",
    config: { scope: "write:webhooks", problems: ["not_found"] },
    schema: {
      operationId: "deleteWebhook",
      tags: ["Webhooks"],
      summary: "Delete an endpoint and what waits for it",
      description: "Deliveries that wait for it are dropped.",
      params: WebhookParams,
      response: { 204: Type.Null({ description: "Deleted" }) },
    },
    async handler(request, reply) {
      const principal = principalOf(request);
      const input = { owner: ownerOf(principal), id: request.params.id, actor: actorOf(principal) };
      await store.write(deleteWebhook, input, request.id, principal);
      return reply.code(204).send(null);
    },
  });
}

function readRoutes(app: App, { store }: DaemonContext): void {
  app.route({
    method: "GET",
    url: "/api/v1/webhooks",
    config: { scope: "read:webhooks", problems: ["invalid_cursor"] },
    schema: {
      operationId: "listWebhooks",
      tags: ["Webhooks"],
      summary: "List your endpoints, newest first",
      description: "Endpoints of the environment of your credential, with cursors. Filter by status.",
      querystring: WebhookQuery,
      response: { 200: WebhookPage },
    },
    handler: (request) => store.list(listWebhooks, { owner: ownerOf(principalOf(request)), ...request.query }),
  });

  app.route({
    method: "GET",
    url: "/api/v1/webhooks/:id",
    config: { scope: "read:webhooks", problems: ["not_found"] },
    schema: {
      operationId: "getWebhook",
      tags: ["Webhooks"],
      summary: "Read one endpoint with its health",
      description: "The endpoint, its last attempt, how many in a row failed and since when, and what waits for it.",
      params: WebhookParams,
      response: { 200: WebhookDetail },
    },
    handler: (request) => store.read(showWebhook, { owner: ownerOf(principalOf(request)), id: request.params.id }),
  });
}
