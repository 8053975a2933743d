import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { costOf } from "../../../../core/kernel/cost.ts";
import { plainDigits } from "../../../../core/kernel/iccid.ts";
import { addressOf, isWithin, networkOf } from "../../../../core/kernel/networks.ts";
import type { Balance, Check, Returned } from "../../../../core/supply/provider.ts";
import { accountChecks } from "../account-checks.ts";
import { jsonOf, type NoticeRead } from "../notices.ts";
import type { Notice, Provider, ProviderParts } from "../provider.ts";
import { mapped, type Reply, reasonOf, shaped, usable } from "../reply.ts";
import { maybe } from "../values.ts";
import { readCatalog } from "./catalog.ts";
import { type Client, createClient, NAME } from "./client.ts";
import { refusalOf, WRONG_STATE } from "./codes.ts";
import { lookAt, queryRows } from "./esims.ts";
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

const Amount = Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER });
const account = Compile(Type.Object({ balance: Amount, ...maybe(Type.String(), "currencyCode") }));

/** What the account holds. */
async function accountBalance(client: Client): Promise<Reply<Balance>> {
  return balanceIn(await client("/balance/query", {}));
}

/** Proves credential, balance and clock with one signed call. */
async function checkAccount(client: Client, now: number): Promise<Check[]> {
  const reply = await client("/balance/query", {});
  const refusal = reply.kind === "unclear" ? refusalOf(reply.code ?? "") : null;
  const worded = refusal === null ? reply : { ...reply, reason: `${refusal.message} (${refusal.code})` };
  return accountChecks(worded, balanceIn(reply), now);
}

function balanceIn(reply: Reply): Reply<Balance> {
  return mapped(shaped(reply, account), ({ balance, currencyCode }) => {
    return { currency: currencyCode || "USD", balance: costOf(balance) };
  });
}

/** Cancels the eSIM with this esimTranNo, if it was never downloaded; asking again is safe. */
async function giveBack(client: Client, esimTranNo: string): Promise<Returned> {
  const reply = await client("/esim/cancel", { esimTranNo });
  const detail = "It is canceled; its price is back on the balance.";
  const done: Returned = { outcome: "done", detail, reference: esimTranNo, replacement: null };
  if (reply.kind === "done") return done;
  const isRefused = reply.kind === "unclear" && reply.code === WRONG_STATE;
  if (!isRefused) return { outcome: "unknown", detail: `Cancel: ${reasonOf(reply)}.` };
  // A cancel whose answer was lost is refused when it is repeated: the eSIM itself shows which of both it was.
  const answer = await queryRows(client, { esimTranNo });
  if (answer.kind !== "done") return { outcome: "unknown", detail: `After the cancel: ${reasonOf(answer)}.` };
  const row = answer.value.find((one) => one.esimTranNo === esimTranNo);
  if (row?.esimStatus === "CANCEL") return done;
  const state = `${row?.esimStatus ?? "not shown"}, ${row?.smdpStatus ?? "not shown"}`;
  const isOpen = row === undefined || state === "GOT_RESOURCE, RELEASED";
  if (isOpen) return { outcome: "unknown", detail: `It refuses the cancel of an eSIM that is ${state}.` };
  const words = `Only an eSIM that was never downloaded can be canceled; this one is ${state}.`;
  return { outcome: "not_available", detail: words };
}

const Content = Type.Object(maybe(Type.String(), "iccid", "esimTranNo"));
const notice = Compile(Type.Object({ notifyType: Type.String(), ...maybe(Content, "content") }));

/** Notices have no signature: they come from these addresses alone. */
const senders = ["3.1.131.226", "54.254.74.88", "18.136.190.97", "18.136.60.197", "18.136.19.137"];
const LOOPBACK = /^https?:\/\/(localhost|127\.[\d.]+|\[::1\])[:/]/;
const networks = senders.flatMap((one) => networkOf(one) ?? []);

/** Which eSIM a notice names. From a provider that is simulated on loopback it may come from there as well. */
function readNotice({ address, body }: Notice, url: string): NoticeRead {
  const isSimulated = LOOPBACK.test(url) && addressOf(address)?.range() === "loopback";
  if (!isSimulated && !isWithin(address, networks)) {
    return { refused: "it was sent from an address that is not among the five of eSIM Access" };
  }
  const read = jsonOf(body.toString("utf8"));
  if (!notice.Check(read)) return { refused: "it has another form than notices of eSIM Access" };
  // Health checks name no eSIM, and notices of orders only the order, which is looked up as it is bought.
  const iccid = plainDigits(read.content?.iccid ?? "");
  return { esims: iccid === "" ? [] : [{ iccid, reference: read.content?.esimTranNo || null }] };
}
