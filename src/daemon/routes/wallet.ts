import { listTransactions } from "../../core/wallet/transactions.ts";
import type { RoutePlugin } from "../context/fastify.ts";
import { principalOf } from "../plugins/access.ts";
import { WalletTransactionPage, WalletTransactionQuery } from "../schemas/wallet.ts";
import { timesIn } from "./query-times.ts";

/** Beyond the contract: what moved the wallet. */
export const walletRoutes: RoutePlugin = (app, { store }) => {
  app.route({
    method: "GET",
    url: "/api/v1/wallet/transactions",
    config: { scope: "read:orders", problems: ["invalid_cursor"] },
    schema: {
      operationId: "listWalletTransactions",
      tags: ["Wallet"],
      summary: "List what moved your balance, newest first",
      description:
        "Every movement with the balance after it. Sandbox and production share the wallet; orders of the sandbox " +
        "are not charged.",
      querystring: WalletTransactionQuery,
      response: { 200: WalletTransactionPage },
    },
    handler(request) {
      const { limit, cursor, currency, from, to } = request.query;
      const times = timesIn({ from, to });
      const { partnerId } = principalOf(request);
      const filter = { partnerId, limit, cursor, currency, from: times.get("from"), to: times.get("to") };
      return store.list(listTransactions, filter);
    },
  });
};
