import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Secret } from "../../../../core/kernel/secret.ts";
import type { EsimRef, EsimReportOf, Returned } from "../../../../core/supply/provider.ts";
import { accountChecks } from "../account-checks.ts";
import { isSigned, jsonOf, type NoticeRead } from "../notices.ts";
import type { Notice, Provider, ProviderParts } from "../provider.ts";
import { done, mapped, notReturned, type Reply, shaped, usable } from "../reply.ts";
import { lookAtEach, type Shown } from "../reports.ts";
import { maybe, momentOf, TextOrNumber } from "../values.ts";
import { createPrices, topupPlansOf, wholeCatalog } from "./catalog.ts";
import { accountBalance, type Client, createClient, credentialOf, NAME } from "./client.ts";
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

const Usage = Type.Object({
  status: Type.String(),
  ...maybe(TextOrNumber, "remaining", "total"),
  ...maybe(Type.String(), "expired_at"),
  ...maybe(Type.Boolean(), "is_unlimited"),
});
const usage = Compile(Type.Object({ data: Usage }));
const requested = Compile(Type.Object({ data: Type.Object({ refund_id: TextOrNumber }) }));

const statuses: Readonly<Record<string, EsimReportOf["status"]>> = {
  ...{ NOT_ACTIVE: "inactive", ACTIVE: "active", FINISHED: "used_up", EXPIRED: "expired" },
};

/** What Airalo knows of an eSIM: not whether a phone has it, and up to 20 minutes late. Null: there is no such one. */
async function usageOf({ ask }: Client, { iccid }: EsimRef): Promise<Reply<Shown | null>> {
  const own = { bucket: `usage ${iccid}`, aMinute: 10 };
  const reply = await ask({ method: "GET", path: `/sims/${encodeURIComponent(iccid)}/usage`, own });
  if (reply.kind === "refused" && reply.code === "404") return done(null);
  // It was recycled.
  if (reply.kind === "refused" && reply.code === "73") return done({ status: "unknown" });
  return mapped(shaped(reply, usage), ({ data }) => {
    const status = statuses[data.status] ?? "unknown";
    // A recycled eSIM says 0 of 0; so does an unlimited one.
    const counts = status !== "unknown" && data.is_unlimited !== true;
    const [totalMb, leftMb] = counts ? [amountOf(data.total), amountOf(data.remaining)] : [null, null];
    const usedMb = totalMb === null || leftMb === null ? null : Math.max(0, totalMb - leftMb);
    return { status, usedMb, totalMb, expiresAt: momentOf(data.expired_at) };
  });
}

function amountOf(value: string | number | null | undefined): number | null {
  const amount = Number(value ?? Number.NaN);
  return value !== "" && Number.isFinite(amount) && amount >= 0 ? amount : null;
}

/** Asks for a refund of an eSIM. People at Airalo decide; the money comes as credit of the account. */
async function requestRefund({ ask }: Client, { iccid }: EsimRef): Promise<Returned> {
  const form = { "iccids[]": iccid, reason: "OTHERS", notes: "Requested by the operator" };
  const own = { bucket: "refund", aMinute: 5 };
  const reply = shaped(await ask({ method: "POST", path: "/refund", form, own }), requested);
  if (reply.kind === "done") {
    const reference = String(reply.value.data.refund_id);
    const detail = `Airalo has the request as ${reference}: its people decide, and a refund is credit of the account.`;
    return { outcome: "requested", detail, reference };
  }
  // A refusal of this call may be a message without a code.
  const worded = reply.kind === "unclear" && reply.code === "422";
  return { ...notReturned(NAME, reply), ...(worded && { outcome: "not_available" }) };
}

/** A notice of low data, which is the only kind about an eSIM. */
const lowData = Compile(Type.Object({ iccid: Type.String({ pattern: "^\\d{13,20}$" }) }));

/**
 * Which eSIM a notice is about. Which bytes are signed is not published: the body as it came, or its JSON as PHP writes
 * it, which is what Airalo's own library verifies.
 */
function readAiraloNotice({ headers, body }: Notice, secret: Secret): NoticeRead {
  const given = headers["airalo-signature"];
  if (typeof given !== "string" || !/^[0-9a-f]{128}$/i.test(given)) return { refused: "it has no airalo-signature" };
  const parsed = jsonOf(body.toString("utf8"));
  const written = parsed === undefined ? [] : [JSON.stringify(parsed).replaceAll("/", "\\/")];
  const by = { hash: "sha512", key: credentialOf(secret).client_secret };
  if (![body, ...written].some((bytes) => isSigned(bytes, Buffer.from(given, "hex"), by))) {
    return { refused: "its airalo-signature is not that of this credential" };
  }
  return { esims: lowData.Check(parsed) ? [{ iccid: parsed.iccid, reference: null }] : [] };
}
