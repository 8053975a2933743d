import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { daysOf, type EaAccount, type EaEsim, eaTime, statusOf, validUntil, volumeOf } from "./esimaccess-account.ts";
import { type EaPackage, packageNamed, topupPackages } from "./esimaccess-catalog.ts";
import { bodyFault, type EaOutcome, type EaRefused } from "./esimaccess-codes.ts";
import { type EaCall, PeriodNum, TransactionId } from "./esimaccess-order.ts";

const Text = Type.Optional(Type.String());

const topup = Compile(
  Type.Object({
    esimTranNo: Text,
    iccid: Text,
    packageCode: Text,
    slug: Text,
    amount: Type.Optional(Type.Integer({ minimum: 0 })),
    transactionId: TransactionId,
    periodNum: Type.Optional(PeriodNum),
  }),
);

/** The most top-ups of one eSIM; 9 is reported as well. */
const MOST_TOPUPS = 10;

/** POST /esim/topup: while it is new, in use or depleted. The same transactionId is the same top-up. */
export function topUp({ account, numbers, repeats, body, steered, now }: EaCall): EaOutcome {
  if (!topup.Check(body)) return { code: bodyFault(topup, body) };
  const { transactionId, amount, periodNum } = body;
  const known = account.topups.get(transactionId);
  if (known !== undefined) return repeats === "same" ? { obj: known } : { code: "310402" };
  const esim = esimOf(account, body, now);
  if ("code" in esim) return esim;
  const pack = fitting(body, esim);
  if ("code" in pack) return pack;
  if ((pack.dataType === 2) !== (periodNum !== undefined)) return { code: "200008" };
  const price = pack.price * (periodNum ?? 1);
  if (amount !== undefined && amount !== price) return { code: "200006" };
  const open = ["GOT_RESOURCE", "IN_USE", "USED_UP"].includes(statusOf(esim, now)) && esim.life !== "CANCEL";
  if (steered?.outcome === "refuse" || !open || esim.topups.length >= MOST_TOPUPS) return { code: "200002" };
  if (price > account.balance) return { code: "200007" };
  account.balance -= price;
  const wait = steered?.outcome === "wait" ? steered.delay_ms : 0;
  const topUpEsimTranNo = numbers.esimTranNo(now);
  esim.topups.push({
    pack,
    transactionId,
    esimTranNo: topUpEsimTranNo,
    days: pack.duration * (periodNum ?? 1),
    volume: pack.volume * (periodNum ?? 1),
    price,
    createdAt: now,
    shownAt: now + wait,
  });
  if (esim.life === "USED_UP") esim.life = "IN_USE";
  const obj = {
    transactionId,
    iccid: esim.iccid,
    expiredTime: eaTime(validUntil(esim, now + wait)),
    totalVolume: volumeOf(esim, now + wait),
    totalDuration: daysOf(esim, now + wait),
    orderUsage: esim.used,
    topUpEsimTranNo,
  };
  account.topups.set(transactionId, obj);
  return { obj };
}

/** The package that is asked for, where it fits the eSIM. */
function fitting({ packageCode = "", slug = "" }: { packageCode?: string; slug?: string }, { pack }: EaEsim) {
  const named = packageCode || slug;
  if (named === "") return { code: "000105" } satisfies EaRefused;
  const asked: EaPackage | undefined = packageNamed(topupPackages, named);
  if (asked === undefined) return { code: packageCode === "" ? "310243" : "310241" } satisfies EaRefused;
  if (pack.supportTopUpType === 1) return { code: "200002" } satisfies EaRefused;
  return asked.locationCode === pack.locationCode ? asked : ({ code: "310243" } satisfies EaRefused);
}

const named = Compile(Type.Object({ esimTranNo: Text, iccid: Text }));

/** POST /esim/cancel: only what is not on a phone; all that was paid for it returns to the balance. */
export function cancelEsim({ account, body, steered, now }: EaCall): EaOutcome {
  if (!named.Check(body)) return { code: bodyFault(named, body) };
  const esim = esimOf(account, body, now);
  if ("code" in esim) return esim;
  const unused = statusOf(esim, now) === "GOT_RESOURCE" && esim.life !== "CANCEL" && esim.smdpStatus === "RELEASED";
  if (!unused || steered?.outcome === "refuse") return { code: "200002" };
  account.balance += esim.topups.reduce((sum, { price }) => sum + price, esim.price);
  esim.life = "CANCEL";
  esim.cancelShownAt = now + (steered?.outcome === "wait" ? steered.delay_ms : 0);
  return { obj: {} };
}

/** POST /esim/suspend, /esim/unsuspend and /esim/revoke; the last one is for good and gives nothing back. */
export function changeEsim({ account, body, now }: EaCall, change: "suspend" | "unsuspend" | "revoke"): EaOutcome {
  if (!named.Check(body)) return { code: bodyFault(named, body) };
  const esim = esimOf(account, body, now);
  if ("code" in esim) return esim;
  const status = statusOf(esim, now);
  const ended = esim.life === "CANCEL" || ["REVOKED", "USED_EXPIRED", "UNUSED_EXPIRED"].includes(status);
  if (ended || (change !== "revoke" && (status === "SUSPENDED") !== (change === "unsuspend"))) {
    return { code: "200002" };
  }
  if (change === "revoke") esim.life = "REVOKED";
  else esim.suspended = change === "suspend";
  return { obj: {} };
}

/** ICCIDs are used again, so that esimTranNo counts where both are given; an unknown one has no code of its own. */
function esimOf(
  { esims }: EaAccount,
  { esimTranNo = "", iccid = "" }: { esimTranNo?: string; iccid?: string },
  now: number,
): EaEsim | EaRefused {
  if (esimTranNo === "" && iccid === "") return { code: "000105" };
  const found = esims.findLast((one) => (esimTranNo === "" ? one.iccid === iccid : one.esimTranNo === esimTranNo));
  return found === undefined || found.readyAt > now ? { code: "310403" } : found;
}
