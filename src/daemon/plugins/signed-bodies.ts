import { isUtf8 } from "node:buffer";
import type { FastifyRequest } from "fastify";
import { Problem } from "../../core/kernel/problem.ts";
import { Secret } from "../../core/kernel/secret.ts";
import { isSignedBy, SIGNATURE_HEADER } from "../gateways/signed-exchange.ts";
import type { App } from "../http.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The body as it came, on routes that check its signature. */
    rawBody: Buffer | undefined;
  }
}

/** Keeps the raw body of this scope's JSON requests, since signatures are over bytes. */
export function keepRawBodies(app: App): void {
  const parseJson = app.getDefaultJsonParser("error", "error");
  app.decorateRequest("rawBody", undefined);
  app.removeContentTypeParser("application/json");
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body: Buffer, done) => {
    request.rawBody = body;
    if (!isUtf8(body)) return done(new Problem("invalid_request", "The body is not UTF-8 text."));
    parseJson(request, body.toString("utf8"), done);
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
