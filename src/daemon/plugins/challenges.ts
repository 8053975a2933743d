import type { FastifyRequest } from "fastify";
import type { Problem } from "../../core/kernel/problem.ts";

const REALM = 'realm="Partner API"';

/** The challenge of the token endpoint to a client that did not authenticate (RFC 7617). */
export const BASIC_CHALLENGE = `Basic ${REALM}, charset="UTF-8"`;

/**
 * The challenge on a 401 or a missing scope (RFC 6750, 3): what is wrong with the token, and nothing of an error when
 * there was none. Undefined for every other problem.
 */
export function bearerChallenge(problem: Problem, { headers, routeOptions }: FastifyRequest): string | undefined {
  const scope = routeOptions.config?.scope;
  if (problem.slug === "insufficient_scope") return `Bearer ${REALM}, error="insufficient_scope", scope="${scope}"`;
  if (problem.status !== 401) return undefined;
  // Callbacks of carriers and suppliers are public: they are signed, and any token on them is ignored.
  const sentToken = scope !== undefined && /^Bearer( |$)/i.test(headers.authorization ?? "");
  return sentToken ? `Bearer ${REALM}, error="invalid_token"` : `Bearer ${REALM}`;
}
