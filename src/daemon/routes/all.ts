import type { Tokens } from "../../core/credentials/tokens.ts";
import type { RoutePlugin } from "../http.ts";
import { balanceRoutes } from "./balance.ts";
import { oauthRoutes } from "./oauth.ts";
import { orderRoutes } from "./orders.ts";
import { passportRoutes } from "./passports.ts";
import { productRoutes } from "./products.ts";
import { qrRoutes } from "./qr.ts";
import { webhookRoutes } from "./webhooks.ts";
import { wellKnownRoutes } from "./well-known.ts";

/** The v1 API that needs a token: what the terminal also runs in process. */
export const routes: readonly RoutePlugin[] = [
  productRoutes,
  orderRoutes,
  balanceRoutes,
  passportRoutes,
  webhookRoutes,
];

/** Everything that the daemon serves. */
export function allRoutes(tokens: Tokens): readonly RoutePlugin[] {
  return [oauthRoutes(tokens), wellKnownRoutes(tokens), qrRoutes, ...routes];
}
