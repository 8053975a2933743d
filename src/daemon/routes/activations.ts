import { showActivation } from "../../core/activations/activation.ts";
import { listActivations } from "../../core/activations/list.ts";
import { submitActivation, submitRefusals } from "../../core/activations/submit.ts";
import { pathPrefix } from "../context/addresses.ts";
import { actorOf, type DaemonContext } from "../context/context.ts";
import type { App, RoutePlugin } from "../context/fastify.ts";
import { principalOf } from "../plugins/access.ts";
import {
  Activation,
  ActivationPage,
  ActivationParams,
  ActivationQuery,
  CreatedActivation,
  NewActivation,
} from "../schemas/activation.ts";

/** Contract: Physical SIM activations: submit, list, read. */
export const activationRoutes: RoutePlugin = (app, context) => {
  submitRoute(app, context);
  readRoutes(app, context);
};

function submitRoute(app: App, { store, addresses }: DaemonContext): void {
  const prefix = pathPrefix(addresses.publicUrl);

  app.route({
    method: "POST",
    url: "/api/v1/activations",
    config: {
      identity: true,
      scope: "write:orders",
      problems: submitRefusals,
      responseHeaders: { 201: ["Location"] },
    },
    schema: {
      operationId: "submitActivation",
      tags: ["Activations"],
      summary: "Ask for a physical SIM to be activated",
      description: "The carrier is found by the ICCID's prefix and says which identity fields are needed.",
      body: NewActivation,
      response: { 201: CreatedActivation },
    },
    async handler(request, reply) {
      const principal = principalOf(request);
      const { partnerId, environment } = principal;
      const submission = {
        partnerId,
        environment,
        request: request.body,
        actor: actorOf(principal),
        draw: false,
      };
      const created = await store.write(submitActivation, submission, request.id, principal);
      return reply.code(201).header("location", `${prefix}/api/v1/activations/${created.id}`).send(created);
    },
  });
}

function readRoutes(app: App, { store }: DaemonContext): void {
  app.route({
    method: "GET",
    url: "/api/v1/activations",
    config: { scope: "read:orders", problems: ["invalid_cursor"] },
    schema: {
      operationId: "listActivations",
      tags: ["Activations"],
      summary: "List your activation requests, newest first",
      description: "With cursors. Filter by ICCID, status and activation date; with dates, in their order.",
      querystring: ActivationQuery,
      response: { 200: ActivationPage },
    },
    handler(request) {
      const { partnerId, environment } = principalOf(request);
      return store.list(listActivations, { partnerId, environment, ...request.query });
    },
  });

  app.route({
    method: "GET",
    url: "/api/v1/activations/:id",
    config: { scope: "read:orders", problems: ["not_found"] },
    schema: {
      operationId: "getActivation",
      tags: ["Activations"],
      summary: "Read one activation request",
      description: "The status, and once completed the mobile number, once failed the error.",
      params: ActivationParams,
      response: { 200: Activation },
    },
    handler: (request) => store.read(showActivation, { owner: principalOf(request), id: request.params.id }),
  });
}
