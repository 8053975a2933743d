import type { FastifyReply, FastifyRequest } from "fastify";
import { scopesOf } from "../../core/credentials/scopes.ts";
import { Problem, type ProblemSlug } from "../../core/kernel/problem.ts";
import { isUnavailable } from "../../core/store/problems.ts";

// Fastify's own refusals by error code.
const FRAMEWORK: Record<string, (request: FastifyRequest) => Problem> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => new Problem("payload_too_large", "The body is larger than 1 MiB."),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: (request) => new Problem("unsupported_media_type", mediaTypeFault(request)),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new Problem("invalid_request", "The body does not have the length that Content-Length says."),
  FST_ERR_CTP_INVALID_JSON_BODY: () => new Problem("invalid_request", "The body is not valid JSON."),
  FST_ERR_BAD_URL: () => new Problem("invalid_request", "The address holds a malformed percent-encoding."),
};

/** Which media type a body has, and which ones its endpoint reads. */
function mediaTypeFault({ headers, server }: FastifyRequest): string {
  const sent = /^[\w.+-]+\/[\w.+-]+/.exec(headers["content-type"] ?? "")?.[0] ?? "of no media type";
  const read = ["application/json", "application/x-www-form-urlencoded"].filter((type) =>
    server.hasContentTypeParser(type),
  );
  return `The body is ${sent}; this endpoint reads ${read.join(" or ")}.`;
}

/** Seconds that a caller waits: for the database, for orders that the operator has paused, and for a supplier. */
const RETRY_AFTER: Partial<Record<ProblemSlug, number>> = { unavailable: 5, paused: 60, supplier_unreachable: 10 };

/** Any error as a refusal; undefined when it is a fault of the program's own. */
export function asProblem(error: unknown, request: FastifyRequest): Problem | undefined {
  if (error instanceof Problem) return error;
  // The reason is the operator's: it is in the log (outages.ts).
  if (isUnavailable(error)) return new Problem("unavailable", "The service cannot use its database at the moment.");
  if (!(error instanceof Error)) return undefined;
  const { code, statusCode } = error as Error & { code?: unknown; statusCode?: unknown }; // Fastify's own members
  if (typeof code !== "string") return undefined;
  const known = FRAMEWORK[code];
  if (known !== undefined) return known(request);
  // ECONNRESET with a 4xx is how Fastify reports a sender that hung up amid its body.
  const framework = code.startsWith("FST_ERR_") || code === "ECONNRESET";
  if (framework && typeof statusCode === "number" && statusCode >= 400 && statusCode < 500) {
    return new Problem("invalid_request", "The request could not be read.");
  }
  return undefined;
}

/** Why one item of a bulk request failed; an error that is no refusal is logged and becomes `internal` with `words`. */
export function itemProblem(error: unknown, request: FastifyRequest, words: string): Problem {
  const problem = asProblem(error, request);
  if (problem !== undefined) return problem;
  request.log.error({ err: error }, "one item of a bulk request failed");
  return new Problem("internal", words);
}

/** Sends Retry-After with a refusal that ends by itself. */
export function sendRetryAfter({ slug, members }: Problem, reply: FastifyReply): void {
  const own = members.retry_after_seconds;
  const seconds = typeof own === "number" ? own : RETRY_AFTER[slug];
  if (seconds !== undefined) reply.header("retry-after", seconds);
}

const REALM = 'realm="Partner API"';

/** The challenge of the token endpoint to a client that did not authenticate (RFC 7617). */
export const BASIC_CHALLENGE = `Basic ${REALM}, charset="UTF-8"`;

/**
 * The challenge on a 401 or a missing scope (RFC 6750, 3): what is wrong with the token, and nothing of an error when
 * there was none. Undefined for every other problem.
 */
export function bearerChallenge(problem: Problem, { headers, routeOptions }: FastifyRequest): string | undefined {
  const scope = routeOptions.config?.scope;
  if (problem.slug === "insufficient_scope" && scope !== undefined) {
    return `Bearer ${REALM}, error="insufficient_scope", scope="${scopesOf(scope).join(" ")}"`;
  }
  if (problem.status !== 401) return undefined;
  // Callbacks of carriers and suppliers are public: they are signed, and any token on them is ignored.
  const sentToken = scope !== undefined && /^Bearer( |$)/i.test(headers.authorization ?? "");
  return sentToken ? `Bearer ${REALM}, error="invalid_token"` : `Bearer ${REALM}`;
}
