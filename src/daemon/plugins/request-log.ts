import type { FastifyReply, FastifyRequest } from "fastify";
import type { App } from "../context/fastify.ts";
import { REQUEST } from "../log/lines.ts";
import type { RequestCounting } from "../metrics/metrics.ts";

/** Logs and counts one request by its route's pattern: its address may carry a token. */
export function recordResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  metrics: RequestCounting | undefined,
): void {
  const { method } = request;
  const route = request.routeOptions.url ?? "(unknown)";
  const status = reply.statusCode;
  const ms = Math.round(reply.elapsedTime * 10) / 10;
  const { refusal } = reply;
  request.log.info({ method, route, status, ms, client_id: request.principal?.clientId, refusal }, REQUEST);
  metrics?.record({ method, route, status, seconds: reply.elapsedTime / 1000 });
}

/** One log line, and one count in the metrics, for every request. */
export function registerRequestLog(app: App, metrics: RequestCounting | undefined): void {
  app.addHook("onResponse", (request, reply, done) => {
    recordResponse(request, reply, metrics);
    done();
  });
}
