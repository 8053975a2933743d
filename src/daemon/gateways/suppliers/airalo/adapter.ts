import type { EsimRef, Plan } from "../../../../core/supply/provider.ts";
import type { Provider, ProviderParts } from "../provider.ts";
import { checkAccount, readBalance } from "./account.ts";
import { noReplacement, requestRefund } from "./after-sale.ts";
import { plansOf, topupPlansOf } from "./catalog.ts";
import { type Client, createClient } from "./client.ts";
import { packagesCall } from "./limits.ts";
import { readAiraloNotice } from "./notice.ts";
import { buyEsim, buyTopup } from "./purchase.ts";
import { bodyOf, unreachable } from "./reply.ts";
import { lookAt } from "./usage.ts";

/** The catalog has some 3,200 packages in one answer. */
const CATALOG_TIMEOUT_MS = 120_000;

/** Airalo's Partner API v2. */
export function createAiralo(parts: ProviderParts): Provider {
  const client = createClient(parts);
  const buying = { client, now: parts.now };
  return {
    buy: (ask) => buyEsim(buying, ask),
    topUp: (ask) => buyTopup(buying, ask),
    topupPlans: (esim) => readTopupPlans(client, esim),
    async fits(esim, plan) {
      return (await readTopupPlans(client, esim)).some((one) => one.plan === plan);
    },
    plans: () => readPlans(client),
    balance: () => readBalance(buying),
    check: () => checkAccount(buying),
    look: (esims) => lookAt(buying, esims),
    refund: (esim) => requestRefund(client, esim),
    replace: async () => noReplacement,
    readNotice: (notice) => readAiraloNotice(notice, parts.secret),
  };
}

/** The whole catalog in one answer: pages after the first have another form. */
async function readPlans(client: Client): Promise<Plan[]> {
  const call = { path: "/packages", limits: packagesCall, timeoutMs: CATALOG_TIMEOUT_MS };
  const plans = plansOf(bodyOf(await client.ask({ method: "GET", ...call })));
  if (plans === null) throw unreachable("Airalo's catalog is not understood, or is not the whole of it.");
  return plans;
}

/** An eSIM that was recycled, or is not of this account, can be topped up with nothing. */
async function readTopupPlans(client: Client, { iccid }: EsimRef): Promise<Plan[]> {
  const reply = await client.ask({ method: "GET", path: `/sims/${encodeURIComponent(iccid)}/topups` });
  if (reply.kind === "refused" && ["73", "404"].includes(reply.code)) return [];
  const plans = topupPlansOf(bodyOf(reply));
  if (plans === null) throw unreachable("Airalo's top-ups are not understood.");
  return plans;
}
