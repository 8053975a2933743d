import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { costOf } from "../../../../core/kernel/cost.ts";
import type { Catalog } from "../../../../core/supply/provider.ts";
import { catalogOf, faultsOf, type ReadRow } from "../catalog-rows.ts";
import { shaped, usable } from "../reply.ts";
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
export async function readCatalog(client: Client, asked: { type: "BASE" | "TOPUP"; iccid?: string }): Promise<Catalog> {
  const reply = shaped(await client("/package/list", asked, undefined, CATALOG_TIMEOUT_MS), list);
  const packages = usable(NAME, reply).packageList ?? [];
  const rows = packages.map((row) => [row, packageOf.Check(row) ? planOf(row) : faultsOf(packageOf, row)] as const);
  return usable(NAME, catalogOf(rows, ["packageCode", "name"]));
}

function planOf(one: Package): ReadRow {
  const daily = one.dataType === 2;
  const dataMb = Math.round(one.volume / MEGABYTE);
  if (!daily && (one.dataType ?? 1) !== 1) return `nothing states the allowance of its kind (dataType ${one.dataType})`;
  if (daily && one.duration !== 1) return `nothing states the price of a daily plan of ${one.duration} days`;
  if (dataMb < 1) return "it has less than 1 MB";
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
