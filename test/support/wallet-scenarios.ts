import { anyone, type Scenario } from "./generic-scenarios.ts";
import type { Platform } from "./platform.ts";

const PATH = "/api/v1/wallet/funding-requests";

/** A partner that has announced so many payments, and the last response. */
async function announced(platform: Platform, count: number) {
  const caller = await anyone(platform);
  const asked = { amount_cents: 1_000, currency: "AUD" };
  let last = await caller.send("POST", PATH, asked);
  for (let more = 1; more < count; more++) last = await caller.send("POST", PATH, asked);
  return { caller, last };
}

/** A partner whose wallet has moved once. */
async function moved(platform: Platform) {
  const caller = await anyone(platform);
  await platform.fund(caller.partnerId, 1_000);
  return caller;
}

const STATEMENT = "/api/v1/statements/2026-03";

/** What leads to each response about a wallet. */
export const walletScenarios: Readonly<Record<string, Readonly<Record<number, Scenario>>>> = {
  listWalletTransactions: {
    200: async ({ platform }) => (await moved(platform)).get("/api/v1/wallet/transactions"),
  },
  listStatements: { 200: async ({ platform }) => (await moved(platform)).get("/api/v1/statements") },
  getStatement: {
    200: async ({ platform }) => (await moved(platform)).get(STATEMENT),
    406: async ({ platform }) => (await moved(platform)).get(STATEMENT, { accept: "text/html" }),
  },
  listFundingRequests: { 200: async ({ platform }) => (await announced(platform, 1)).caller.get(PATH) },
  requestFunding: {
    201: async ({ platform }) => (await announced(platform, 1)).last,
    409: async ({ platform }) => (await announced(platform, 21)).last,
  },
};
