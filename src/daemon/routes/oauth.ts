import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { TokenRefusal } from "../../core/credentials/token-refusal.ts";
import type { Tokens } from "../../core/credentials/tokens.ts";
import type { RoutePlugin } from "../context/fastify.ts";
import { readBasic } from "../plugins/basic.ts";
import { acceptForms } from "../plugins/bodies.ts";
import { named } from "../schemas/common.ts";

const TokenRequest = Type.Object(
  {
    grant_type: Type.Unsafe<"client_credentials">({ type: "string", const: "client_credentials" }),
    client_id: Type.Optional(Type.String({ minLength: 10, examples: ["sk_test_5f0c9e2a7b14"] })),
    client_secret: Type.Optional(Type.String({ minLength: 20, examples: ["3q2bK8xLrNq5sW7uEyAaI0p6mJr0cVYw"] })),
    scope: Type.Optional(
      Type.String({
        description: "Space-separated; all that the credential has when left out",
        examples: ["read:products read:orders"],
      }),
    ),
  },
  named("TokenRequest"),
);

const Token = Type.Object(
  {
    access_token: Type.String({ description: "A JWT", examples: ["eyJhbGciOiJFZERTQSIs…"] }),
    token_type: Type.Unsafe<"Bearer">({ type: "string", const: "Bearer" }),
    expires_in: Type.Integer({ description: "Seconds", examples: [3600] }),
    scope: Type.String({ examples: ["read:products read:orders"] }),
  },
  named("Token"),
);

/** Contract: Token. RFC 6749: clients authenticate in the body or with HTTP Basic, not both. */
export function oauthRoutes(tokens: Tokens): RoutePlugin {
  return (app) => {
    acceptForms(app);
    app.route({
      method: "POST",
      url: "/api/v1/oauth/token",
      compress: false,
      config: {
        public: true,
        errorShape: "oauth",
        rateLimit: "token",
        responseHeaders: { 200: ["Cache-Control"] },
      },
      schema: {
        operationId: "issueToken",
        tags: ["Token"],
        summary: "Exchange a credential for an access token",
        description:
          "Credentials come in the body, as a form or JSON, or by HTTP Basic, not both. A token is " +
          "valid for an hour.",
        body: TokenRequest,
        response: { 200: Token },
      },
      async handler(request, reply) {
        const client = clientOf(request, request.body);
        reply.header("pragma", "no-cache");
        return tokens.issue({ ...client, scope: request.body.scope, ip: request.ip });
      },
    });
  };
}

interface Presented {
  clientId: string;
  clientSecret: string;
}

function clientOf(request: FastifyRequest, body: { client_id?: string; client_secret?: string }): Presented {
  const basic = basicClient(request.headers.authorization);
  if (basic !== null && body.client_secret !== undefined) {
    throw new TokenRefusal("invalid_request", "Authenticate in the body or with HTTP Basic, not both.");
  }
  if (basic !== null && body.client_id !== undefined && body.client_id !== basic.clientId) {
    throw new TokenRefusal("invalid_request", "client_id differs from the one of the Authorization header.");
  }
  if (basic !== null) return basic;
  if (body.client_id === undefined) throw new TokenRefusal("invalid_request", "client_id is required.");
  if (body.client_secret === undefined) throw new TokenRefusal("invalid_request", "client_secret is required.");
  return { clientId: body.client_id, clientSecret: body.client_secret };
}

/**
 * The client of an HTTP Basic header; null without an Authorization header. Throws `invalid_client` when the header is
 * malformed or of another scheme.
 */
function basicClient(authorization: string | undefined): Presented | null {
  if (authorization === undefined) return null;
  const found = readBasic(authorization);
  if (found === null) throw new TokenRefusal("invalid_client", "The Authorization header is not HTTP Basic.");
  const { clientId, clientSecret } = found;
  if (clientId !== null && clientSecret !== null) return { clientId, clientSecret };
  throw new TokenRefusal("invalid_client", "The Authorization header is not form-encoded.");
}
