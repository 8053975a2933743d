import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import { type FastifyBaseLogger, fastify, LogController } from "fastify";
import type { Authenticate, DaemonContext } from "./context.ts";
import type { App, RoutePlugin } from "./http.ts";
import type { Counting } from "./metrics.ts";
import { registerAccess } from "./plugins/access.ts";
import { BODY_LIMIT, registerBodies } from "./plugins/bodies.ts";
import { clientErrorHandler } from "./plugins/client-errors.ts";
import { registerHealth } from "./plugins/health.ts";
import { registerLifecycle } from "./plugins/lifecycle.ts";
import { registerMethods } from "./plugins/methods.ts";
import { registerOpenapi } from "./plugins/openapi.ts";
import { registerPages, registerSecurityHeaders } from "./plugins/pages.ts";
import { registerProblems, sendProblem } from "./plugins/problems.ts";
import { createRateLimits, type RateLimits, unlimited } from "./plugins/rate-limits.ts";
import { registerRequestIds, requestId, sendRequestId } from "./plugins/request-ids.ts";
import { recordAnswer, registerRequestLog } from "./plugins/request-log.ts";
import { registerValidation } from "./plugins/validation.ts";

/** How an app is built: for a socket, or for use in process. */
export interface AppOptions {
  /** Tells who calls from the Authorization header. */
  authenticate: Authenticate;
  /** False for the terminal's use in process: no limits, no limit headers. */
  rateLimits: boolean;
  /** Takes client addresses from the X-Forwarded-For of the one proxy in front. */
  trustProxy: boolean;
  /** A pino logger (see logging.ts), or false for silence. */
  logger: FastifyBaseLogger | false;
  /** Where requests are counted, if anywhere. */
  metrics?: Counting;
  routes: readonly RoutePlugin[];
  /** True where our own program is the only caller, in process: no documents, no pages, nothing to start for them. */
  bare?: boolean;
}

function create(context: DaemonContext, options: AppOptions, limits: RateLimits): App {
  const { logger, metrics } = options;
  return fastify({
    ...(logger === false ? {} : { loggerInstance: logger }),
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "request_id" }),
    // One hop: what a client itself wrote into the header, left of the proxy's entry, is not believed.
    trustProxy: options.trustProxy && ((_address: string, hop: number) => hop === 0),
    bodyLimit: BODY_LIMIT,
    // A request that trickles in is answered with 408 after this long.
    requestTimeout: 60_000,
    genReqId: (request) => requestId(request.headers["x-request-id"], context),
    // Longer ones never get here: the whole head of a request is limited. So no parameter is refused for its length.
    routerOptions: { maxParamLength: 16 * 1024 },
    return503OnClosing: false,
    clientErrorHandler: clientErrorHandler(context),
    // Addresses that the router cannot read: no hook runs for them.
    frameworkErrors(error, request, reply) {
      sendRequestId(request, reply);
      sendProblem(limits.refusal(request, reply) ?? error, request, reply, context);
      recordAnswer(request, reply, metrics);
    },
  }).withTypeProvider<TypeBoxTypeProvider>();
}

/** What only callers from outside need: security headers, the OpenAPI document, pages, answers to wrong methods. */
function surround(app: App, context: DaemonContext, routes: () => void): void {
  registerSecurityHeaders(app, context);
  registerOpenapi(app, context);
  const closeMethods = registerMethods(app);
  app.register(async (scope: App) => {
    registerHealth(scope, context);
    registerPages(scope, context);
  });
  routes();
  closeMethods();
}

/** The daemon's HTTP side with all its conventions; listen on it, or `inject` requests in process. */
export function buildApp(context: DaemonContext, options: AppOptions): App {
  const limits = options.rateLimits ? createRateLimits(context) : unlimited;
  const app = create(context, options, limits);
  registerRequestLog(app, options.metrics);
  registerRequestIds(app);
  registerLifecycle(app);
  registerProblems(app, context);
  registerBodies(app);
  registerAccess(app, options.authenticate, limits);
  registerValidation(app);
  const registerRoutes = () => {
    for (const routes of options.routes) app.register(async (scope: App) => routes(scope, context));
  };
  if (options.bare === true) registerRoutes();
  else surround(app, context, registerRoutes);
  return app;
}
