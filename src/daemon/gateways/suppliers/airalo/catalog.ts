import { type Static, type TSchema, Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Cost } from "../../../../core/kernel/brand.ts";
import { costOf } from "../../../../core/kernel/cost.ts";
import { countryCode } from "../../../../core/kernel/country.ts";
import type { Plan } from "../../../../core/supply/provider.ts";
import { CURRENCY, costIn, Maybe, Prices, TextOrNumber } from "./values.ts";

const Pricing = Type.Object({ model: Maybe(Type.String()), discount_percentage: Maybe(TextOrNumber) });

const Package = Type.Object({
  id: Type.String({ minLength: 1 }),
  type: Maybe(Type.String()),
  title: Maybe(Type.String()),
  price: Maybe(TextOrNumber),
  net_price: Maybe(TextOrNumber),
  prices: Maybe(Type.Object({ net_price: Maybe(Prices) })),
  amount: Maybe(TextOrNumber),
  day: TextOrNumber,
  is_unlimited: Maybe(Type.Boolean()),
  voice: Maybe(TextOrNumber),
  fair_usage_policy: Maybe(Type.String()),
});
type Package = Static<typeof Package>;

const Network = Type.Object({ name: Maybe(Type.String()), types: Maybe(Type.Array(Type.String())) });
const Operator = Type.Object({
  activation_policy: Maybe(Type.String()),
  is_kyc_verify: Maybe(Type.Boolean()),
  install_window_days: Maybe(Type.Integer()),
  countries: Maybe(Type.Array(Type.Object({ country_code: Maybe(Type.String()) }))),
  coverages: Maybe(Type.Array(Type.Object({ code: Maybe(Type.String()), networks: Maybe(Type.Array(Network)) }))),
  packages: Type.Array(Type.Unknown()),
});
type Operator = Static<typeof Operator>;

const Place = Type.Object({
  country_code: Maybe(Type.String()),
  title: Type.String(),
  operators: Type.Array(Operator),
});
type Place = Static<typeof Place>;

function listOf<Row extends TSchema>(row: Row) {
  return Type.Object({
    pricing: Type.Optional(Pricing),
    data: Type.Array(row),
    meta: Type.Optional(Type.Object({ last_page: Maybe(Type.Integer()) })),
  });
}

const catalog = Compile(listOf(Place));
const topups = Compile(listOf(Type.Unknown()));
const packageRow = Compile(Package);

type Pricing = Static<typeof Pricing> | undefined;

/** What is the same for all packages of an operator. */
type Shared = Pick<Plan, "coverage" | "region" | "speed" | "networks" | "activation" | "notes"> & { place: string };

/** The plans of the catalog, each once, without top-ups. Null: it is not the whole catalog, or none that is understood. */
export function plansOf(body: unknown): Plan[] | null {
  // Plans on a page that was not read would look as if they were gone.
  if (!catalog.Check(body) || (body.meta?.last_page ?? 1) > 1) return null;
  const rows = body.data.flatMap((place) =>
    place.operators.flatMap((operator) => {
      const shared = sharedOf(place, operator);
      return operator.packages.map((row) => planOf(row, body.pricing, shared, "sim"));
    }),
  );
  const plans = rows.filter((plan) => plan !== null);
  if (plans.length === 0 && rows.length > 0) return null;
  return [...new Map(plans.map((plan) => [plan.plan, plan])).values()];
}

/** The plans that top up one eSIM, as a list of them has them. Null: it is not understood. */
export function topupPlansOf(body: unknown): Plan[] | null {
  if (!topups.Check(body)) return null;
  const shared = { place: "", coverage: [], region: null, speed: null, networks: [], activation: null, notes: [] };
  const plans = body.data.map((row) => planOf(row, body.pricing, shared, "topup")).filter((plan) => plan !== null);
  return plans.length === 0 && body.data.length > 0 ? null : plans;
}

/** Null: of another type, without a cost, or without what has to be known of a plan. */
function planOf(row: unknown, pricing: Pricing, { place, ...shared }: Shared, type: "sim" | "topup"): Plan | null {
  if (!packageRow.Check(row) || (row.type ?? type) !== type) return null;
  const cost = costOfPackage(row, pricing);
  const [days, megabytes] = [Number(row.day), Number(row.amount ?? 0)];
  const unlimited = row.is_unlimited === true;
  if (cost === null || !Number.isInteger(days) || days < 1) return null;
  if (!unlimited && (!Number.isInteger(megabytes) || megabytes < 1)) return null;
  const fair = row.fair_usage_policy?.trim() ?? "";
  return {
    ...shared,
    plan: row.id,
    name: `${place} ${row.title ?? row.id}`.trim(),
    cost,
    currency: CURRENCY,
    // An unlimited package says 0.
    dataMb: unlimited ? 0 : megabytes,
    unlimited,
    validityDays: days,
    daily: false,
    voice: Number(row.voice ?? 0) > 0,
    notes: fair === "" ? shared.notes : [`Fair use: ${fair}`, ...shared.notes],
    topup: type === "topup",
  };
}

/** `price` is what travelers pay at Airalo. The cost is the net price, or what a discount leaves of that price. */
function costOfPackage({ price, net_price, prices }: Package, pricing: Pricing): Cost | null {
  const table = prices?.net_price ?? {};
  const net = (Array.isArray(table) ? null : costIn(table[CURRENCY])) ?? costIn(net_price);
  if (net !== null || pricing?.model !== "discount_pricing") return net;
  const [full, percent] = [costIn(price), costIn(pricing.discount_percentage)];
  if (full === null || percent === null || percent > WHOLE) return null;
  return costOf(Number((BigInt(full) * BigInt(WHOLE - percent) + BigInt(WHOLE / 2)) / BigInt(WHOLE)));
}

/** 100 percent, in 1/10,000 of one. */
const WHOLE = 1_000_000;

function sharedOf({ title, country_code }: Place, operator: Operator): Shared {
  const networks = (operator.coverages ?? []).flatMap((coverage) => coverage.networks ?? []);
  const { activation_policy: policy } = operator;
  return {
    place: title,
    coverage: coverageOf(country_code, operator),
    region: country_code ? null : title,
    speed: speedOf(networks.flatMap(({ types }) => types ?? [])),
    networks: [...new Set(networks.flatMap(({ name }) => name || []))].sort(),
    activation: policy === "first-usage" ? "at its first use" : (policy ?? null),
    notes: notesOf(operator),
  };
}

function coverageOf(country: string | null | undefined, { countries, coverages }: Operator): string[] {
  const lists = [
    (countries ?? []).map((one) => one.country_code),
    (coverages ?? []).map(({ code }) => code),
    [country],
  ];
  const codes = lists.map((list) => [...new Set(list.flatMap((code) => countryCode(code ?? "") ?? []))]);
  return codes.find((found) => found.length > 0)?.sort() ?? [];
}

/** Generations, the oldest first; LTE is the fourth. */
function speedOf(types: readonly string[]): string | null {
  const names = new Set(types.map((type) => (/^lte$/i.test(type.trim()) ? "4G" : type.trim().toUpperCase())));
  return (
    [...names]
      .filter((name) => name !== "")
      .sort()
      .join("/") || null
  );
}

function notesOf({ install_window_days: days, is_kyc_verify }: Operator): string[] {
  return [
    ...(typeof days === "number" ? [`To be installed within ${days} days`] : []),
    ...(is_kyc_verify === true ? ["The traveler's identity is verified before it works"] : []),
  ];
}
