import { walletBalances } from "../../core/wallet/balances.ts";
import type { RoutePlugin } from "../context/fastify.ts";
import { principalOf } from "../plugins/access.ts";
import { WalletBalances } from "../schemas/wallet.ts";

/** Contract: Wallet. */
export const balanceRoutes: RoutePlugin = (app, { store }) => {
  app.route({
    method: "GET",
    url: "/api/v1/balance",
    config: { scope: "read:orders" },
    schema: {
      operationId: "getBalance",
      tags: ["Wallet"],
      summary: "Read the prepaid balance by currency",
      description: "One balance for each currency that was ever credited. Sandbox and production share it.",
      response: { 200: WalletBalances },
    },
    handler: (request) => store.read(walletBalances, principalOf(request).partnerId),
  });
};
