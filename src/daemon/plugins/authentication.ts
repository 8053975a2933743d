import { expiredToken, type Tokens } from "../../core/credentials/tokens.ts";
import { Problem } from "../../core/kernel/problem.ts";
import type { Authenticate } from "../context/context.ts";

/** The token of an Authorization header; undefined when it holds none. */
function tokenIn(authorization: string): string | undefined {
  // As nearly every client writes it: a JWT, which is looked at further when it is verified.
  if (authorization.startsWith("Bearer ey") && !authorization.endsWith(" ")) return authorization.slice(7);
  return /^Bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(authorization)?.[1];
}

/** Authentication by the Bearer tokens that this daemon issues (contract: Authentication, 3-5). */
export function bearerTokens(tokens: Tokens): Authenticate {
  return async (authorization, ip) => {
    const token = authorization === undefined ? undefined : tokenIn(authorization);
    if (token === undefined) {
      const detail =
        authorization === undefined
          ? "The Authorization header is missing."
          : "The Authorization header is not a Bearer token.";
      throw new Problem("unauthorized", detail);
    }
    const verified = await tokens.verify(token, ip);
    if ("expired" in verified) return { refusal: expiredToken(), counted: verified.expired };
    const { client, scopes, expiresAt } = verified;
    const { clientId, partnerId, partner, environment, identity, ratePerMinute, partnerPerMinute } = client;
    const rates = { ratePerMinute, partnerPerMinute };
    return { partnerId, partner, clientId, environment, scopes, identity, ...rates, expiresAt };
  };
}
