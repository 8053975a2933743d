import { callbackSecret, takeCallback } from "../../core/activations/callback.ts";
import { invalid } from "../../core/kernel/problem.ts";
import type { RoutePlugin } from "../context/fastify.ts";
import { keptAnswer, outcomeOf } from "../gateways/carrier-answer.ts";
import { keepRawBodies, requireSignature } from "../plugins/signed-bodies.ts";
import { CarrierCallback, CarrierCallbackAnswer, CarrierCallbackParams } from "../schemas/carrier.ts";

/** Where carriers tell their later answers (docs/carriers.md): signed, without a token, as often as they like. */
export const carrierCallbackRoutes: RoutePlugin = (app, { store, clock }) => {
  keepRawBodies(app);

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
      response: { 200: CarrierCallbackAnswer },
    },
    // Before anything of the body is judged: what is wrong with it is told only to the carrier.
    async preValidation(request) {
      // The path's own schema is checked in the same phase, after this.
      const { prefix } = request.params as { prefix: string };
      requireSignature(request, await store.read(callbackSecret, prefix), clock.now());
    },
    async handler(request) {
      const { reference, ...answer } = request.body;
      const outcome = outcomeOf(answer);
      if (outcome === null) throw invalid({ mobile_number: ["is required with activated"] });
      const { prefix } = request.params;
      const given = { prefix, id: reference, outcome, answer: keptAnswer(answer) };
      const { applied } = await store.write(takeCallback, given, request.id);
      return { ok: true, applied };
    },
  });
};
