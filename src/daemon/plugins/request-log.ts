import type { FastifyReply, FastifyRequest } from "fastify";
import type { DaemonContext } from "../context/context.ts";
import type { App } from "../context/fastify.ts";
import { REQUEST } from "../log/lines.ts";
import type { RequestCounting } from "../metrics/metrics.ts";
import { pathOfUnusedMethod } from "./methods.ts";
import { rulesOf } from "./route-rules.ts";

/** Logs and counts the request of a response that was sent. */
export function recordResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  metrics: RequestCounting | undefined,
): void {
  const { log, method, principal: caller } = request;
  // The route's pattern: the address may carry a token.
  const route = rulesOf(request).url ?? pathOfUnusedMethod(request)?.url ?? "(unknown)";
  const { statusCode: status, elapsedTime: elapsed, refusal } = reply;
  const ms = Math.round(elapsed * 10) / 10;
  log.info({ method, route, status, partner: caller?.partner, client_id: caller?.clientId, refusal, ms }, REQUEST);
  metrics?.record({
    method,
    route,
    status,
    seconds: elapsed / 1000,
    refusal,
    requestId: request.id,
    caller: request.counted,
  });
}

/** One log line, and one count in the metrics, for every request. */
export function registerRequestLog(app: App, metrics: RequestCounting | undefined): void {
  app.addHook("onResponse", (request, reply, done) => {
    recordResponse(request, reply, metrics);
    done();
  });
}

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
