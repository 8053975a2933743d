import type { Provider, ProviderParts } from "../provider.ts";
import { usable } from "../reply.ts";
import { accountBalance, checkAccount } from "./account.ts";
import { readCatalog } from "./catalog.ts";
import { createClient, NAME } from "./client.ts";
import { lookAt } from "./esims.ts";
import { giveBack } from "./give-back.ts";
import { readNotice } from "./notice.ts";
import { purchaseStep } from "./purchase.ts";
import { orderWay, topUpWay } from "./ways.ts";

const NAMELESS = "Its esimTranNo is not known, and an ICCID may be another eSIM's by now.";
const BY_SUPPORT = "eSIM Access replaces eSIMs by its support only: write to it.";

/** eSIM Access by its partner API, version 1. The secret is `ACCESSCODE:SECRETKEY`. */
export function createEsimaccess({ calls, secret, url, now }: ProviderParts): Provider {
  const client = createClient({ calls, secret, now });
  return {
    buy: (ask) => purchaseStep(orderWay(client, ask, now()), ask, now()),
    async topUp(ask) {
      const { reference } = ask.esim;
      if (reference === null) return { kind: "refused", code: "no_reference", message: NAMELESS, because: "plan" };
      return purchaseStep(topUpWay(client, ask, reference), ask, now());
    },
    topupPlans: async ({ iccid }) => (await readCatalog(client, { type: "TOPUP", iccid })).plans,
    // Top-ups are plans of their own, never one of the catalog.
    fits: async () => false,
    catalog: () => readCatalog(client, { type: "BASE" }),
    balance: async () => usable(NAME, await accountBalance(client)),
    check: () => checkAccount(client, now()),
    look: (esims) => lookAt(client, esims, now),
    refund: async ({ reference }) =>
      reference === null ? { outcome: "not_available", detail: NAMELESS } : giveBack(client, reference),
    replace: async () => ({ outcome: "not_available", detail: BY_SUPPORT }),
    readNotice: (notice) => readNotice(notice, url),
  };
}
