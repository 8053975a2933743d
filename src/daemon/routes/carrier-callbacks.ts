import { callbackSecret, takeCallback } from "../../core/activations/exchange.ts";
import { invalid } from "../../core/kernel/problem.ts";
import type { RoutePlugin } from "../context/fastify.ts";
import { keptResponse, outcomeOf } from "../gateways/carrier-response.ts";
import { requireSignatures } from "../plugins/signed-bodies.ts";
import { CallbackResult } from "../schemas/callback.ts";
import { CarrierCallback, CarrierCallbackParams } from "../schemas/carrier.ts";

/** Later responses of carriers (docs/carriers.md): signed, without a token, repeated as often as they like. */
export const carrierCallbackRoutes: RoutePlugin = (app, { store, clock }) => {
  // The path's own schema is checked in the same phase, after this.
  requireSignatures(app, clock, ({ params }) => store.read(callbackSecret, (params as { prefix: string }).prefix));

  app.route({
    method: "POST",
    url: "/api/v1/callbacks/carriers/:prefix",
    config: { public: true, signed: true, problems: ["unauthorized", "validation", "not_found", "conflict"] },
    schema: {
      operationId: "carrierCallback",
      tags: ["Callbacks"],
      summary: "A carrier's later answer to an activation request",
      description: "Signed in X-Signature with the secret that the operator shares with the carrier.",
      params: CarrierCallbackParams,
      body: CarrierCallback,
      response: { 200: CallbackResult },
    },
    async handler(request) {
      const { reference, ...answer } = request.body;
      const outcome = outcomeOf(answer);
      if (outcome === null) throw invalid({ mobile_number: ["is required with activated"] });
      const { prefix } = request.params;
      const input = { prefix, id: reference, outcome, answer: keptResponse(answer) };
      const { applied } = await store.write(takeCallback, input, request.id);
      return { ok: true, applied };
    },
  });
};
