import type { FastifyRequest } from "fastify";
import { callbackSecret, takeCallback } from "../../core/activations/carrier-exchange.ts";
import { type EsimReport, takeEsimReport } from "../../core/esims/supplier-report.ts";
import type { Clock } from "../../core/kernel/clock.ts";
import { invalid, Problem } from "../../core/kernel/problem.ts";
import { Secret } from "../../core/kernel/secret.ts";
import type { SignedCallback } from "../../core/platform/signed-callback.ts";
import { suppliedItem, takeSupplierCallback } from "../../core/supplier-requests/callback.ts";
import { supplierContact } from "../../core/suppliers/supplier.ts";
import { parseSignatureHeader, TOLERANCE_SECONDS } from "../../core/webhooks/signature.ts";
import type { App, RoutePlugin } from "../context/fastify.ts";
import { keptResponse, outcomeOf } from "../gateways/carrier-response.ts";
import { isSignedBy, SIGNATURE_HEADER } from "../gateways/signed-exchange.ts";
import { supplyOutcome } from "../gateways/supplier-response.ts";
import { askedFor } from "../gateways/suppliers.ts";
import { readJson } from "../plugins/bodies.ts";
import { CallbackResult } from "../schemas/callback.ts";
import { CarrierCallback, CarrierCallbackParams } from "../schemas/carrier.ts";
import { SupplierCallback, SupplierCallbackParams, SupplierEsimReport } from "../schemas/supplier.ts";

const signedBySupplier = "Signed in X-Signature with the secret that the operator shares with the supplier.";

/** Later responses of suppliers (docs/suppliers.md): signed, without a token, repeated as often as they like. */
export const supplierCallbackRoutes: RoutePlugin = (app, { store, clock }) => {
  // The path's own schema is checked in the same phase, after this.
  requireSignatures(app, clock, async ({ params }) => {
    const contact = await store.read(supplierContact, (params as { name: string }).name);
    return contact?.secret;
  });

  app.route({
    method: "POST",
    url: "/api/v1/callbacks/suppliers/:name",
    config: { public: true, signed: true, problems: ["unauthorized", "validation", "not_found", "conflict"] },
    schema: {
      operationId: "supplierCallback",
      tags: ["Callbacks"],
      summary: "A supplier's later answer to a request",
      description: signedBySupplier,
      params: SupplierCallbackParams,
      body: SupplierCallback,
      response: { 200: CallbackResult },
    },
    async handler(request) {
      const { reference, ...answer } = request.body;
      const supplier = request.params.name;
      const { item, delivery_method } = await store.read(suppliedItem, { supplier, id: reference });
      const outcome = supplyOutcome(answer, askedFor(item, delivery_method));
      if (outcome.kind === "temporary") throw invalid({ esims: [`cannot be taken: ${outcome.reason}`] });
      const input = { supplier, id: reference, outcome, signed: signedCallback(request) };
      const { applied } = await store.write(takeSupplierCallback, input, request.id);
      return { ok: true, applied };
    },
  });

  app.route({
    method: "POST",
    url: "/api/v1/callbacks/suppliers/:name/esims",
    config: { public: true, signed: true, problems: ["unauthorized", "validation", "not_found"] },
    schema: {
      operationId: "supplierEsimCallback",
      tags: ["Callbacks"],
      summary: "A supplier's report on an eSIM: activation, suspension, usage",
      description: signedBySupplier,
      params: SupplierCallbackParams,
      body: SupplierEsimReport,
      response: { 200: CallbackResult },
    },
    async handler(request) {
      const report = esimReport(request.body);
      const input = { supplier: request.params.name, report, signed: signedCallback(request) };
      const { applied } = await store.write(takeEsimReport, input, request.id);
      return { ok: true, applied };
    },
  });
};

/** The report as core takes it. Throws `validation` for usage without any value, and for a total without used_mb. */
function esimReport({ iccid, event, at, used_mb, ...rest }: SupplierEsimReport): EsimReport {
  const { total_mb = null, country = null, network = null } = rest;
  const moment = at === undefined ? null : Date.parse(at);
  // A leap second is a valid time that a Date cannot hold.
  if (Number.isNaN(moment)) throw invalid({ at: ["must be a time as 2026-03-01T09:30:00Z"] });
  const placeless = country === null && network === null;
  if (used_mb === undefined && (total_mb !== null || (event === "usage" && placeless))) {
    throw invalid({ used_mb: ["is required beside total_mb, and with usage unless country or network is given"] });
  }
  const usage = used_mb === undefined ? null : { used_mb, total_mb };
  return { iccid, event, at: moment, usage, place: { country, network } };
}

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
      const signed = signedCallback(request);
      const input = { prefix, id: reference, outcome, answer: keptResponse(answer), signed };
      const { applied } = await store.write(takeCallback, input, request.id);
      return { ok: true, applied };
    },
  });
};

declare module "fastify" {
  interface FastifyRequest {
    /** The body as it came, on routes that check its signature. */
    rawBody: Buffer | undefined;
    /** The signature, on routes that check it. Read it by `signedCallback`. */
    signed: SignedCallback | undefined;
  }
}

/**
 * Requires a signature on every request of this scope: over the raw body, by the secret that `secretOf` gives, and not
 * older than 300 s. It is checked before the body is, so that only the sender learns what is wrong with it. Throws
 * `unauthorized`.
 */
function requireSignatures(
  app: App,
  clock: Clock,
  secretOf: (request: FastifyRequest) => Promise<Secret | null | undefined>,
): void {
  app.decorateRequest("rawBody", undefined);
  app.decorateRequest("signed", undefined);
  readJson(app, (request, body) => {
    request.rawBody = body;
  });
  app.addHook("preValidation", async (request) =>
    checkSignature(request, (await secretOf(request)) ?? null, clock.now()),
  );
}

/** The signature of a request whose route requires one. */
function signedCallback({ signed }: FastifyRequest): SignedCallback {
  if (signed === undefined) throw new Error("this route checks no signature");
  return signed;
}

/** Signs no callback: what an unknown sender's signature is compared against, so that it takes as long. */
const unknownSecret = new Secret("no callback is ever signed with this");

function checkSignature(request: FastifyRequest, secret: Secret | null, now: number): void {
  const given = request.headers[SIGNATURE_HEADER];
  const header = typeof given === "string" ? given : "";
  const signed = isSignedBy(secret ?? unknownSecret, { header, body: request.rawBody ?? Buffer.alloc(0) }, now);
  const parts = parseSignatureHeader(header);
  if (signed && secret !== null && parts !== null) {
    request.signed = { signature: parts.hex, timestamp: parts.timestamp, tolerance: TOLERANCE_SECONDS };
    return;
  }
  throw new Problem("unauthorized", "The signature is missing, wrong, or too old.");
}
