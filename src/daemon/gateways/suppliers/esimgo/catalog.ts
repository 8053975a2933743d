import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { readCost } from "../../../../core/kernel/cost.ts";
import { Problem } from "../../../../core/kernel/problem.ts";
import type { Plan } from "../../../../core/supply/provider.ts";
import { accountBalance } from "./account.ts";
import { type EsimgoClient, usable } from "./client.ts";

const Country = Type.Object({
  name: Type.Optional(Type.String()),
  region: Type.Optional(Type.String()),
  iso: Type.String(),
});
const Allowance = Type.Object({
  type: Type.String(),
  service: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  amount: Type.Optional(Type.Number()),
  unit: Type.Optional(Type.String()),
  unlimited: Type.Optional(Type.Boolean()),
});
const Bundle = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 200 }),
  description: Type.Optional(Type.String()),
  groups: Type.Optional(Type.Array(Type.String())),
  countries: Type.Array(Country),
  roamingEnabled: Type.Optional(Type.Union([Type.Array(Country), Type.Null()])),
  dataAmount: Type.Optional(Type.Number()),
  duration: Type.Integer({ minimum: 1 }),
  speed: Type.Optional(Type.Union([Type.Array(Type.String()), Type.Null()])),
  autostart: Type.Optional(Type.Boolean()),
  unlimited: Type.Optional(Type.Boolean()),
  price: Type.Union([Type.Number(), Type.String()]),
  allowances: Type.Optional(Type.Union([Type.Array(Allowance), Type.Null()])),
});
type Bundle = Type.Static<typeof Bundle>;
const bundle = Compile(Bundle);
const billed = Compile(Type.Object({ name: Type.String(), billingType: Type.String() }));
// The specification says a bare array; clients read an envelope with page counts.
const page = Compile(Type.Union([Type.Array(Type.Unknown()), Type.Object({ bundles: Type.Array(Type.Unknown()) })]));
const Network = Type.Object({ name: Type.String(), brandName: Type.Optional(Type.String()) });
const CountryNetworks = Type.Object({ name: Type.String(), networks: Type.Array(Network) });
const networks = Compile(Type.Object({ countryNetworks: Type.Array(CountryNetworks) }));

const MOST_PAGES = 500;
/** What unlimited bundles do after a day's fair use, by a word in the names of their groups. */
const fairUse: [RegExp, string][] = [
  [/lite/i, "unlimited; slowed to 512 kbit/s after the fair use of a day"],
  [/essential/i, "unlimited; slowed to 1.25 Mbit/s after the fair use of a day"],
  [/plus/i, "unlimited; slowed to 2 Mbit/s after 2 GB a day"],
];

/** Every bundle with a fixed price. Throws `supplier_unreachable` rather than leave out a part. */
export async function readCatalog({ askPeople }: EsimgoClient): Promise<Plan[]> {
  const { currency } = usable(await accountBalance(askPeople));
  const answer = await askPeople({ method: "GET", path: "/networks?returnAll=true" }, networks);
  // Not every account may read all of them: a refusal is no fault of the catalog.
  const { countryNetworks } = answer.kind === "refused" ? { countryNetworks: [] } : usable(answer);
  const names = new Map(countryNetworks.map((one) => [one.name, one.networks.map((n) => n.brandName || n.name)]));
  const plans = new Map<string, Plan>();
  const seen = new Set<string>();
  for (let nth = 1; nth <= MOST_PAGES; nth++) {
    const call = { method: "GET", path: `/catalogue?page=${nth}&perPage=100`, cost: 5 } as const;
    const reply = usable(await askPeople(call, page));
    const before = seen.size;
    for (const row of Array.isArray(reply) ? reply : reply.bundles) {
      if (!billed.Check(row)) throw unreadable("a row without a name or a billing type");
      seen.add(row.name);
      if (row.billingType !== "FixedCost") continue;
      if (!bundle.Check(row)) throw unreadable(row.name);
      plans.set(row.name, planOf(row, { currency, names }));
    }
    // A page may be shorter than asked for: only one with nothing new is the last.
    if (seen.size === before) return [...plans.values()];
  }
  throw unreadable("more pages than can be read");
}

function planOf(row: Bundle, of: { currency: string; names: ReadonlyMap<string, string[]> }): Plan {
  const cost = readCost(row.price);
  if (cost === null) throw unreadable(row.name);
  const countries = [...row.countries, ...(row.roamingEnabled ?? [])];
  const coverage = [...new Set(countries.map(({ iso }) => iso.toUpperCase()))].filter((iso) => /^[A-Z]{2}$/.test(iso));
  const data = (row.allowances ?? []).filter(({ type }) => type === "DATA");
  const main = data.find(({ service }) => service === "STANDARD") ?? data[0];
  const unlimited = main?.unlimited === true || row.unlimited === true;
  const others = (row.allowances ?? []).filter(({ type }) => type !== "DATA");
  const fair = fairUse.find(([word]) => row.groups?.some((group) => word.test(group)));
  return {
    plan: row.name,
    name: row.description ?? row.name,
    cost,
    currency: of.currency,
    coverage: coverage.sort(),
    region: coverage.length === 1 ? null : regionOf(row),
    // Megabytes of the provider, 1,000 to its gigabyte, as they are: docs/suppliers.md.
    dataMb: unlimited ? 0 : megabytesOf(row, main),
    unlimited,
    validityDays: row.duration,
    daily: false,
    voice: others.some(({ type }) => type === "VOICE"),
    speed: row.speed?.join("/") || null,
    networks: [...new Set(countries.flatMap(({ name = "" }) => of.names.get(name) ?? []))],
    activation: row.autostart === true ? "with the first use of data" : null,
    notes: [...(unlimited ? [fair?.[1] ?? "unlimited, with a fair use a day"] : []), ...others.flatMap(wordsOf)],
    topup: false,
  };
}

/** A region's row may have a code of its own in place of countries. */
function regionOf({ countries }: Bundle): string | null {
  const coded = countries.find(({ iso }) => !/^[A-Za-z]{2}$/.test(iso));
  return coded?.name || [...new Set(countries.flatMap(({ region }) => region || []))].join(", ") || null;
}

function megabytesOf({ name, dataAmount }: Bundle, main: Type.Static<typeof Allowance> | undefined): number {
  const amount = main?.unit === "MB" ? main.amount : dataAmount;
  if (amount === undefined || amount < 0) throw unreadable(name);
  return Math.floor(amount);
}

function wordsOf({ type, description, amount, unit }: Type.Static<typeof Allowance>): string[] {
  return [description || `${type}: ${amount ?? ""} ${unit ?? ""}`.trim()];
}

function unreadable(what: string): Problem {
  return new Problem("supplier_unreachable", `eSIM Go's catalog is in another form than expected: ${what}.`);
}
