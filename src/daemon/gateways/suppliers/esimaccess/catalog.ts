import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { costOf } from "../../../../core/kernel/cost.ts";
import type { Plan } from "../../../../core/supply/provider.ts";
import { type Client, Count, listOf, PEOPLE_WAIT_MS, Text, unreachable } from "./client.ts";

const Networks = Type.Object({ operatorList: listOf(Type.Object({ operatorName: Text })) });
const Package = Type.Object({
  packageCode: Type.String({ minLength: 1 }),
  name: Type.String({ minLength: 1 }),
  price: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  currencyCode: Text,
  volume: Type.Number({ minimum: 0 }),
  dataType: Count,
  duration: Type.Integer({ minimum: 1 }),
  durationUnit: Type.Literal("DAY"),
  unusedValidTime: Count,
  activeType: Count,
  location: Type.String({ pattern: "^\\s*[A-Za-z]{2}\\s*(,\\s*[A-Za-z]{2}\\s*)*$" }),
  locationCode: Text,
  speed: Text,
  ipExport: Text,
  supportTopUpType: Count,
  fupPolicy: Text,
  locationNetworkList: listOf(Networks),
});
type Package = Type.Static<typeof Package>;
const packageOf = Compile(Package);
const list = Compile(Type.Object({ packageList: Type.Union([Type.Array(Type.Unknown()), Type.Null()]) }));

/** What is sold new, or the top-ups of an eSIM. */
type CatalogPart = { type: "BASE" } | { type: "TOPUP"; iccid: string };

/** 3,046 packages took 3.4 s once; another client allows 30 s and more. */
const CATALOG_TIMEOUT_MS = 60_000;
const MEGABYTE = 1_048_576;
/** By `activeType`, from 1 on. */
const activations = [null, "When it is installed", "At the first connection to a network it covers"];

/** The catalog, or the top-ups that fit an eSIM. Throws `supplier_unreachable`. */
export async function listPlans(client: Client, asked: CatalogPart): Promise<Plan[]> {
  const reply = await client("/package/list", asked, PEOPLE_WAIT_MS, CATALOG_TIMEOUT_MS);
  if (reply.kind !== "done" || !list.Check(reply.obj)) throw unreachable(reply);
  const packages = reply.obj.packageList ?? [];
  const plans = packages.flatMap((one) => (packageOf.Check(one) ? (planOf(one) ?? []) : []));
  // A plan that is not understood is not sold; where most are not, the answer is not what it was.
  if (plans.length * 2 < packages.length) throw unreachable(reply);
  return plans;
}

/** Null: allowance or price of its kind are not stated: daily kinds 3 and 4, and daily plans of several days. */
function planOf(one: Package): Plan | null {
  const daily = one.dataType === 2;
  const dataMb = Math.round(one.volume / MEGABYTE);
  const isKnown = daily ? one.duration === 1 : (one.dataType ?? 1) === 1;
  if (!isKnown || dataMb < 1) return null;
  const coverage = [...new Set(one.location.split(",").map((code) => code.trim().toUpperCase()))].sort();
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
    networks: [...new Set(operators.flatMap(({ operatorName }) => operatorName || []))],
    activation: activations[one.activeType ?? 0] ?? null,
    notes: [
      one.fupPolicy ? `Beyond the allowance: ${one.fupPolicy}` : "",
      one.unusedValidTime ? `Unused, it lapses after ${one.unusedValidTime} days` : "",
      one.ipExport ? `Goes online through ${one.ipExport}` : "",
    ].filter((note) => note !== ""),
    topup: one.supportTopUpType === 2 || one.supportTopUpType === 3,
  };
}
