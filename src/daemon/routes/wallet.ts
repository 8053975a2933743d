import { requestFunding } from "../../core/wallet/funding.ts";
import { listFunding } from "../../core/wallet/list-funding.ts";
import { listTransactions } from "../../core/wallet/transactions.ts";
import { actorOf, type DaemonContext } from "../context/context.ts";
import type { App, RoutePlugin } from "../context/fastify.ts";
import { principalOf } from "../plugins/access.ts";
import {
  FundingAsked,
  FundingPage,
  FundingQuery,
  FundingRequest,
  WalletTransactionPage,
  WalletTransactionQuery,
} from "../schemas/wallet.ts";
import { timesIn } from "./query-times.ts";

/** Beyond the contract: what moved the wallet, and what is to. */
export const walletRoutes: RoutePlugin = (app, context) => {
  transactionsRoute(app, context);
  fundingRoutes(app, context);
};

function transactionsRoute(app: App, { store }: DaemonContext): void {
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
}

function fundingRoutes(app: App, { store }: DaemonContext): void {
  app.route({
    method: "GET",
    url: "/api/v1/wallet/funding-requests",
    config: { scope: "read:orders", problems: ["invalid_cursor"] },
    schema: {
      operationId: "listFundingRequests",
      tags: ["Wallet"],
      summary: "List the money that you announced, newest first",
      description: "A request that was credited has the reference that your wallet's transaction has.",
      querystring: FundingQuery,
      response: { 200: FundingPage },
    },
    handler(request) {
      const { limit, cursor } = request.query;
      return store.list(listFunding, { partnerId: principalOf(request).partnerId, limit, cursor });
    },
  });
  app.route({
    method: "POST",
    url: "/api/v1/wallet/funding-requests",
    config: { scope: "write:orders", problems: ["validation", "conflict"] },
    schema: {
      operationId: "requestFunding",
      tags: ["Wallet"],
      summary: "Announce a payment to the operator",
      description:
        "Name the reference of the response in your transfer. Your wallet is credited once the operator has seen the " +
        "money. At most 20 requests wait at a time.",
      body: FundingAsked,
      response: { 201: FundingRequest },
    },
    async handler(request, reply) {
      const principal = principalOf(request);
      const { amount_cents: amount, currency } = request.body;
      const input = { partnerId: principal.partnerId, amount, currency, actor: actorOf(principal) };
      return reply.code(201).send(await store.write(requestFunding, input, request.id, principal));
    },
  });
}
