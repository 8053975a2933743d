import type { Socket } from "node:net";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import { type ConnectionError, type FastifyBaseLogger, fastify, LogController } from "fastify";
import type { Authenticate, DaemonContext } from "../context/context.ts";
import type { App, RoutePlugin } from "../context/fastify.ts";
import type { Counting } from "../metrics/metrics.ts";
import { registerAccess } from "../plugins/access.ts";
import { BODY_LIMIT, registerBodies, registerEmptyBodies } from "../plugins/bodies.ts";
import { NO_STORE } from "../plugins/caching.ts";
import { letThrough, registerContentCodings } from "../plugins/http-rules.ts";
import { registerLifecycle } from "../plugins/lifecycle.ts";
import { registerProblems, sendProblem } from "../plugins/problems.ts";
import { type RateLimits, unlimited } from "../plugins/rate-limits.ts";
import { registerRequestIds, requestId, sendRequestId } from "../plugins/request-ids.ts";
import { recordAnswer, registerRequestLog } from "../plugins/request-log.ts";
import { registerValidation } from "../plugins/validation.ts";

/** What the handlers work under. */
export interface HandlerOptions {
  /** Tells who calls from the Authorization header. */
  authenticate: Authenticate;
  /** Takes client addresses from the X-Forwarded-For of the one proxy in front. */
  trustProxy: boolean;
  /** A pino logger (see logging.ts), or false for silence. */
  logger: FastifyBaseLogger | false;
  /** Where requests are counted, if anywhere. */
  metrics?: Counting;
  routes: readonly RoutePlugin[];
}

/** What callers from outside need besides, loaded only where there are such callers. */
export interface Outside {
  limits: RateLimits;
  /** Answers what is no HTTP. */
  clientErrorHandler: (error: ConnectionError, socket: Socket) => void;
  /** Registers the routes, and all that stands around them. */
  surround(app: App, routes: () => void): void;
}

/** The routes with the conventions of all of them: for our own program to `inject` requests, or for those `outside`. */
export function buildHandlers(context: DaemonContext, options: HandlerOptions, outside?: Outside): App {
  const limits = outside?.limits ?? unlimited;
  const app = create(context, options, outside);
  registerRequestLog(app, options.metrics);
  registerRequestIds(app);
  registerLifecycle(app);
  registerProblems(app, context);
  registerBodies(app);
  registerEmptyBodies(app);
  registerContentCodings(app);
  registerAccess(app, options.authenticate, limits);
  registerValidation(app);
  const registerRoutes = () => {
    for (const routes of options.routes) app.register(async (scope: App) => routes(scope, context));
  };
  if (outside === undefined) registerRoutes();
  else outside.surround(app, registerRoutes);
  return app;
}

function create(context: DaemonContext, options: HandlerOptions, outside: Outside | undefined): App {
  const { logger, metrics } = options;
  const limits = outside?.limits ?? unlimited;
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
    exposeHeadRoutes: outside !== undefined,
    ...(outside === undefined ? {} : { clientErrorHandler: outside.clientErrorHandler, http: letThrough }),
    // Addresses that the router cannot read: no hook runs for them.
    frameworkErrors(error, request, reply) {
      sendRequestId(request, reply);
      reply.header("cache-control", NO_STORE);
      void limits.refusal(request, reply).then((refusal) => {
        sendProblem(refusal ?? error, request, reply, context);
        recordAnswer(request, reply, metrics);
      });
    },
  }).withTypeProvider<TypeBoxTypeProvider>();
}
