import type { DaemonContext } from "../context/context.ts";
import type { App } from "../context/fastify.ts";
import { registerOpenapi } from "../openapi/document.ts";
import { registerPages } from "../pages/docs.ts";
import { clientErrorHandler } from "../plugins/client-errors.ts";
import { registerCompression } from "../plugins/compression.ts";
import { registerHealth } from "../plugins/health.ts";
import { registerCaching, takeExpectations } from "../plugins/http-rules.ts";
import { registerMethods } from "../plugins/methods.ts";
import { registerSecurityHeaders } from "../plugins/page-headers.ts";
import { createRateLimits, unlimited } from "../plugins/rate-limits.ts";
import type { Counters } from "../plugins/rate-windows.ts";
import { buildHandlers, type HandlerOptions } from "./handlers.ts";

/** How an app for a socket is built. */
export interface AppOptions extends HandlerOptions {
  /** Where requests are counted against the limits; null for tests: no limits, no limit headers. */
  counters: Counters | null;
}

/** Security headers, the OpenAPI document, pages, answers to wrong methods. */
function surround(app: App, context: DaemonContext, routes: () => void): void {
  takeExpectations(app);
  registerSecurityHeaders(app, context);
  registerCaching(app);
  registerCompression(app);
  registerOpenapi(app, context);
  const closeMethods = registerMethods(app);
  app.register(async (scope: App) => {
    registerHealth(scope, context);
    registerPages(scope, context);
  });
  routes();
  closeMethods();
}

/** The daemon's HTTP side with all its conventions. */
export function buildApp(context: DaemonContext, options: AppOptions): App {
  const limits = options.counters === null ? unlimited : createRateLimits(context, options.counters);
  return buildHandlers(context, options, {
    limits,
    clientErrorHandler: clientErrorHandler(context),
    surround: (app, routes) => surround(app, context, routes),
  });
}
