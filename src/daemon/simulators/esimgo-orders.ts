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
  STARTING_BALANCE,
} from "./esimgo-account.ts";
import { assign, targetOf } from "./esimgo-assignments.ts";
import {
  checkedBody,
  decimal,
  type EsimgoCall,
  EsimgoRefusal,
  isShown,
  nanoseconds,
  pageOf,
  wholeNumber,
} from "./esimgo-call.ts";
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
function orderRow(made: EsimgoOrder, includeIccids: boolean) {
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

/** GET /orders: newest first; beside purchases what was assigned from the inventory, and top-ups of the balance. */
export function listOrders(call: EsimgoCall): ProviderAnswer {
  const { account, request } = call;
  const page = wholeNumber(call, "page", { usual: 1, most: 1_000_000 });
  const size = wholeNumber(call, "limit", { usual: 10, most: 200 });
  const includeIccids = request.query.get("includeIccids") === "true";
  const windows = request.query.getAll("createdAt").map(readWindow);
  const rows = account.orders
    .filter((one) => isShown(one, call) && windows.every((within) => within(one)))
    .toReversed()
    .map((one) => orderRow(one, includeIccids));
  const { page: orders, counts } = pageOf(rows, page, size);
  return { status: 200, body: account.options.orders === "envelope" ? { orders, ...counts } : orders };
}

/** GET /orders/{orderReference}. */
export function showOrder(call: EsimgoCall): ProviderAnswer {
  const [reference = ""] = call.names;
  const found = call.account.orders.find((one) => one.reference === reference && isShown(one, call));
  if (found === undefined) throw new EsimgoRefusal(400, `There is no order ${reference}`);
  return { status: 200, body: orderRow(found, true) };
}

/** The top-up that the account begins with: a row of GET /orders that is no purchase. */
export function recordFirstTopup(account: EsimgoAccount, now: number): void {
  const total = STARTING_BALANCE;
  const line = { type: "topup" as const, item: "", quantity: 1, pricePerUnit: total, allowReassign: false, esims: [] };
  const fields = { reference: randomUUID(), lines: [line], total, statusMessage: "Topup completed", assigned: false };
  recordOrder(account, fields, { at: now, shownAt: now });
}

/** `gte:2026-03-01T00:00:00Z`. Throws a refusal (400) where it is not understood. */
function readWindow(text: string): (order: EsimgoOrder) => boolean {
  const [, comparison, time = ""] = /^(gte|lte|gt|lt):(\d{4}-\d\d-\d\dT.+(?:Z|[+-]\d\d:\d\d))$/.exec(text) ?? [];
  const edge = Date.parse(time);
  if (Number.isNaN(edge)) throw new EsimgoRefusal(400, "Invalid value for parameter createdAt");
  if (comparison === "gte") return ({ at }) => at >= edge;
  if (comparison === "lte") return ({ at }) => at <= edge;
  return comparison === "gt" ? ({ at }) => at > edge : ({ at }) => at < edge;
}
