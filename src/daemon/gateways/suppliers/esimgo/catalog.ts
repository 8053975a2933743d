import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Catalog } from "../../../../core/supply/provider.ts";
import { catalogOf, faultsOf, type ReadRow } from "../catalog-rows.ts";
import { readPages } from "../pages.ts";
import { mapped, usable } from "../reply.ts";
import { costIn, distinct, maybe, present, TextOrNumber } from "../values.ts";
import { accountBalance, type Client, NAME } from "./client.ts";

const Country = Type.Object({ iso: Type.String(), ...maybe(Type.String(), "name", "region") });
const Allowance = Type.Object({
  type: Type.String(),
  ...maybe(Type.String(), "service", "description", "unit"),
  ...maybe(Type.Number(), "amount"),
  ...maybe(Type.Boolean(), "unlimited"),
});
const Bundle = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 200 }),
  countries: Type.Array(Country),
  duration: Type.Integer({ minimum: 1 }),
  price: TextOrNumber,
  ...maybe(Type.String(), "description"),
  ...maybe(Type.Array(Type.String()), "groups", "speed"),
  ...maybe(Type.Array(Country), "roamingEnabled"),
  ...maybe(Type.Number(), "dataAmount"),
  ...maybe(Type.Boolean(), "autostart", "unlimited"),
  ...maybe(Type.Array(Allowance), "allowances"),
});
type Bundle = Type.Static<typeof Bundle>;
const bundle = Compile(Bundle);
// The specification says a bare array; clients read an envelope with page counts.
const Billed = Type.Array(Type.Object({ name: Type.String(), billingType: Type.String() }));
const page = Compile(Type.Union([Billed, Type.Object({ bundles: Billed })]));
const Network = Type.Object({ name: Type.String(), ...maybe(Type.String(), "brandName") });
const CountryNetworks = Type.Object({ name: Type.String(), networks: Type.Array(Network) });
const networks = Compile(Type.Object({ countryNetworks: Type.Array(CountryNetworks) }));

const MOST_PAGES = 500;
/** What unlimited bundles do after a day's fair use, by a word in the names of their groups. */
const fairUse: [RegExp, string][] = [
  [/lite/i, "unlimited; slowed to 512 kbit/s after the fair use of a day"],
  [/essential/i, "unlimited; slowed to 1.25 Mbit/s after the fair use of a day"],
  [/plus/i, "unlimited; slowed to 2 Mbit/s after 2 GB a day"],
];

/** Every bundle with a fixed price. Throws `supplier_unreachable` rather than leave out a page. */
export async function readCatalog(client: Client): Promise<Catalog> {
  const { currency } = usable(NAME, await accountBalance(client));
  const answer = await client({ method: "GET", path: "/networks?returnAll=true" }, networks);
  // Not every account may read all of them: a refusal is no fault of the catalog.
  const { countryNetworks } = answer.kind === "refused" ? { countryNetworks: [] } : usable(NAME, answer);
  const names = new Map(countryNetworks.map((one) => [one.name, one.networks.map((n) => n.brandName || n.name)]));
  const read = async (nth: number) => {
    const call = { method: "GET", path: `/catalogue?page=${nth}&perPage=100`, cost: 5 } as const;
    return mapped(await client(call, page), (shown) => (Array.isArray(shown) ? shown : shown.bundles));
  };
  const rows = usable(NAME, await readPages({ most: MOST_PAGES, read, nameOf: ({ name }) => name }));
  const fixed = rows.filter(({ billingType }) => billingType === "FixedCost");
  const planned = fixed.map(
    (row) => [row, bundle.Check(row) ? planOf(row, { currency, names }) : faultsOf(bundle, row)] as const,
  );
  return usable(NAME, catalogOf(planned, ["name", "description"]));
}

function planOf(row: Bundle, of: { currency: string; names: ReadonlyMap<string, string[]> }): ReadRow {
  const cost = costIn(row.price);
  if (cost === null) return "price must be an amount of at least 0";
  const countries = [...row.countries, ...(row.roamingEnabled ?? [])];
  const coverage = distinct(countries.map(({ iso }) => iso.toUpperCase())).filter((iso) => /^[A-Z]{2}$/.test(iso));
  const data = (row.allowances ?? []).filter(({ type }) => type === "DATA");
  const main = data.find(({ service }) => service === "STANDARD") ?? data[0];
  const unlimited = main?.unlimited === true || row.unlimited === true;
  const dataMb = unlimited ? 0 : megabytesOf(row, main);
  if (dataMb === null) return "its data is not stated in MB";
  const others = (row.allowances ?? []).filter(({ type }) => type !== "DATA");
  const fair = fairUse.find(([word]) => row.groups?.some((group) => word.test(group)));
  return {
    ...{ plan: row.name, name: row.description ?? row.name, cost, currency: of.currency },
    ...{ coverage, region: coverage.length === 1 ? null : regionOf(row) },
    // Megabytes of the provider, 1,000 to its gigabyte, as they are: docs/suppliers.md.
    ...{ dataMb, unlimited, validityDays: row.duration, daily: false, topup: false },
    voice: others.some(({ type }) => type === "VOICE"),
    speed: row.speed?.join("/") || null,
    networks: distinct(countries.flatMap(({ name }) => of.names.get(name ?? "") ?? [])),
    activation: row.autostart === true ? "with the first use of data" : null,
    notes: present([unlimited && (fair?.[1] ?? "unlimited, with a fair use a day"), ...others.map(wordsOf)]),
  };
}

/** A region's row may have a code of its own in place of countries. */
function regionOf({ countries }: Bundle): string | null {
  const coded = countries.find(({ iso }) => !/^[A-Za-z]{2}$/.test(iso));
  return coded?.name || distinct(countries.map(({ region }) => region)).join(", ") || null;
}

function megabytesOf({ dataAmount }: Bundle, main: Type.Static<typeof Allowance> | undefined): number | null {
  const amount = main?.unit === "MB" ? main.amount : dataAmount;
  return typeof amount === "number" && amount >= 0 ? Math.floor(amount) : null;
}

function wordsOf({ type, description, amount, unit }: Type.Static<typeof Allowance>): string {
  return description || `${type}: ${amount ?? ""} ${unit ?? ""}`.trim();
}
