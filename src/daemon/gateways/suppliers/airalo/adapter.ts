import type { EsimRef } from "../../../../core/supply/provider.ts";
import type { Provider, ProviderParts } from "../provider.ts";
import { usable } from "../reply.ts";
import { checkAccount, readBalance } from "./account.ts";
import { topupPlansOf, wholeCatalog } from "./catalog.ts";
import { createClient, NAME } from "./client.ts";
import { lookAt, requestRefund } from "./esims.ts";
import { readAiraloNotice } from "./notice.ts";
import { createPrices } from "./prices.ts";
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
    balance: () => readBalance(client),
    check: () => checkAccount(client, now),
    look: (esims) => lookAt(client, now, esims),
    refund: (esim) => requestRefund(client, esim),
    replace: async () => ({ outcome: "not_available", detail: EXCHANGE }),
    readNotice: (notice) => readAiraloNotice(notice, secret),
  };
}
