import type { FastifyReply, FastifyRequest } from "fastify";
import { TokenRefusal } from "../../core/credentials/token-refusal.ts";
import { isoTime } from "../../core/kernel/clock.ts";
import { Problem, type ProblemSlug, problems } from "../../core/kernel/problem.ts";
import type { DaemonContext } from "../context/context.ts";
import type { App } from "../context/fastify.ts";
import { asProblem, BASIC_CHALLENGE, bearerChallenge, sendRetryAfter } from "./refusals.ts";
import { withEveryPart } from "./validation.ts";

/** The path of a request target, without origin, query and fragment. */
function pathOf(target: string): string {
  return target.replace(/^https?:\/\/[^/?#]*/i, "").split(/[?#]/, 1)[0] || "/";
}

interface Occasion {
  /** The request's path, if it got as far as having one. */
  instance?: string;
  requestId: string;
}

/** The RFC 7807 body of a refusal (contract: Errors). */
export function problemBody(problem: Problem, occasion: Occasion, { addresses, clock }: DaemonContext) {
  return {
    type: `${addresses.docsUrl}/errors/${problem.slug}`,
    title: problem.title,
    status: problem.status,
    detail: problem.message,
    ...occasion,
    timestamp: isoTime(clock.now()),
    ...(problem.errors === undefined ? {} : { errors: problem.errors }),
    ...problem.members,
  };
}

/** Sends the refusal that `error` is; an error that is no refusal is logged and sent as `internal`. */
export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply, context: DaemonContext) {
  const refusal = asProblem(error, request);
  if (refusal === undefined) request.log.error({ err: error }, "request failed");
  const problem = refusal ?? new Problem("internal", "Something went wrong on our side.");
  reply.refusal = problem.slug;
  const authenticate = bearerChallenge(problem, request);
  if (authenticate !== undefined) reply.header("www-authenticate", authenticate);
  sendRetryAfter(problem, reply);
  const body = problemBody(problem, { instance: pathOf(request.url), requestId: request.id }, context);
  return reply
    .code(problem.status)
    .type("application/problem+json")
    .send(Buffer.from(JSON.stringify(body))); // bytes: text would get a charset, which this media type has none of
}

/** Sends an error in the form of the request's route. */
function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply, context: DaemonContext) {
  return request.routeOptions.config?.errorShape === "oauth"
    ? sendOauthError(error, request, reply)
    : sendProblem(error, request, reply, context);
}

/** The refusal of a path that no route has. */
export function unknownPath(request: FastifyRequest): Problem {
  return new Problem("not_found", `There is nothing at ${pathOf(request.url)}.`);
}

/** Renders every error of every route. */
export function registerProblems(app: App, context: DaemonContext): void {
  app.decorateReply("refusal", undefined);
  app.setErrorHandler((error, request, reply) => sendError(withEveryPart(error, request), request, reply, context));
  app.setNotFoundHandler((request) => {
    throw unknownPath(request);
  });
}

interface OauthError {
  status: number;
  error: string;
  description: string;
}

// RFC 6749 5.2 has no code for a fault of the server at the token endpoint; 4.1.2.1 has.
const CODES: Partial<Record<ProblemSlug, string>> = {
  partner_suspended: "unauthorized_client",
  unavailable: "server_error",
};

function ofProblem(problem: Problem): OauthError {
  const error = CODES[problem.slug] ?? "invalid_request";
  return { status: problem.status, error, description: problem.message };
}

function ofError(error: unknown, request: FastifyRequest, reply: FastifyReply): OauthError | undefined {
  if (error instanceof TokenRefusal) return { status: error.status, error: error.error, description: error.message };
  const problem = asProblem(error, request);
  if (problem === undefined) return undefined;
  sendRetryAfter(problem, reply);
  return ofProblem(problem);
}

// RFC 6749 5.2 allows printable ASCII without " and \ in error_description.
function oauthText(text: string): string {
  return text.replaceAll(/["\\]/g, "'").replaceAll(/[^\x20-\x7e]/g, "?");
}

/** Sends an OAuth error object (RFC 6749 5.2); an error that is no refusal is logged and sent as `server_error`. */
function sendOauthError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = ofError(error, request, reply);
  if (refusal === undefined) request.log.error({ err: error }, "request failed");
  const { internal } = problems;
  const answer = refusal ?? { status: internal.status, error: "server_error", description: internal.hint };
  reply.refusal = answer.error;
  if (answer.status === 401) reply.header("www-authenticate", BASIC_CHALLENGE);
  return reply
    .code(answer.status)
    .type("application/json")
    .send(JSON.stringify({ error: answer.error, error_description: oauthText(answer.description) }));
}
