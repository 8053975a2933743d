import type { Tokens } from "../../core/credentials/tokens.ts";
import type { RoutePlugin } from "../context/fastify.ts";

/**
 * The v1 API that needs a token, by the first word of each path after `/api/v1/`: the one list of it. Each resource is
 * loaded when it is needed, so that a terminal command loads no other (docs/decisions/0070).
 */
const resources: ReadonlyMap<string, () => Promise<readonly RoutePlugin[]>> = new Map([
  ["products", async () => [(await import("./products.ts")).productRoutes]],
  ["catalog", async () => [(await import("./catalog.ts")).catalogRoutes]],
  ["inventory", async () => [(await import("./inventory.ts")).inventoryRoutes]],
  [
    "orders",
    async () => [
      (await import("./orders.ts")).orderRoutes,
      (await import("./orders-bulk.ts")).bulkOrderRoutes,
      (await import("./order-quotes.ts")).quoteRoutes,
    ],
  ],
  ["esims", async () => [(await import("./esims.ts")).esimRoutes, (await import("./topups.ts")).esimTopupRoutes]],
  ["topups", async () => [(await import("./topups.ts")).topupRoutes]],
  ["wallet", async () => [(await import("./wallet.ts")).walletRoutes]],
  ["statements", async () => [(await import("./statements.ts")).statementRoutes]],
  ["search", async () => [(await import("./search.ts")).searchRoutes]],
  ["balance", async () => [(await import("./balance.ts")).balanceRoutes]],
  [
    "activations",
    async () => [
      (await import("./activations.ts")).activationRoutes,
      (await import("./activations-bulk.ts")).activationBulkRoutes,
      (await import("./activation-changes.ts")).activationChangeRoutes,
    ],
  ],
  ["kyc", async () => [(await import("./passports.ts")).passportRoutes]],
  ["credentials", async () => [(await import("./credentials.ts")).credentialRoutes]],
  ["events", async () => [(await import("./events.ts")).eventRoutes]],
  [
    "webhooks",
    async () => [
      (await import("./webhooks.ts")).webhookRoutes,
      (await import("./webhook-changes.ts")).webhookChangeRoutes,
    ],
  ],
  ["sandbox", async () => [(await import("./sandbox.ts")).sandboxRoutes]],
]);

/** The resource that a path of the API belongs to: `orders` for /api/v1/orders/bulk. */
export function resourceOf(path: string): string {
  return path.split("/")[3] ?? "";
}

/** The routes of a resource, which the terminal runs in process. An unknown resource has none. */
export async function routesFor(resource: string): Promise<readonly RoutePlugin[]> {
  return (await resources.get(resource)?.()) ?? [];
}

/** The routes of every resource, in the order of the list. */
export async function resourceRoutes(): Promise<readonly RoutePlugin[]> {
  return (await Promise.all([...resources.values()].map((load) => load()))).flat();
}

/** All routes of the daemon: those that need no token, then those of every resource. */
export async function allRoutes(tokens: Tokens): Promise<readonly RoutePlugin[]> {
  const [oauth, wellKnown, qr, media, callbacks, notices] = await Promise.all([
    import("./oauth.ts"),
    import("./well-known.ts"),
    import("./qr.ts"),
    import("./media.ts"),
    import("./callbacks.ts"),
    import("./supplier-notices.ts"),
  ]);
  return [
    oauth.oauthRoutes(tokens),
    wellKnown.wellKnownRoutes(tokens),
    qr.qrRoutes,
    media.mediaRoutes,
    callbacks.carrierCallbackRoutes,
    callbacks.supplierCallbackRoutes,
    notices.supplierNoticeRoutes,
    ...(await resourceRoutes()),
  ];
}
