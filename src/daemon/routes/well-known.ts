import { Type } from "typebox";
import { scopes } from "../../core/credentials/scopes.ts";
import type { Tokens } from "../../core/credentials/tokens.ts";
import { pathPrefix } from "../context/addresses.ts";
import type { DaemonContext } from "../context/context.ts";
import type { App, RoutePlugin } from "../context/fastify.ts";
import { named } from "../schemas/common.ts";

const Jwk = Type.Object(
  {
    kty: Type.String({ examples: ["OKP"] }),
    crv: Type.String({ examples: ["Ed25519"] }),
    x: Type.String({ examples: ["11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"] }),
    kid: Type.String({ examples: ["0199a0b1"] }),
    use: Type.String({ examples: ["sig"] }),
    alg: Type.String({ examples: ["EdDSA"] }),
  },
  named("Jwk"),
);

const Jwks = Type.Object({ keys: Type.Array(Jwk) }, named("Jwks"));

const Metadata = Type.Object(
  {
    issuer: Type.String({ examples: ["https://esim.reseller.net"] }),
    token_endpoint: Type.String({ examples: ["https://esim.reseller.net/api/v1/oauth/token"] }),
    jwks_uri: Type.String({ examples: ["https://esim.reseller.net/.well-known/jwks.json"] }),
    scopes_supported: Type.Array(Type.String(), { examples: [[...scopes]] }),
    response_types_supported: Type.Array(Type.String(), { examples: [[]] }),
    grant_types_supported: Type.Array(Type.String(), { examples: [["client_credentials"]] }),
    token_endpoint_auth_methods_supported: Type.Array(Type.String(), {
      examples: [["client_secret_basic", "client_secret_post"]],
    }),
    service_documentation: Type.String({ examples: ["https://esim.reseller.net/docs"] }),
  },
  named("AuthorizationServerMetadata"),
);

/**
 * What a client needs to find the server and verify its tokens: the public keys and the metadata of RFC 8414. Where the
 * public address has a path, both are also at the form with that path at the end, where clients look by RFC 8414, 3.1.
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
      description: "The Ed25519 keys that verify access tokens, as a JSON Web Key Set.",
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
      description: "Where tokens are issued and which scopes and client authentication exist.",
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
