import type { Provider, ProviderParts } from "../provider.ts";
import { checkAccount, readBalance } from "./account.ts";
import { readCatalog, readTopupPlans } from "./catalog.ts";
import { createClient } from "./client.ts";
import { lookAt, requestRefund } from "./esims.ts";
import { readAiraloNotice } from "./notice.ts";
import { purchaseStep } from "./purchase.ts";

const EXCHANGE = "Airalo exchanges no eSIMs: ask for a refund of this one, and sell another.";

/** Airalo's Partner API v2. */
export function createAiralo({ calls, secret, now }: ProviderParts): Provider {
  const client = createClient({ calls, secret, now });
  return {
    buy: (ask) => purchaseStep(client, now(), ask),
    topUp: (ask) => purchaseStep(client, now(), ask),
    topupPlans: (esim) => readTopupPlans(client, esim),
    fits: async (esim, plan) => (await readTopupPlans(client, esim)).some((one) => one.plan === plan),
    catalog: () => readCatalog(client),
    balance: () => readBalance(client),
    check: () => checkAccount(client, now),
    look: (esims) => lookAt(client, now, esims),
    refund: (esim) => requestRefund(client, esim),
    replace: async () => ({ outcome: "not_available", detail: EXCHANGE }),
    readNotice: (notice) => readAiraloNotice(notice, secret),
  };
}
