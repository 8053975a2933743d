import type { FastifyRequest } from "fastify";
import type { App, RouteRules } from "../context/fastify.ts";

const NONE: RouteRules = {};

/** Makes room on each request for what `rulesOf` found. */
export function registerRouteRules(app: App): void {
  app.decorateRequest("rules", undefined);
}

/** What the route of a request declares. Fastify makes an object of all its options at each look: here it is kept. */
export function rulesOf(request: FastifyRequest): RouteRules {
  request.rules ??= request.routeOptions.config ?? NONE;
  return request.rules;
}
