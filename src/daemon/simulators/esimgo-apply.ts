import { randomUUID } from "node:crypto";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { EsimgoEsim, EsimgoLine } from "./esimgo-account.ts";
import { assign, targetOf } from "./esimgo-assignments.ts";
import { checkedBody, type EsimgoCall, EsimgoRefusal } from "./esimgo-call.ts";
import { bundleForSale } from "./esimgo-catalogue.ts";
import { stockOf, unitsLeft } from "./esimgo-inventory.ts";
import { recordOrder } from "./esimgo-orders.ts";
import type { EsimgoBundle } from "./esimgo-price-list.ts";
import type { ProviderAnswer } from "./provider.ts";

const part = {
  name: Type.String(),
  repeat: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
  allowReassign: Type.Optional(Type.Boolean()),
};
const closed = { additionalProperties: false };
const One = Type.Object({ ...part, iccid: Type.Optional(Type.String()) }, closed);
const Several = Type.Object({ bundles: Type.Array(Type.Object(part, closed), { minItems: 1 }) }, closed);
const applyBody = Compile(Type.Union([One, Several]));

/** A unit that is to leave the inventory, and the eSIM it goes on; null: a new one. */
interface Unit {
  bundle: EsimgoBundle;
  target: EsimgoEsim | null;
  allowReassign: boolean;
}

/** POST /esims/apply: from the inventory on an eSIM of the account, or on new ones. */
export function applyBundles(call: EsimgoCall): ProviderAnswer {
  const body = checkedBody(call, applyBody);
  const iccid = "bundles" in body ? null : (body.iccid ?? null);
  const units = ("bundles" in body ? body.bundles : [body]).flatMap(({ name, repeat = 1, allowReassign = false }) => {
    if (iccid !== null && repeat > 1) throw new EsimgoRefusal(400, "repeat is not for an eSIM that is named");
    const bundle = bundleForSale(name);
    const target = targetOf(call, bundle, iccid, allowReassign);
    return Array.from({ length: repeat }, (): Unit => ({ bundle, target, allowReassign }));
  });
  requireStock(call, units);
  const applyReference = randomUUID();
  const placed = units.map((unit, nth) => take(call, unit, `${applyReference}-${nth}`));
  call.account.references.set(applyReference, placed);
  recordAssignment(call, units, placed);
  const esims = placed.map((esim, at) => ({ iccid: esim.iccid, status: "ACTIVE", bundle: units[at]?.bundle.name }));
  return { status: 200, body: { esims, applyReference } };
}

/** Throws a refusal where the inventory has too few: the specification names 403 for it. */
function requireStock({ account, request }: EsimgoCall, units: Unit[]): void {
  for (const [bundle, { length }] of Map.groupBy(units, (unit) => unit.bundle)) {
    const left = stockOf(account, bundle, request.now).reduce((sum, stock) => sum + unitsLeft(stock), 0);
    if (left < length) throw new EsimgoRefusal(403, `No ${bundle.name} bundles are available in the inventory`);
  }
}

function take({ account, request, shown }: EsimgoCall, { bundle, target }: Unit, reference: string): EsimgoEsim {
  const [stock] = stockOf(account, bundle, request.now);
  if (stock === undefined) throw new Error(`stock of ${bundle.name} is counted before it is taken`);
  return assign(account, stock, target, { reference, shown });
}

/** The list of orders has it under a reference of its own. */
function recordAssignment({ account, shown }: EsimgoCall, units: Unit[], placed: EsimgoEsim[]): void {
  const reference = randomUUID();
  const lines = units.map(({ bundle, allowReassign }, at): EsimgoLine => {
    const esims = placed.slice(at, at + 1);
    return { type: "bundleAssignment", item: bundle.name, quantity: 1, pricePerUnit: 0, allowReassign, esims };
  });
  const statusMessage = `Bundle assignment completed: ${units.length} assigned`;
  recordOrder(account, { reference, lines, total: 0, statusMessage, assigned: true }, shown);
  account.references.set(reference, placed);
}
