import { ESIMGO_CURRENCY } from "./esimgo-account.ts";
import { decimal, type EsimgoCall } from "./esimgo-call.ts";
import { esimgoGroups } from "./esimgo-price-list.ts";
import type { ProviderAnswer } from "./provider.ts";

/** The key of the one organisation. */
export const ESIMGO_KEY = "demo-api-key";

/** GET /organisation: with the key in clear and the people of the account, as the real one. */
export function showOrganisation({ account }: EsimgoCall): ProviderAnswer {
  const body = {
    name: "Demo Travel",
    apiKey: ESIMGO_KEY,
    taxLiable: "No",
    addr1: "1 Demo Street",
    city: "Demoville",
    country: "US",
    postcode: "00000",
    callbackUrl: account.callbackUrl ?? "",
    notes: "",
    groups: esimgoGroups,
    currency: ESIMGO_CURRENCY,
    balance: decimal(account.balance),
    testCredit: 0,
    testCreditExpiry: "",
    businessType: "Travel agency",
    website: "https://demo-travel.example",
    productDescription: "",
    users: [
      {
        firstName: "Dana",
        lastName: "Demo",
        role: "Admin",
        emailAddress: "dana@demo-travel.example",
        phoneNumber: "+15550100",
        timeZone: "Etc/UTC",
      },
    ],
  };
  return { status: 200, body };
}

/** GET /organisation/groups. */
export function listGroups(): ProviderAnswer {
  const groups = esimgoGroups.map((name) => ({
    name,
    priceListUrl: `https://demo-esimgo.example/prices/${encodeURIComponent(name)}.csv`,
    desc: `${name} bundles`,
    icon: "https://demo-esimgo.example/icon.svg",
  }));
  return { status: 200, body: { groups } };
}
