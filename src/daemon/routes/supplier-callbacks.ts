import { invalid } from "../../core/kernel/problem.ts";
import { suppliedItem, takeSupplierCallback } from "../../core/orders/supplier-callback.ts";
import { supplierContact } from "../../core/suppliers/supplier.ts";
import { supplyOutcome } from "../gateways/supplier-answer.ts";
import { askedFor } from "../gateways/suppliers.ts";
import type { RoutePlugin } from "../http.ts";
import { keepRawBodies, requireSignature } from "../plugins/signed-bodies.ts";
import { CarrierCallbackAnswer } from "../schemas/carrier.ts";
import { SupplierCallback, SupplierCallbackParams } from "../schemas/supplier.ts";

/** Where suppliers tell their later answers (docs/suppliers.md): signed, without a token, as often as they like. */
export const supplierCallbackRoutes: RoutePlugin = (app, { store, clock }) => {
  keepRawBodies(app);

  app.route({
    method: "POST",
    url: "/api/v1/callbacks/suppliers/:name",
    config: { public: true, problems: ["unauthorized", "validation", "not_found", "conflict"] },
    schema: {
      operationId: "supplierCallback",
      tags: ["Callbacks"],
      summary: "A supplier's later answer to a request",
      description: "Signed in X-Signature with the secret that the operator shares with the supplier.",
      params: SupplierCallbackParams,
      body: SupplierCallback,
      response: { 200: CarrierCallbackAnswer },
    },
    // Before anything of the body is judged: what is wrong with it is told only to the supplier.
    async preValidation(request) {
      // The path's own schema is checked in the same phase, after this.
      const { name } = request.params as { name: string };
      const contact = await store.read(supplierContact, name);
      requireSignature(request, contact?.secret ?? null, clock.now());
    },
    async handler(request) {
      const { reference, ...answer } = request.body;
      const supplier = request.params.name;
      const { item, delivery_method } = await store.read(suppliedItem, { supplier, id: reference });
      const outcome = supplyOutcome(answer, askedFor(item, delivery_method));
      if (outcome.kind === "temporary") throw invalid({ esims: [`cannot be taken: ${outcome.reason}`] });
      const { applied } = await store.write(takeSupplierCallback, { supplier, id: reference, outcome });
      return { ok: true, applied };
    },
  });
};
