import type { EsimRef, Plan } from "../../../../core/supply/provider.ts";
import type { Provider, ProviderParts } from "../provider.ts";
import { checkAccount, readBalance } from "./account.ts";
import { noReplacement, requestRefund } from "./after-sale.ts";
import { plansOf, topupPlansOf } from "./catalog.ts";
import { type Client, createClient } from "./client.ts";
import { readAiraloNotice } from "./notice.ts";
import { buyEsim, buyTopup } from "./purchase.ts";
import { bodyOf, unreachable } from "./reply.ts";
import { lookAt } from "./usage.ts";

/** The catalog has some 3,200 packages in one answer. */
const CATALOG_TIMEOUT_MS = 120_000;

/** Airalo's Partner API v2. */
export function createAiralo(parts: ProviderParts): Provider {
  const { now, secret } = parts;
  const client = createClient(parts);
  return {
    buy: (ask) => buyEsim(client, now(), ask),
    topUp: (ask) => buyTopup(client, now(), ask),
    topupPlans: (esim) => readTopupPlans(client, esim),
    fits: async (esim, plan) => (await readTopupPlans(client, esim)).some((one) => one.plan === plan),
    plans: () => readPlans(client),
    balance: () => readBalance(client),
    check: () => checkAccount(client, now),
    look: (esims) => lookAt(client, now, esims),
    refund: (esim) => requestRefund(client, esim),
    replace: async () => noReplacement,
    readNotice: (notice) => readAiraloNotice(notice, secret),
  };
}

/** The whole catalog in one answer: pages after the first have another form. The page says 80 a minute, and 40. */
async function readPlans(client: Client): Promise<Plan[]> {
  const own = { bucket: "packages", aMinute: 40 };
  const reply = await client.ask({ method: "GET", path: "/packages", own, timeoutMs: CATALOG_TIMEOUT_MS });
  const plans = plansOf(bodyOf(reply));
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
