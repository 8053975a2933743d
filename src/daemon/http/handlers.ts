import { createServer, type RequestListener, type Server } from "node:http";
import type { Socket } from "node:net";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import { type ConnectionError, type FastifyBaseLogger, fastify, LogController } from "fastify";
import type { Authenticate, DaemonContext } from "../context/context.ts";
import type { App, RoutePlugin } from "../context/fastify.ts";
import type { RequestCounting } from "../metrics/metrics.ts";
import { registerAccess } from "../plugins/access.ts";
import { BODY_LIMIT, registerBodies, registerBodyHeads } from "../plugins/bodies.ts";
import { LONGEST_PARAMETER, letThrough, NO_STORE } from "../plugins/http-rules.ts";
import { registerLongBodies } from "../plugins/long-bodies.ts";
import { registerProblems, sendProblem } from "../plugins/problems.ts";
import { type RateLimits, unlimited } from "../plugins/rate-limits.ts";
import {
  recordResponse,
  registerRequestIds,
  registerRequestLog,
  requestId,
  sendRequestId,
} from "../plugins/request-log.ts";
import { securityHeaders } from "../plugins/security-headers.ts";
import { registerValidation } from "../plugins/validation.ts";

/** How handlers are built. */
export interface HandlerOptions {
  /** Reads the caller from the Authorization header. */
  authenticate: Authenticate;
  /** Takes client addresses from the X-Forwarded-For of the one proxy in front. */
  trustProxy: boolean;
  /** A pino logger (log/logger.ts), or false for none. */
  logger: FastifyBaseLogger | false;
  /** Where requests are counted, if anywhere. */
  metrics?: RequestCounting;
  routes: readonly RoutePlugin[];
}

/** What callers over the network also need, loaded only where there are such callers. */
export interface Outside {
  limits: RateLimits;
  /** Responds to what is not HTTP. */
  clientErrorHandler: (error: ConnectionError, socket: Socket) => void;
  /** Registers the routes, and everything around them. */
  surround(app: App, routes: () => void): void;
}

/** A request that is incomplete after this long gets 408 (ms). */
const REQUEST_MS = 60_000;
/** How long a connection without a request stays open (ms). */
const KEEP_ALIVE_MS = 72_000;

const PLUGIN_NAME = Symbol.for("fastify.display-name");

/** The routes with the conventions of all: for this program to `inject` requests, or for callers `outside`. */
export function buildHandlers(context: DaemonContext, options: HandlerOptions, outside?: Outside): App {
  const limits = outside?.limits ?? unlimited;
  const app = create(context, options, outside);
  registerRequestLog(app, options.metrics);
  registerRequestIds(app);
  registerLifecycle(app);
  registerProblems(app, context);
  registerBodies(app);
  registerBodyHeads(app);
  registerAccess(app, options.authenticate, limits);
  registerValidation(app);
  registerLongBodies(app);
  const registerRoutes = () => {
    for (const routes of options.routes) {
      // Fastify searches all loaded modules for a plugin that brings no name.
      app.register(Object.assign(async (scope: App) => routes(scope, context), { [PLUGIN_NAME]: "routes" }));
    }
  };
  if (outside === undefined) registerRoutes();
  else outside.surround(app, registerRoutes);
  return app;
}

function create(context: DaemonContext, options: HandlerOptions, outside: Outside | undefined): App {
  const { logger, metrics } = options;
  const limits = outside?.limits ?? unlimited;
  const connections = createConnections();
  const app = fastify({
    ...(logger === false ? {} : { loggerInstance: logger }),
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "request_id" }),
    // One hop: what a client wrote into the header, left of the proxy's entry, is not trusted.
    trustProxy: options.trustProxy && ((_address: string, hop: number) => hop === 0),
    bodyLimit: BODY_LIMIT,
    // Without options pino makes a child at a third of the cost.
    childLoggerFactory: (log, bindings) => log.child(bindings),
    genReqId: (request) => requestId(request.headers["x-request-id"], context),
    routerOptions: { maxParamLength: LONGEST_PARAMETER },
    return503OnClosing: false,
    exposeHeadRoutes: outside !== undefined,
    ...(outside === undefined ? {} : serverOptions(outside, connections)),
    // Addresses that the router cannot read: no hook runs for them.
    frameworkErrors(error, request, reply) {
      sendRequestId(request, reply);
      reply.header("cache-control", NO_STORE).headers(securityHeaders(context));
      void Promise.resolve(limits.refusal(request, reply)).then((refusal) => {
        sendProblem(refusal ?? error, request, reply, context);
        recordResponse(request, reply, metrics);
      });
    },
  }).withTypeProvider<TypeBoxTypeProvider>();
  app.addHook("preClose", (done) => {
    connections.endUnused();
    done();
  });
  return app;
}

function serverOptions({ clientErrorHandler }: Outside, connections: Connections) {
  const timeouts = { requestTimeout: REQUEST_MS, keepAliveTimeout: KEEP_ALIVE_MS };
  return {
    clientErrorHandler,
    serverFactory: (handler: RequestListener) => connections.of(createServer({ ...letThrough, ...timeouts }, handler)),
  };
}

declare module "fastify" {
  interface FastifyInstance {
    lifecycle: {
      /** Set by `drain`: the requests in flight are the last. */
      draining: boolean;
      /** Aborted by `drain`: what would take long ends at once. */
      stopping: AbortController;
    };
  }
}

/** Whether the daemon is being stopped, and what that means for connections. */
function registerLifecycle(app: App): void {
  app.decorate("lifecycle", { draining: false, stopping: new AbortController() });
  // A connection that was in use when the stop began would otherwise stay open for its next request.
  app.addHook("onSend", (_request, reply, payload, done) => {
    if (app.lifecycle.draining) reply.header("connection", "close");
    done(null, payload);
  });
}

/** The open connections of servers. */
interface Connections {
  /** The server, from whose connections on they are known. */
  of<Some extends Server>(server: Some): Some;
  /**
   * Closes those on which nothing was sent yet. Browsers and proxies open some ahead of their requests, and a server
   * that closes takes one for in use until its first head is overdue, a minute later.
   */
  endUnused(): void;
}

/** Those of no server yet. */
function createConnections(): Connections {
  const open = new Set<Socket>();
  return {
    of(server) {
      return server.on("connection", (socket: Socket) => {
        open.add(socket);
        socket.once("close", () => open.delete(socket));
      });
    },
    endUnused() {
      for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
    },
  };
}
