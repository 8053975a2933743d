import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import { type FastifyBaseLogger, type FastifyLoggerOptions, fastify, LogController } from "fastify";
import type { Authenticate, DaemonContext } from "./context.ts";
import type { App, RoutePlugin } from "./http.ts";
import { registerAccess } from "./plugins/access.ts";
import { BODY_LIMIT, registerBodies } from "./plugins/bodies.ts";
import { registerMethods } from "./plugins/methods.ts";
import { registerProblems, sendProblem } from "./plugins/problems.ts";
import { registerRequestIds, requestId, sendRequestId } from "./plugins/request-ids.ts";
import { registerValidation } from "./plugins/validation.ts";

export interface AppOptions {
  /** Tells who calls from the Authorization header. */
  authenticate: Authenticate;
  /** False for the terminal's use in process: no limits, no limit headers. */
  rateLimits: boolean;
  /** Takes client addresses from X-Forwarded-For. */
  trustProxy: boolean;
  /** pino's options (see logging.ts), a pino instance, or false for silence. */
  logger: FastifyLoggerOptions | FastifyBaseLogger | false;
  routes: readonly RoutePlugin[];
}

function create(context: DaemonContext, options: AppOptions): App {
  const { logger } = options;
  const logging = logger !== false && "child" in logger ? { loggerInstance: logger } : { logger };
  return fastify({
    ...logging,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "request_id" }),
    trustProxy: options.trustProxy,
    bodyLimit: BODY_LIMIT,
    genReqId: (request) => requestId(request.headers["x-request-id"], context),
    // Longer ones never get here: the whole head of a request is limited. So no parameter is refused for its length.
    routerOptions: { maxParamLength: 16 * 1024 },
    return503OnClosing: false,
    frameworkErrors(error, request, reply) {
      sendRequestId(request, reply);
      sendProblem(error, request, reply, context);
    },
  }).withTypeProvider<TypeBoxTypeProvider>();
}

/** The daemon's HTTP side with all its conventions; listen on it, or `inject` requests in process. */
export function buildApp(context: DaemonContext, options: AppOptions): App {
  const app = create(context, options);
  registerRequestIds(app);
  registerProblems(app, context);
  registerBodies(app);
  registerAccess(app, options.authenticate, () => {});
  registerValidation(app);
  const closeMethods = registerMethods(app);
  for (const routes of options.routes) app.register(async (scope: App) => routes(scope, context));
  closeMethods();
  return app;
}
