import { accountChecks } from "../account-checks.ts";
import type { Provider, ProviderParts } from "../provider.ts";
import { usable } from "../reply.ts";
import { lookAtEach } from "../reports.ts";
import { readCatalog } from "./catalog.ts";
import { accountBalance, createClient, NAME } from "./client.ts";
import { lookAt } from "./esims.ts";
import { readEsimgoNotice } from "./notice.ts";
import { buyBundle, type Phantoms } from "./purchase.ts";
import { refundEsim } from "./refund.ts";
import { fitsOn, topUpEsim } from "./top-up.ts";

const REPLACE = "eSIM Go has no call for it: its support replaces a faulty eSIM.";

/** The adapter of eSIM Go's Travel API v2.5. What people ask for waits for limits. */
export function createEsimgo({ calls, secret, now }: ProviderParts): Provider {
  const client = createClient(calls.send, secret);
  const forPeople = createClient(calls.sendInTurn, secret);
  const phantoms: Phantoms = new Map();
  return {
    buy: (ask) => buyBundle({ client, ask, now, phantoms }),
    topUp: (ask) => topUpEsim(client, ask),
    // Any bundle that is compatible serves.
    topupPlans: async () => null,
    fits: ({ iccid }, plan) => fitsOn(forPeople, iccid, plan),
    catalog: () => readCatalog(forPeople),
    balance: async () => usable(NAME, await accountBalance(forPeople)),
    async check() {
      const held = await accountBalance(forPeople);
      return accountChecks(held, held, now());
    },
    look: (esims) => lookAtEach({ provider: NAME, now }, esims, (esim) => lookAt(forPeople, esim)),
    refund: (esim) => refundEsim(client, esim),
    replace: async () => ({ outcome: "not_available", detail: REPLACE }),
    readNotice: (notice) => readEsimgoNotice(notice, secret),
  };
}
