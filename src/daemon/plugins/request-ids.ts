import type { FastifyReply, FastifyRequest } from "fastify";
import type { DaemonContext } from "../context/context.ts";
import type { App } from "../context/fastify.ts";

const WELL_FORMED = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's own X-Request-Id if it is well-formed, else a new UUIDv7. */
export function requestId(sent: string | string[] | undefined, { ids, clock }: DaemonContext): string {
  return typeof sent === "string" && WELL_FORMED.test(sent) ? sent : ids.uuid(clock.now());
}

/** Puts the request's id on the response. */
export function sendRequestId(request: FastifyRequest, reply: FastifyReply): void {
  reply.header("x-request-id", request.id);
}

/** X-Request-Id on every response. */
export function registerRequestIds(app: App): void {
  app.addHook("onRequest", (request, reply, done) => {
    sendRequestId(request, reply);
    done();
  });
}
