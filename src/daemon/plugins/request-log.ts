import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from "fastify";
import type { DaemonContext, Principal } from "../context/context.ts";
import type { App } from "../context/fastify.ts";
import { REQUEST } from "../log/lines.ts";
import type { RequestCounting } from "../metrics/metrics.ts";
import { pathOfUnusedMethod } from "./methods.ts";
import { rulesOf } from "./route-rules.ts";

/** A request with its response, as it is logged and counted. */
interface Handled {
  method: string;
  /** The route's pattern: the address may carry a token. */
  route: string;
  status: number;
  /** How long it took (ms). */
  elapsed: number;
  caller: Principal | undefined;
  refusal?: string | undefined;
}

type Alike = Omit<Handled, "elapsed">;

/** Where requests are logged and counted, if anywhere. */
export interface Records {
  log: Pick<FastifyBaseLogger, "info" | "child"> | undefined;
  metrics: RequestCounting | undefined;
}

/** Logs and counts one request. */
function record({ log, metrics }: Records, handled: Handled): void {
  const { elapsed } = handled;
  log?.info(Object.assign(membersOf(handled), { ms: shown(elapsed) }), REQUEST);
  count(metrics, handled, elapsed);
}

/** The same for requests that have all but this in common, whose lines are half written then. */
export function recordAlike({ log, metrics }: Records, alike: Alike): (one: { id: string; elapsed: number }) => void {
  const lines = log?.child(membersOf(alike));
  return ({ id: request_id, elapsed }) => {
    lines?.info({ request_id, ms: shown(elapsed) }, REQUEST);
    count(metrics, alike, elapsed);
  };
}

function membersOf({ method, route, status, caller, refusal }: Alike) {
  return { method, route, status, partner: caller?.partner, client_id: caller?.clientId, refusal };
}

function shown(elapsed: number): number {
  return Math.round(elapsed * 10) / 10;
}

function count(metrics: Records["metrics"], { method, route, status, refusal }: Alike, elapsed: number): void {
  metrics?.record({ method, route, status, seconds: elapsed / 1000, refusal });
}

/** Logs and counts the request of a response that was sent. */
export function recordResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  metrics: RequestCounting | undefined,
): void {
  const { log, method, principal: caller } = request;
  const route = rulesOf(request).url ?? pathOfUnusedMethod(request)?.url ?? "(unknown)";
  const { statusCode: status, elapsedTime: elapsed, refusal } = reply;
  record({ log, metrics }, { method, route, status, elapsed, caller, refusal });
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
