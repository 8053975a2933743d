import type { FastifyRequest } from "fastify";
import type { Clock } from "../../core/kernel/clock.ts";
import { Problem } from "../../core/kernel/problem.ts";
import { Secret } from "../../core/kernel/secret.ts";
import type { SignedCallback } from "../../core/platform/signed-callback.ts";
import { parseSignatureHeader, TOLERANCE_SECONDS } from "../../core/webhooks/signature.ts";
import type { App } from "../context/fastify.ts";
import { isSignedBy, SIGNATURE_HEADER } from "../gateways/signed-exchange.ts";
import { readJson } from "./bodies.ts";

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
export function requireSignatures(
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
export function signedCallback({ signed }: FastifyRequest): SignedCallback {
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
