import { Type } from "typebox";
import { Compile } from "typebox/compile";
import {
  daysOf,
  type EaAccount,
  type EaEsim,
  type EaNumbers,
  eaTime,
  noticesOf,
  statusOf,
  validUntil,
  volumeOf,
} from "./esimaccess-account.ts";
import { basePackages, type EaPackage, packageNamed, topupPackages } from "./esimaccess-catalog.ts";
import { bodyFault, type EaOutcome, type EaRefused } from "./esimaccess-codes.ts";
import type { ProviderRequest } from "./provider.ts";

/** How a transactionId is answered again: as the first time, or by a refusal. Which one it is, is not known. */
export type EaRepeats = "same" | "refused";

/** What a call works on. */
export interface EaCall {
  account: EaAccount;
  numbers: EaNumbers;
  repeats: EaRepeats;
  body: unknown;
  steered: ProviderRequest["steered"];
  now: number;
}

/** An order's transactionId. */
const TransactionId = Type.String({ minLength: 1, maxLength: 50 });
const PeriodNum = Type.Integer({ minimum: 1, maximum: 365 });

const order = Compile(
  Type.Object({
    transactionId: TransactionId,
    amount: Type.Optional(Type.Integer({ minimum: 0 })),
    packageInfoList: Type.Array(
      Type.Object({
        packageCode: Type.Optional(Type.String({ minLength: 1 })),
        slug: Type.Optional(Type.String({ minLength: 1 })),
        count: Type.Integer({ minimum: 1 }),
        price: Type.Optional(Type.Integer({ minimum: 0 })),
        periodNum: Type.Optional(PeriodNum),
      }),
      { minItems: 1 },
    ),
  }),
);

interface Line {
  pack: EaPackage;
  count: number;
  periodNum: number;
}

/** The most eSIMs of one order. */
const MOST = 30;

/** POST /esim/order: the same transactionId is the same order, whatever else is in the body. */
export function placeOrder({ account, numbers, repeats, body, steered, now }: EaCall): EaOutcome {
  if (!order.Check(body)) return { code: bodyFault(order, body) };
  const { transactionId, amount } = body;
  const known = account.orders.get(transactionId);
  if (known !== undefined) return repeats === "same" ? { obj: known } : { code: "310402" };
  const lines: Line[] = [];
  for (const one of body.packageInfoList) {
    const line = lineOf(one);
    if ("code" in line) return line;
    lines.push(line);
  }
  if (lines.reduce((sum, { count }) => sum + count, 0) > MOST) return { code: "200008" };
  const total = lines.reduce((sum, { pack, count, periodNum }) => sum + pack.price * periodNum * count, 0);
  if (amount !== undefined && amount !== total) return { code: "200006" };
  if (steered?.outcome === "refuse") return { code: "200011" };
  if (total > account.balance) return { code: "200007" };
  const placed = { orderNo: numbers.orderNo(now), transactionId };
  const wait = steered?.outcome === "wait" ? steered.delay_ms : 0;
  account.balance -= total;
  account.orders.set(transactionId, placed);
  account.esims.push(...unitsOf(lines, { ...placed, numbers, now, readyAt: now + wait }));
  const ready = { ...placed, orderStatus: "GOT_RESOURCE" };
  const callbacks = noticesOf(account, "ORDER_STATUS", ready, now + wait);
  return { obj: placed, callbacks: callbacks.map((one) => ({ ...one, after_ms: wait })) };
}

interface OrderedLine {
  packageCode?: string;
  slug?: string;
  count: number;
  price?: number;
  periodNum?: number;
}

function lineOf({ packageCode, slug, count, price, periodNum }: OrderedLine): Line | EaRefused {
  const named = packageCode ?? slug;
  if (named === undefined) return { code: "000105" };
  const pack = packageNamed(basePackages, named);
  if (pack === undefined) return { code: packageCode === undefined ? "310243" : "310241" };
  // Which packages need a number of days is not said outright: a daily plan does, and no other one takes it.
  if ((pack.dataType === 2) !== (periodNum !== undefined)) return { code: "200008" };
  if (price !== undefined && price !== pack.price) return { code: "200005" };
  return { pack, count, periodNum: periodNum ?? 1 };
}

interface Placed {
  orderNo: string;
  transactionId: string;
  numbers: EaNumbers;
  now: number;
  readyAt: number;
}

function unitsOf(lines: readonly Line[], { orderNo, transactionId, numbers, now, readyAt }: Placed): EaEsim[] {
  const alone = lines.length === 1 && lines[0]?.count === 1;
  return lines.flatMap(({ pack, count, periodNum }, line) =>
    Array.from({ length: count }, (_, unit) => ({
      esimTranNo: numbers.esimTranNo(now),
      orderNo,
      transactionId,
      unitMark: alone ? "" : `-${line + 1}-${unit + 1}`,
      ...numbers.card(),
      pack,
      days: pack.duration * periodNum,
      volume: pack.volume * periodNum,
      price: pack.price * periodNum,
      createdAt: now,
      readyAt,
      life: "GOT_RESOURCE" as const,
      cancelShownAt: 0,
      suspended: false,
      smdpStatus: "RELEASED" as const,
      eid: "",
      installedAt: null,
      activatedAt: null,
      expiredAt: null,
      used: 0,
      usedAt: null,
      topups: [],
    })),
  );
}

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
