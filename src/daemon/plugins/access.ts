import type { FastifyReply, FastifyRequest, RouteOptions } from "fastify";
import type { Actor } from "../../core/audit/record.ts";
import { scopesOf } from "../../core/credentials/scopes.ts";
import { Problem } from "../../core/kernel/problem.ts";
import { type Authenticate, actorOf, type Principal } from "../context/context.ts";
import type { App, RouteRules } from "../context/fastify.ts";
import { httpFault } from "./http-rules.ts";
import { pathOfUnusedMethod } from "./methods.ts";
import { unknownPath } from "./problems.ts";
import type { RateLimits } from "./rate-limits.ts";
import { registerRouteRules, rulesOf } from "./route-rules.ts";

/** The caller of a route that has a scope. */
export function principalOf(request: FastifyRequest): Principal {
  if (request.principal === undefined) throw new Error("this route is public: it has no authenticated caller");
  return request.principal;
}

/** Whose records a request is about, and the actor in the audit trail for what it changes. */
export function callerOf(request: FastifyRequest): { owner: Principal; actor: Actor } {
  const owner = principalOf(request);
  return { owner, actor: actorOf(owner) };
}

function requireAccessRule(route: RouteOptions): void {
  const { scope, public: open } = route.config ?? {};
  if ((scope === undefined) === (open !== true)) {
    throw new Error(`route ${route.method} ${route.url} needs either config.scope or config.public: true`);
  }
}

/** Records on the request its caller and whom it counts for, and returns the refusal if there is one. */
async function identify(request: FastifyRequest, authenticate: Authenticate): Promise<Problem | undefined> {
  try {
    const caller = await authenticate(request.headers.authorization, request.ip);
    if ("refusal" in caller) {
      request.counted = caller.counted;
      return caller.refusal;
    }
    request.principal = caller;
    request.counted = caller;
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** Whether no route has this path. The router allows an empty parameter, but /products/ is no path. */
function isUnknown(request: FastifyRequest): boolean {
  const { is404, params } = request;
  if (is404) return pathOfUnusedMethod(request) === undefined;
  return typeof params === "object" && params !== null && Object.values(params).includes("");
}

/** The Allow header where the path is known and the method is wrong. */
function allowed(request: FastifyRequest): string | undefined {
  return rulesOf(request).allow ?? pathOfUnusedMethod(request)?.allow;
}

/** Whether no route has this path, or none this method of it. */
function isMisdirected(request: FastifyRequest): boolean {
  return isUnknown(request) || allowed(request) !== undefined;
}

function wrongAddress(request: FastifyRequest, reply: FastifyReply): Problem {
  const allow = isUnknown(request) ? undefined : allowed(request);
  if (allow === undefined) return unknownPath(request);
  reply.header("allow", allow);
  const instead = allow.replaceAll(", ", " or ");
  return new Problem("method_not_allowed", `${request.method} is not allowed at this address; use ${instead}.`);
}

/**
 * Authenticates, counts, then checks scope and guard rails, in this order, so that refusals are counted and carry the
 * limit's headers too. Unknown paths and wrong methods are refused here as well: before any body is read, for any
 * caller.
 */
export function registerAccess(app: App, authenticate: Authenticate, limits: RateLimits): void {
  registerRouteRules(app);
  app.decorateRequest("principal", undefined);
  app.decorateRequest("counted", undefined);
  app.decorateRequest("confirmAccess", async function confirmAccess(this: FastifyRequest) {
    const caller = await authenticate(this.headers.authorization, this.ip);
    if ("refusal" in caller) throw caller.refusal;
  });
  app.addHook("onRoute", requireAccessRule);
  app.addHook("onRequest", async (request, reply) => {
    const { scope, identity } = rulesOf(request);
    // A token on a wrong address is not needed, but when one is there it is its client that is counted.
    const misdirected = isMisdirected(request);
    const identified = misdirected ? request.headers.authorization !== undefined : scope !== undefined;
    const unidentified = identified ? await identify(request, authenticate) : undefined;
    // In one process it is counted at once.
    const counting = limits.refusal(request, reply);
    const counted = counting instanceof Promise ? await counting : counting;
    const wrong = counted ?? httpFault(request) ?? (misdirected ? wrongAddress(request, reply) : unidentified);
    const missing = wrong ?? missingScope(scope, request.principal?.scopes ?? []);
    const refusal = missing ?? (identity === true ? identityRefusal(request.principal) : undefined);
    if (refusal !== undefined) throw refusal;
  });
  app.addHook("preValidation", (request, reply, done) => {
    if (rulesOf(request).rateLimit !== "token") return done();
    limits.tokenRefusal(request, reply).then(done, done);
  });
}

function identityRefusal(caller: Principal | undefined): Problem | undefined {
  if (caller?.identity !== false) return undefined;
  return new Problem("identity_not_allowed", "The operator keeps this credential from passports and identities.");
}

function missingScope(scope: RouteRules["scope"], granted: readonly string[]): Problem | undefined {
  if (scope === undefined || (scope !== "all" && granted.includes(scope))) return undefined;
  const missing = scopesOf(scope).filter((one) => !granted.includes(one));
  if (missing.length === 0) return undefined;
  const words = scope === "all" ? "This needs a token with all scopes; it lacks" : "This needs a token with the scope";
  return new Problem("insufficient_scope", `${words} ${missing.join(" ")}.`);
}
