import type { EsimRef } from "../../../../core/supply/provider.ts";
import { accountChecks } from "../account-checks.ts";
import type { Provider, ProviderParts } from "../provider.ts";
import { usable } from "../reply.ts";
import { lookAtEach } from "../reports.ts";
import { createPrices, topupPlansOf, wholeCatalog } from "./catalog.ts";
import { accountBalance, createClient, NAME } from "./client.ts";
import { requestRefund, usageOf } from "./esims.ts";
import { readAiraloNotice } from "./notice.ts";
import { purchaseStep } from "./purchase.ts";

const EXCHANGE = "Airalo exchanges no eSIMs: ask for a refund of this one, and sell another.";

/** Airalo's Partner API v2. */
export function createAiralo({ calls, secret, now }: ProviderParts): Provider {
  const client = createClient({ calls, secret, now });
  const parts = { client, prices: createPrices(client, now), now };
  const topupPlans = async (esim: EsimRef) => usable(NAME, await topupPlansOf(client.ask, esim));
  return {
    buy: (ask) => purchaseStep(parts, ask),
    topUp: (ask) => purchaseStep(parts, ask),
    topupPlans,
    fits: async (esim, plan) => (await topupPlans(esim)).some((one) => one.plan === plan),
    catalog: async () => usable(NAME, await wholeCatalog(client.ask)),
    balance: async () => usable(NAME, await accountBalance(client)),
    async check() {
      // What a shared token shows is not that the credential still holds.
      const token = await client.renew();
      return accountChecks(token, token.kind === "done" ? await accountBalance(client) : token, now());
    },
    look: (esims) => lookAtEach({ provider: NAME, now }, esims, (esim) => usageOf(client, esim)),
    refund: (esim) => requestRefund(client, esim),
    replace: async () => ({ outcome: "not_available", detail: EXCHANGE }),
    readNotice: (notice) => readAiraloNotice(notice, secret),
  };
}
