import type { RoutePlugin } from "../context/fastify.ts";

/** The routes that need a token, by the first word of their paths, each loaded when it is asked for. */
const resources: ReadonlyMap<string, () => Promise<readonly RoutePlugin[]>> = new Map([
  ["products", async () => [(await import("./products.ts")).productRoutes]],
  ["catalog", async () => [(await import("./catalog.ts")).catalogRoutes]],
  ["inventory", async () => [(await import("./inventory.ts")).inventoryRoutes]],
  [
    "orders",
    async () => [(await import("./orders.ts")).orderRoutes, (await import("./orders-bulk.ts")).bulkOrderRoutes],
  ],
  ["esims", async () => [(await import("./esims.ts")).esimRoutes]],
  ["balance", async () => [(await import("./balance.ts")).balanceRoutes]],
  [
    "activations",
    async () => [
      (await import("./activations.ts")).activationRoutes,
      (await import("./activation-changes.ts")).activationChangeRoutes,
      (await import("./activations-bulk.ts")).bulkActivationRoutes,
    ],
  ],
  ["kyc", async () => [(await import("./passports.ts")).passportRoutes]],
  ["webhooks", async () => [(await import("./webhooks.ts")).webhookRoutes]],
]);

/** The resource that a path of the API lies under: `orders` for /api/v1/orders/bulk. */
export function resourceOf(path: string): string {
  return path.split("/")[3] ?? "";
}

/** The routes of a resource: what the terminal runs in process. None for what is no resource. */
export async function routesFor(resource: string): Promise<readonly RoutePlugin[]> {
  return (await resources.get(resource)?.()) ?? [];
}
