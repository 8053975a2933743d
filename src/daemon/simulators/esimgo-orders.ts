import { randomUUID } from "node:crypto";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import {
  ESIMGO_CURRENCY,
  type EsimgoAccount,
  type EsimgoEsim,
  type EsimgoLine,
  type EsimgoOrder,
  type EsimgoShown,
  SMDP_ADDRESS,
} from "./esimgo-account.ts";
import { assign, targetOf } from "./esimgo-assignments.ts";
import { checkedBody, decimal, type EsimgoCall, EsimgoRefusal, nanoseconds } from "./esimgo-call.ts";
import { bundleForSale } from "./esimgo-catalogue.ts";
import { bookStock } from "./esimgo-inventory.ts";
import type { EsimgoBundle } from "./esimgo-price-list.ts";
import type { ProviderAnswer } from "./provider.ts";

const Line = Type.Object(
  {
    type: Type.Literal("bundle"),
    item: Type.String(),
    quantity: Type.Integer({ minimum: 1, maximum: 1_000 }),
    iccids: Type.Optional(Type.Array(Type.String())),
    allowReassign: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);
const OrderBody = Type.Object(
  {
    type: Type.Union([Type.Literal("validate"), Type.Literal("transaction")]),
    assign: Type.Optional(Type.Boolean()),
    order: Type.Array(Line, { minItems: 1 }),
    profileID: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);
const orderBody = Compile(OrderBody);

/** A line that can be bought as it is. */
interface CheckedLine {
  bundle: EsimgoBundle;
  quantity: number;
  allowReassign: boolean;
  /** The eSIM of each unit; null: a new one. */
  targets: (EsimgoEsim | null)[];
}

/** POST /orders: a price, or a purchase. All lines are bought or none is. */
export function order(call: EsimgoCall): ProviderAnswer {
  const body = checkedBody(call, orderBody);
  const assigned = body.assign ?? false;
  const lines = body.order.map((line) => checkedLine(call, line, assigned));
  const total = lines.reduce((sum, { bundle, quantity }) => sum + bundle.price * quantity, 0);
  if (total > call.account.balance) throw new EsimgoRefusal(400, "Insufficient balance to place the order");
  if (body.type === "transaction") return { status: 200, body: orderRow(buy(call, lines, assigned), true) };
  const createdDate = nanoseconds(call.request.now, 0);
  const priced = lines.map((line) => lineRow({ ...lineOf(line), esims: [] }));
  const money = { total: decimal(total), valid: true, currency: ESIMGO_CURRENCY };
  return { status: 200, body: { order: priced, ...money, createdDate, assigned } };
}

/** Keeps an order in the list; its balance is what the account has by now. */
export function recordOrder(
  account: EsimgoAccount,
  fields: Pick<EsimgoOrder, "reference" | "lines" | "total" | "statusMessage" | "assigned">,
  shown: EsimgoShown,
): EsimgoOrder {
  const createdDate = nanoseconds(shown.at, account.orders.length);
  const made: EsimgoOrder = { ...fields, ...shown, createdDate, runningBalance: account.balance };
  account.orders.push(made);
  return made;
}

/** An order in the words of bodies. */
export function orderRow(made: EsimgoOrder, includeIccids: boolean) {
  return {
    order: made.lines.map((line) => ({ ...lineRow(line), ...(includeIccids && made.assigned ? iccidsOf(line) : {}) })),
    total: decimal(made.total),
    currency: ESIMGO_CURRENCY,
    status: "completed",
    statusMessage: made.statusMessage,
    orderReference: made.reference,
    createdDate: made.createdDate,
    assigned: made.assigned,
    sourceIP: "127.0.0.1",
    runningBalance: decimal(made.runningBalance).toFixed(2),
  };
}

function checkedLine(call: EsimgoCall, line: Type.Static<typeof Line>, assigned: boolean): CheckedLine {
  const bundle = bundleForSale(line.item);
  const iccids = line.iccids ?? [];
  if (iccids.length > 0 && !assigned) throw new EsimgoRefusal(400, "iccids need assign to be true");
  if (iccids.length > 0 && iccids.length !== line.quantity) {
    throw new EsimgoRefusal(400, "Quantity and number of iccids must match");
  }
  const allowReassign = line.allowReassign ?? false;
  const of = iccids.length === 0 ? Array<null>(line.quantity).fill(null) : iccids;
  const targets = of.map((iccid) => targetOf(call, bundle, iccid, allowReassign));
  return { bundle, quantity: line.quantity, allowReassign, targets };
}

function buy({ account, shown }: EsimgoCall, lines: CheckedLine[], assigned: boolean): EsimgoOrder {
  const reference = randomUUID();
  const total = lines.reduce((sum, { bundle, quantity }) => sum + bundle.price * quantity, 0);
  account.balance -= total;
  let nth = 0;
  const bought = lines.map((line) => {
    const stock = bookStock(account, line.bundle, line.quantity, shown);
    const targets = assigned ? line.targets : [];
    const esims = targets.map((target) => {
      const placed = assign(account, stock, target, { reference: `${reference}-${nth}`, shown });
      nth += 1;
      return placed;
    });
    return { ...lineOf(line), esims };
  });
  account.references.set(
    reference,
    bought.flatMap(({ esims }) => esims),
  );
  const units = lines.reduce((sum, { quantity }) => sum + quantity, 0);
  const statusMessage = `Order completed: ${assigned ? `${units} eSIMs assigned` : `${units} bundles in inventory`}`;
  return recordOrder(account, { reference, lines: bought, total, statusMessage, assigned }, shown);
}

function lineOf({ bundle, quantity, allowReassign }: CheckedLine): Omit<EsimgoLine, "esims"> {
  return { type: "bundle", item: bundle.name, quantity, pricePerUnit: bundle.price, allowReassign };
}

function lineRow({ type, item, quantity, pricePerUnit, allowReassign }: EsimgoLine) {
  const subTotal = decimal(pricePerUnit * quantity);
  return { type, item, quantity, subTotal, pricePerUnit: decimal(pricePerUnit), AllowReassign: allowReassign };
}

function iccidsOf({ esims }: EsimgoLine) {
  return {
    iccids: esims.map(({ iccid }) => iccid),
    esims: esims.map(({ iccid, matchingId }) => ({ iccid, matchingId, smdpAddress: SMDP_ADDRESS })),
  };
}
