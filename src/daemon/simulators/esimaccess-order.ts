import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { type EaAccount, type EaEsim, type EaNumbers, noticesOf } from "./esimaccess-account.ts";
import { basePackages, type EaPackage, packageNamed } from "./esimaccess-catalog.ts";
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
export const TransactionId = Type.String({ minLength: 1, maxLength: 50 });
export const PeriodNum = Type.Integer({ minimum: 1, maximum: 365 });

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
