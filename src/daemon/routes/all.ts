import type { Tokens } from "../../core/credentials/tokens.ts";
import type { RoutePlugin } from "../context/fastify.ts";
import { resourceRoutes } from "./by-resource.ts";
import { carrierCallbackRoutes } from "./carrier-callbacks.ts";
import { mediaRoutes } from "./media.ts";
import { oauthRoutes } from "./oauth.ts";
import { qrRoutes } from "./qr.ts";
import { supplierCallbackRoutes } from "./supplier-callbacks.ts";
import { wellKnownRoutes } from "./well-known.ts";

/** All routes of the daemon: those that need no token, then those of every resource. */
export async function allRoutes(tokens: Tokens): Promise<readonly RoutePlugin[]> {
  return [
    oauthRoutes(tokens),
    wellKnownRoutes(tokens),
    qrRoutes,
    mediaRoutes,
    carrierCallbackRoutes,
    supplierCallbackRoutes,
    ...(await resourceRoutes()),
  ];
}
