import type { FastifyReply, FastifyRequest } from "fastify";
import { TokenRefusal } from "../../core/credentials/token-refusal.ts";
import { type Problem, type ProblemSlug, problems } from "../../core/kernel/problem.ts";
import { asProblem, BASIC_CHALLENGE, sendRetryAfter } from "./refusals.ts";

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
export function sendOauthError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
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
