import type { Socket } from "node:net";
import { Problem } from "../../core/kernel/problem.ts";
import type { DaemonContext } from "../context/context.ts";
import type { App } from "../context/fastify.ts";
import { registerOpenapi } from "../openapi/document.ts";
import { registerPages } from "../pages/docs.ts";
import { registerCompression } from "../plugins/compression.ts";
import { registerHealth } from "../plugins/health.ts";
import { NO_STORE, registerCaching, takeExpectations } from "../plugins/http-rules.ts";
import { registerMethods } from "../plugins/methods.ts";
import { registerSecurityHeaders } from "../plugins/page-headers.ts";
import { problemBody } from "../plugins/problems.ts";
import { createRateLimits, unlimited } from "../plugins/rate-limits.ts";
import type { Counters } from "../plugins/rate-windows.ts";
import { securityHeaders } from "../plugins/security-headers.ts";
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

interface Reason {
  status: number;
  /** As the protocol names the status. An import of all names from node:http loads Node's fetch: a tenth of a start. */
  name: string;
  detail: string;
}

const REASONS: Record<string, Reason> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, name: "Request Timeout", detail: "The request did not arrive in time." },
  HPE_HEADER_OVERFLOW: {
    status: 431,
    name: "Request Header Fields Too Large",
    detail: "The head of the request is larger than 16 KiB.",
  },
};

const UNREADABLE: Reason = { status: 400, name: "Bad Request", detail: "This is not a well-formed HTTP request." };

/** The whole HTTP response, as bytes for the socket, to what was no HTTP request that can be read. */
function rawResponse(error: { code?: string }, context: DaemonContext): string {
  const reason = REASONS[error.code ?? ""] ?? UNREADABLE;
  const requestId = context.ids.uuid(context.clock.now());
  const problem = problemBody(new Problem("invalid_request", reason.detail), { requestId }, context);
  const body = JSON.stringify({ ...problem, status: reason.status });
  return [
    `HTTP/1.1 ${reason.status} ${reason.name}`,
    "Content-Type: application/problem+json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    `Cache-Control: ${NO_STORE}`,
    ...Object.entries(securityHeaders(context)).map(([name, value]) => `${name}: ${value}`),
    "Connection: close",
    "",
    body,
  ].join("\r\n");
}

/** Answers what Node's HTTP parser refuses with a problem body too, as far as the socket still takes one. */
function clientErrorHandler(context: DaemonContext): (error: { code?: string }, socket: Socket) => void {
  return (error, socket) => {
    // Node keeps the response under way on the socket: nothing may be written in the middle of it.
    const answering: unknown = Reflect.get(socket, "_httpMessage");
    if (error.code === "ECONNRESET" || !socket.writable || answering) return void socket.destroy();
    socket.end(rawResponse(error, context), () => socket.destroy());
  };
}
