import type { FastifyReply, FastifyRequest } from "fastify";
import { TokenRefusal } from "../../core/credentials/token-refusal.ts";
import { type Problem, problems } from "../../core/kernel/problem.ts";
import { BASIC_CHALLENGE } from "./challenges.ts";
import { asProblem } from "./refusals.ts";

interface OauthError {
  status: number;
  error: string;
  description: string;
}

function ofProblem(problem: Problem): OauthError {
  const error = problem.slug === "partner_suspended" ? "unauthorized_client" : "invalid_request";
  return { status: problem.status, error, description: problem.message };
}

function ofError(error: unknown): OauthError | undefined {
  if (error instanceof TokenRefusal) return { status: error.status, error: error.error, description: error.message };
  const problem = asProblem(error);
  return problem === undefined ? undefined : ofProblem(problem);
}

// RFC 6749 5.2 allows printable ASCII without " and \ in error_description.
function oauthText(text: string): string {
  return text.replaceAll(/["\\]/g, "'").replaceAll(/[^\x20-\x7e]/g, "?");
}

/** Answers with an OAuth error object (RFC 6749 5.2); what is no refusal is logged and answered as `server_error`. */
export function sendOauthError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = ofError(error);
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
