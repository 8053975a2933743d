import type { FastifyRequest } from "fastify";
import type { Clock } from "../../core/kernel/clock.ts";
import { Problem } from "../../core/kernel/problem.ts";
import { Secret } from "../../core/kernel/secret.ts";
import type { App } from "../context/fastify.ts";
import { isSignedBy, SIGNATURE_HEADER } from "../gateways/signed-exchange.ts";
import { readJson } from "./bodies.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The body as it came, on routes that check its signature. */
    rawBody: Buffer | undefined;
  }
}

/**
 * Requires a signature on every request of this scope: over the raw body, by the secret that `secretOf` gives, and not
 * older than 300 s. It is checked before the body is, so that only the sender learns what is wrong with it. Throws
 * `unauthorized`.
 */
export function requireSignatures(
  app: App,
  clock: Clock,
  secretOf: (request: FastifyRequest) => Promise<Secret | null | undefined>,
): void {
  app.decorateRequest("rawBody", undefined);
  readJson(app, (request, body) => {
    request.rawBody = body;
  });
  app.addHook("preValidation", async (request) =>
    checkSignature(request, (await secretOf(request)) ?? null, clock.now()),
  );
}

/** Signs no callback: what an unknown sender's signature is compared against, so that it takes as long. */
const unknownSecret = new Secret("no callback is ever signed with this");

function checkSignature(request: FastifyRequest, secret: Secret | null, now: number): void {
  const given = request.headers[SIGNATURE_HEADER];
  const header = typeof given === "string" ? given : "";
  const signed = isSignedBy(secret ?? unknownSecret, { header, body: request.rawBody ?? Buffer.alloc(0) }, now);
  if (signed && secret !== null) return;
  throw new Problem("unauthorized", "The signature is missing, wrong, or too old.");
}
