import type { FastifyContextConfig, FastifySchema } from "fastify";
import { type ProblemSlug, problems } from "../../core/kernel/problem.ts";

/** What a route may refuse with: what follows from its rule and schemas, and what it says itself. */
export function problemsOf(config: FastifyContextConfig, schema: FastifySchema): ProblemSlug[] {
  const slugs = new Set<ProblemSlug>();
  const { body, querystring, params, headers } = schema;
  if (body !== undefined) {
    for (const slug of ["invalid_request", "payload_too_large", "unsupported_media_type"] as const) slugs.add(slug);
  }
  if ([body, querystring, params, headers].some((part) => part !== undefined)) slugs.add("validation");
  if (config.scope !== undefined) {
    for (const slug of [
      "unauthorized",
      "token_expired",
      "insufficient_scope",
      "partner_suspended",
      "ip_not_allowed",
    ] as const) {
      slugs.add(slug);
    }
  }
  if (config.identity === true) slugs.add("identity_not_allowed");
  // By their status only: the token endpoint says invalid_client and unauthorized_client.
  if (config.errorShape === "oauth") slugs.add("unauthorized").add("partner_suspended");
  for (const slug of config.problems ?? []) slugs.add(slug);
  if (config.rateLimit !== "exempt") slugs.add("rate_limit_exceeded").add("unavailable");
  slugs.add("internal");
  return [...slugs].sort((a, b) => problems[a].status - problems[b].status || (a < b ? -1 : 1));
}

/** The same slugs by HTTP status. */
export function byStatus(slugs: readonly ProblemSlug[]): Map<number, ProblemSlug[]> {
  const statuses = new Map<number, ProblemSlug[]>();
  for (const slug of slugs) {
    const { status } = problems[slug];
    statuses.set(status, [...(statuses.get(status) ?? []), slug]);
  }
  return statuses;
}
