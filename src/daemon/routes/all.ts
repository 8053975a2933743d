import type { Tokens } from "../../core/credentials/tokens.ts";
import type { RoutePlugin } from "../context/fastify.ts";
import { activationChangeRoutes } from "./activation-changes.ts";
import { activationRoutes } from "./activations.ts";
import { bulkActivationRoutes } from "./activations-bulk.ts";
import { balanceRoutes } from "./balance.ts";
import { carrierCallbackRoutes } from "./carrier-callbacks.ts";
import { catalogRoutes } from "./catalog.ts";
import { esimRoutes } from "./esims.ts";
import { inventoryRoutes } from "./inventory.ts";
import { mediaRoutes } from "./media.ts";
import { oauthRoutes } from "./oauth.ts";
import { orderRoutes } from "./orders.ts";
import { bulkOrderRoutes } from "./orders-bulk.ts";
import { passportRoutes } from "./passports.ts";
import { productRoutes } from "./products.ts";
import { qrRoutes } from "./qr.ts";
import { supplierCallbackRoutes } from "./supplier-callbacks.ts";
import { webhookRoutes } from "./webhooks.ts";
import { wellKnownRoutes } from "./well-known.ts";

/** The v1 API that needs a token: what the terminal also runs in process. */
export const routes: readonly RoutePlugin[] = [
  productRoutes,
  catalogRoutes,
  inventoryRoutes,
  orderRoutes,
  bulkOrderRoutes,
  esimRoutes,
  balanceRoutes,
  activationRoutes,
  activationChangeRoutes,
  bulkActivationRoutes,
  passportRoutes,
  webhookRoutes,
];

/** Everything that the daemon serves. */
export function allRoutes(tokens: Tokens): readonly RoutePlugin[] {
  return [
    oauthRoutes(tokens),
    wellKnownRoutes(tokens),
    qrRoutes,
    mediaRoutes,
    carrierCallbackRoutes,
    supplierCallbackRoutes,
    ...routes,
  ];
}
