import { accountChecks } from "../account-checks.ts";
import type { Provider, ProviderParts } from "../provider.ts";
import { usable } from "../reply.ts";
import { accountBalance } from "./account.ts";
import { readCatalog } from "./catalog.ts";
import { createEsimgoClient, NAME } from "./client.ts";
import { readEsimgoNotice } from "./notice.ts";
import { buyBundle, type Phantoms } from "./purchase.ts";
import { refundEsim } from "./refund.ts";
import { fitsOn, topUpEsim } from "./top-up.ts";
import { lookAt } from "./usage.ts";

const REPLACE = "eSIM Go has no call for it: ask its support, with the ICCID and pictures of the phone's settings";

/** eSIM Go's Travel API 2.5; the secret is the API key. */
export function createEsimgo({ calls, secret, now }: ProviderParts): Provider {
  const client = createEsimgoClient(calls, secret);
  const phantoms: Phantoms = new Map();
  return {
    buy: (ask) => buyBundle({ client, ask, now, phantoms }),
    topUp: (ask) => topUpEsim(client, ask),
    // Any bundle that is compatible serves.
    topupPlans: async () => null,
    fits: ({ iccid }, plan) => fitsOn(client, iccid, plan),
    catalog: () => readCatalog(client),
    balance: async () => usable(NAME, await accountBalance(client.askPeople)),
    async check() {
      const held = await accountBalance(client.askPeople);
      return accountChecks(held, held, now());
    },
    look: (esims) => lookAt(client, esims, now),
    refund: (esim) => refundEsim(client, esim),
    replace: async () => ({ outcome: "not_available", detail: REPLACE }),
    readNotice: (notice) => readEsimgoNotice(notice, secret),
  };
}
