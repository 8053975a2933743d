import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { costOf } from "../../../../core/kernel/cost.ts";
import type { Plan } from "../../../../core/supply/provider.ts";
import { otherForm, shaped, usable } from "../reply.ts";
import { distinct, maybe, present } from "../values.ts";
import { type Client, NAME } from "./client.ts";

const Networks = Type.Object(maybe(Type.Array(Type.Object(maybe(Type.String(), "operatorName"))), "operatorList"));
const Package = Type.Object({
  packageCode: Type.String({ minLength: 1 }),
  name: Type.String({ minLength: 1 }),
  price: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  volume: Type.Number({ minimum: 0 }),
  duration: Type.Integer({ minimum: 1 }),
  durationUnit: Type.Literal("DAY"),
  location: Type.String({ pattern: "^\\s*[A-Za-z]{2}\\s*(,\\s*[A-Za-z]{2}\\s*)*$" }),
  ...maybe(Type.String(), "currencyCode", "locationCode", "speed", "ipExport", "fupPolicy"),
  ...maybe(Type.Number({ minimum: 0 }), "dataType", "unusedValidTime", "activeType", "supportTopUpType"),
  ...maybe(Type.Array(Networks), "locationNetworkList"),
});
type Package = Type.Static<typeof Package>;
const packageOf = Compile(Package);
const list = Compile(Type.Object({ packageList: Type.Union([Type.Array(Type.Unknown()), Type.Null()]) }));

/** 3,046 packages took 3.4 s once; another client allows 30 s and more. */
const CATALOG_TIMEOUT_MS = 60_000;
const MEGABYTE = 1_048_576;
/** By `activeType`, from 1 on. */
const activations = [null, "When it is installed", "At the first connection to a network it covers"];

/** The catalog, or the top-ups that fit an eSIM. Throws `supplier_unreachable`. */
export async function listPlans(client: Client, asked: { type: "BASE" | "TOPUP"; iccid?: string }): Promise<Plan[]> {
  const reply = shaped(await client("/package/list", asked, undefined, CATALOG_TIMEOUT_MS), list);
  const packages = usable(NAME, reply).packageList ?? [];
  const plans = packages.flatMap((one) => (packageOf.Check(one) ? (planOf(one) ?? []) : []));
  // A plan that is not understood is not sold; where most are not, the answer is not what it was.
  if (plans.length * 2 < packages.length) return usable(NAME, otherForm);
  return plans;
}

/** Null: allowance or price of its kind are not stated: daily kinds 3 and 4, and daily plans of several days. */
function planOf(one: Package): Plan | null {
  const daily = one.dataType === 2;
  const dataMb = Math.round(one.volume / MEGABYTE);
  const isKnown = daily ? one.duration === 1 : (one.dataType ?? 1) === 1;
  if (!isKnown || dataMb < 1) return null;
  const coverage = distinct(one.location.split(",").map((code) => code.trim().toUpperCase()));
  const operators = (one.locationNetworkList ?? []).flatMap(({ operatorList }) => operatorList ?? []);
  return {
    plan: one.packageCode,
    name: one.name,
    cost: costOf(one.price),
    currency: one.currencyCode || "USD",
    coverage,
    region: coverage.length > 1 ? one.locationCode || one.name : null,
    dataMb,
    unlimited: false,
    validityDays: one.duration,
    daily,
    voice: false,
    speed: one.speed || null,
    networks: distinct(operators.map(({ operatorName }) => operatorName)),
    activation: activations[one.activeType ?? 0] ?? null,
    notes: present([
      one.fupPolicy && `Beyond the allowance: ${one.fupPolicy}`,
      one.unusedValidTime ? `Unused, it lapses after ${one.unusedValidTime} days` : null,
      one.ipExport && `Goes online through ${one.ipExport}`,
    ]),
    topup: one.supportTopUpType === 2 || one.supportTopUpType === 3,
  };
}
