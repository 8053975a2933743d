import type { FastifyRequest } from "fastify";
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

/** Keeps the raw body of this scope's JSON requests, since signatures are over bytes. */
export function keepRawBodies(app: App): void {
  app.decorateRequest("rawBody", undefined);
  readJson(app, (request, body) => {
    request.rawBody = body;
  });
}

/** Signed with by nobody: what an unknown sender is compared against, so that it takes as long. */
const nobodys = new Secret("no callback is ever signed with this");

/** Throws `unauthorized` unless the request is signed with `secret` and not older than 300 s. */
export function requireSignature(request: FastifyRequest, secret: Secret | null, now: number): void {
  const given = request.headers[SIGNATURE_HEADER];
  const header = typeof given === "string" ? given : "";
  const signed = isSignedBy(secret ?? nobodys, { header, body: request.rawBody ?? Buffer.alloc(0) }, now);
  if (signed && secret !== null) return;
  throw new Problem("unauthorized", "The signature is missing, wrong, or too old.");
}
