import { choice, decimal, type EsimgoCall, EsimgoRefusal, pageOf, wholeNumber } from "./esimgo-call.ts";
import { type EsimgoBundle, esimgoBundle, esimgoBundles } from "./esimgo-price-list.ts";
import type { ProviderAnswer } from "./provider.ts";

const columns = ["name", "description", "price", "duration", "dataAmount"] as const;

/** GET /catalogue. */
export function listCatalogue(call: EsimgoCall): ProviderAnswer {
  const page = wholeNumber(call, "page", { usual: 1, most: 1_000_000 });
  const size = wholeNumber(call, "perPage", { usual: 50, most: 100 });
  const column = choice(call, "orderBy", columns);
  const sign = choice(call, "direction", ["asc", "desc"]) === "asc" ? 1 : -1;
  const rows = esimgoBundles
    .filter((bundle) => isAskedFor(bundle, call.request.query))
    .map((bundle) => ({ ...catalogueRow(bundle), groups: [bundle.group] }))
    .sort((a, b) => sign * compared(a[column], b[column]));
  const { page: bundles, counts } = pageOf(rows, page, size);
  return { status: 200, body: call.account.options.catalogue === "array" ? bundles : { bundles, ...counts } };
}

/** GET /catalogue/bundle/{name}. */
export function showBundle({ names: [name = ""] }: EsimgoCall): ProviderAnswer {
  const bundle = bundleForSale(name);
  // Here the groups have a name of their own.
  return { status: 200, body: { ...catalogueRow(bundle), group: [bundle.group] } };
}

/** A bundle by its exact name. Throws a refusal (400) where there is none. */
export function bundleForSale(name: string): EsimgoBundle {
  const bundle = esimgoBundle(name);
  if (bundle === null) throw new EsimgoRefusal(400, `Bundle ${name} does not exist`);
  return bundle;
}

/** What a bundle holds, in megabytes. */
export function bundleAllowances(bundle: EsimgoBundle) {
  const description = bundle.unlimited ? "Unlimited data" : `${bundle.megabytes} MB of data`;
  const amount = bundle.megabytes;
  return [{ type: "DATA", service: "STANDARD", description, amount, unit: "MB", unlimited: bundle.unlimited }];
}

/** Speeds of every bundle. */
export const bundleSpeeds = ["2G", "3G", "4G", "5G"];

function catalogueRow(bundle: EsimgoBundle) {
  return {
    name: bundle.name,
    description: bundle.description,
    countries: bundle.countries,
    dataAmount: bundle.megabytes,
    duration: bundle.days,
    speed: bundleSpeeds,
    autostart: true,
    unlimited: bundle.unlimited,
    roamingEnabled: bundle.roaming,
    price: decimal(bundle.price),
    billingType: "FixedCost",
    profileName: bundle.profileName,
    allowances: bundleAllowances(bundle),
  };
}

/** Countries and region are those that a bundle is sold for, not those where it roams. */
function isAskedFor(bundle: EsimgoBundle, query: URLSearchParams): boolean {
  const isos = query
    .get("countries")
    ?.split(",")
    .map((one) => one.trim());
  const region = query.get("region");
  return (
    bundle.description.toLowerCase().includes((query.get("description") ?? "").toLowerCase()) &&
    bundle.group === (query.get("group") ?? bundle.group) &&
    bundle.countries.some((one) => (isos?.includes(one.iso) ?? true) && one.region === (region ?? one.region))
  );
}

function compared(a: string | number, b: string | number): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
