import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Secret } from "../../../../core/kernel/secret.ts";
import { accountChecks } from "../account-checks.ts";
import { isSigned, jsonOf, type NoticeRead } from "../notices.ts";
import type { Notice, Provider, ProviderParts } from "../provider.ts";
import { usable } from "../reply.ts";
import { lookAtEach } from "../reports.ts";
import { readCatalog } from "./catalog.ts";
import { accountBalance, createClient, NAME } from "./client.ts";
import { lookAt } from "./esims.ts";
import { buyBundle, type Phantoms } from "./purchase.ts";
import { refundEsim } from "./refund.ts";
import { fitsOn, topUpEsim } from "./top-up.ts";

const about = Compile(Type.Object({ iccid: Type.String({ pattern: "^\\d{18,22}$" }) }));
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
    readNotice: (notice) => readNotice(notice, secret),
  };
}

/** Which eSIM a callback of version 3 is about: its signature is over the exact bytes, by the API key. */
function readNotice({ headers, body }: Notice, secret: Secret): NoticeRead {
  const given = headers["x-signature-sha256"];
  if (typeof given !== "string" || given === "") {
    return { refused: "it is not signed: set the callbacks to version 3 in eSIM Go's portal" };
  }
  // The guide shows hex, the specification says base64.
  const signature = Buffer.from(given.trim(), /^[0-9a-f]{64}$/i.test(given.trim()) ? "hex" : "base64");
  if (!isSigned(body, signature, { hash: "sha256", key: secret.reveal() })) {
    return { refused: "its signature is not by this API key" };
  }
  // An ICCID may come as a bare number, which a double would not hold.
  const notice = jsonOf(body.toString("utf8").replace(/("iccid"\s*:\s*)(\d+)(?=\s*[,}])/g, '$1"$2"'));
  if (notice === undefined) return { refused: "it is no JSON" };
  return { esims: about.Check(notice) ? [{ iccid: notice.iccid, reference: null }] : [] };
}
