import { expiredToken, type Tokens } from "../../core/credentials/tokens.ts";
import { Problem } from "../../core/kernel/problem.ts";
import type { Authenticate } from "../context/context.ts";

/** Authentication by the Bearer tokens that this daemon issues (contract: Authentication, 3-5). */
export function bearerTokens(tokens: Tokens): Authenticate {
  return async (authorization, ip) => {
    const token = /^Bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(authorization ?? "")?.[1];
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
    const { clientId, partnerId, partner, environment, ratePerMinute } = client;
    return { partnerId, partner, clientId, environment, scopes, ratePerMinute, expiresAt };
  };
}
