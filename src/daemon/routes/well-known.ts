import { Type } from "typebox";
import { scopes } from "../../core/credentials/scopes.ts";
import type { Tokens } from "../../core/credentials/tokens.ts";
import { pathPrefix } from "../addresses.ts";
import type { DaemonContext } from "../context.ts";
import type { App, RoutePlugin } from "../http.ts";

const Jwks = Type.Object({
  keys: Type.Array(
    Type.Object({
      kty: Type.String(),
      crv: Type.String(),
      x: Type.String(),
      kid: Type.String(),
      use: Type.String(),
      alg: Type.String(),
    }),
  ),
});

const Metadata = Type.Object({
  issuer: Type.String(),
  token_endpoint: Type.String(),
  jwks_uri: Type.String(),
  scopes_supported: Type.Array(Type.String()),
  response_types_supported: Type.Array(Type.String()),
  grant_types_supported: Type.Array(Type.String()),
  token_endpoint_auth_methods_supported: Type.Array(Type.String()),
  service_documentation: Type.String(),
});

/**
 * What a client needs to find and trust us: the public keys and the metadata of RFC 8414. Where the public address has
 * a path, both are also at the form with that path at the end, where clients look by RFC 8414, 3.1.
 */
export function wellKnownRoutes(tokens: Tokens): RoutePlugin {
  return (app, context) => {
    register(app, tokens, context, { suffix: "", hide: false });
    // A colon would begin a parameter of the router's.
    const suffix = pathPrefix(context.addresses.publicUrl).replaceAll(":", "::");
    if (suffix !== "") register(app, tokens, context, { suffix, hide: true });
  };
}

/** `hide`: not in the API reference, which has them once. */
function register(
  app: App,
  tokens: Tokens,
  { addresses }: DaemonContext,
  { suffix, hide }: { suffix: string; hide: boolean },
): void {
  const { publicUrl, docsUrl } = addresses;

  app.route({
    method: "GET",
    url: `/.well-known/jwks.json${suffix}`,
    config: { public: true, cache: "public, max-age=60" },
    schema: {
      hide,
      operationId: "getJwks",
      tags: ["Token"],
      summary: "Public keys of the access tokens",
      response: { 200: Jwks },
    },
    handler: async () => ({ keys: await tokens.jwks() }),
  });

  app.route({
    method: "GET",
    url: `/.well-known/oauth-authorization-server${suffix}`,
    config: { public: true, cache: "public, max-age=60" },
    schema: {
      hide,
      operationId: "getOauthMetadata",
      tags: ["Token"],
      summary: "Authorization server metadata (RFC 8414)",
      response: { 200: Metadata },
    },
    handler: () => ({
      issuer: publicUrl,
      token_endpoint: `${publicUrl}/api/v1/oauth/token`,
      jwks_uri: `${publicUrl}/.well-known/jwks.json`,
      scopes_supported: [...scopes],
      response_types_supported: [],
      grant_types_supported: ["client_credentials"],
      token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"],
      service_documentation: docsUrl,
    }),
  });
}
