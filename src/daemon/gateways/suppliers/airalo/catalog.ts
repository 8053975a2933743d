import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Cost } from "../../../../core/kernel/brand.ts";
import { costOf } from "../../../../core/kernel/cost.ts";
import { countryCode } from "../../../../core/kernel/country.ts";
import type { Plan } from "../../../../core/supply/provider.ts";
import { CURRENCY, costIn, Maybe, TextOrNumber } from "./values.ts";

const Pricing = Maybe(Type.Object({ model: Maybe(Type.String()), discount_percentage: Maybe(TextOrNumber) }));
type Pricing = Static<typeof Pricing> | undefined;

/** Amounts by currency; an empty table comes as a list. */
const Table = Type.Union([Type.Record(Type.String(), Maybe(TextOrNumber)), Type.Array(Type.Unknown())]);

const Package = Type.Object({
  id: Type.String({ minLength: 1 }),
  type: Maybe(Type.String()),
  title: Maybe(Type.String()),
  price: Maybe(TextOrNumber),
  net_price: Maybe(TextOrNumber),
  prices: Maybe(Type.Object({ net_price: Maybe(Table) })),
  amount: Maybe(TextOrNumber),
  day: TextOrNumber,
  is_unlimited: Maybe(Type.Boolean()),
  voice: Maybe(TextOrNumber),
  fair_usage_policy: Maybe(Type.String()),
});
const packageRow = Compile(Package);

const Network = Type.Object({ name: Maybe(Type.String()), types: Maybe(Type.Array(Type.String())) });
const Operator = Type.Object({
  activation_policy: Maybe(Type.String()),
  is_kyc_verify: Maybe(Type.Boolean()),
  install_window_days: Maybe(Type.Integer()),
  countries: Maybe(Type.Array(Type.Object({ country_code: Maybe(Type.String()) }))),
  coverages: Maybe(Type.Array(Type.Object({ code: Maybe(Type.String()), networks: Maybe(Type.Array(Network)) }))),
  packages: Type.Array(Type.Unknown()),
});
const Place = Type.Object({
  country_code: Maybe(Type.String()),
  title: Type.String(),
  operators: Type.Array(Operator),
});

const meta = Maybe(Type.Object({ last_page: Maybe(Type.Integer()) }));
const catalog = Compile(Type.Object({ pricing: Pricing, data: Type.Array(Place), meta }));
const topups = Compile(Type.Object({ pricing: Pricing, data: Type.Array(Type.Unknown()) }));

/** What all packages of an operator have in common. */
type Shared = Pick<Plan, "coverage" | "region" | "speed" | "networks" | "activation" | "notes"> & { place: string };

/** The plans of the catalog, each once, without top-ups. Null: it is not the whole of it, or not understood. */
export function plansOf(body: unknown): Plan[] | null {
  // Plans on a page that was not read would look as if they were gone.
  if (!catalog.Check(body) || (body.meta?.last_page ?? 1) > 1) return null;
  const rows = body.data.flatMap((place) =>
    place.operators.flatMap((operator) => {
      const shared = sharedOf(place, operator);
      return operator.packages.map((row) => planOf(row, body.pricing, shared, "sim"));
    }),
  );
  const plans = understood(rows);
  return plans === null ? null : [...new Map(plans.map((plan) => [plan.plan, plan])).values()];
}

/** The plans that top up one eSIM. Null: they are not understood. */
export function topupPlansOf(body: unknown): Plan[] | null {
  if (!topups.Check(body)) return null;
  const shared = { place: "", coverage: [], region: null, speed: null, networks: [], activation: null, notes: [] };
  return understood(body.data.map((row) => planOf(row, body.pricing, shared, "topup")));
}

/** A package that is not understood is not sold; null: no package is. */
function understood(rows: readonly (Plan | null)[]): Plan[] | null {
  const plans = rows.filter((plan) => plan !== null);
  return plans.length === 0 && rows.length > 0 ? null : plans;
}

/** Null: of another type, without a cost, or without what has to be known of a plan. */
function planOf(row: unknown, pricing: Pricing, { place, ...shared }: Shared, type: "sim" | "topup"): Plan | null {
  if (!packageRow.Check(row) || (row.type ?? type) !== type) return null;
  const cost = costOfPackage(row, pricing);
  const [days, megabytes] = [Number(row.day), Number(row.amount ?? 0)];
  const unlimited = row.is_unlimited === true;
  if (cost === null || !isCount(days) || !(unlimited || isCount(megabytes))) return null;
  const fair = row.fair_usage_policy?.trim() || null;
  return {
    ...shared,
    ...{ plan: row.id, name: `${place} ${row.title ?? row.id}`.trim(), cost, currency: CURRENCY },
    // The amount of an unlimited package says nothing.
    ...{ dataMb: unlimited ? 0 : megabytes, unlimited, validityDays: days, daily: false },
    ...{ voice: Number(row.voice ?? 0) > 0, topup: type === "topup" },
    notes: [...(fair === null ? [] : [`Fair use: ${fair}`]), ...shared.notes],
  };
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0;
}

/** 100 percent, in 1/10,000 of one. */
const WHOLE = 1_000_000;

/** `price` is what travelers pay at Airalo. The cost is the net price, or what a discount leaves of that price. */
function costOfPackage({ price, net_price, prices }: Static<typeof Package>, pricing: Pricing): Cost | null {
  const table = prices?.net_price ?? [];
  const net = (Array.isArray(table) ? null : costIn(table[CURRENCY])) ?? costIn(net_price);
  if (net !== null || pricing?.model !== "discount_pricing") return net;
  const [full, percent] = [costIn(price), costIn(pricing.discount_percentage)];
  if (full === null || percent === null || percent > WHOLE) return null;
  return costOf(Number((BigInt(full) * BigInt(WHOLE - percent) + BigInt(WHOLE / 2)) / BigInt(WHOLE)));
}

function sharedOf({ title, country_code }: Static<typeof Place>, operator: Static<typeof Operator>): Shared {
  const { activation_policy: policy, install_window_days: days } = operator;
  const networks = (operator.coverages ?? []).flatMap((coverage) => coverage.networks ?? []);
  const codes = [operator.countries?.map((one) => one.country_code), operator.coverages?.map(({ code }) => code)];
  const types = networks.flatMap((network) => network.types ?? []);
  return {
    place: title,
    coverage: sorted((codes.find((list) => list?.length) ?? [country_code]).map((code) => countryCode(code ?? ""))),
    region: country_code ? null : title,
    // LTE is the fourth generation.
    speed: sorted(types.map((type) => type.trim().toUpperCase().replace(/^LTE$/, "4G"))).join("/") || null,
    networks: sorted(networks.map(({ name }) => name)),
    activation: policy === "first-usage" ? "at its first use" : (policy ?? null),
    notes: [
      ...(typeof days === "number" ? [`To be installed within ${days} days`] : []),
      ...(operator.is_kyc_verify === true ? ["The traveler's identity is verified before it works"] : []),
    ],
  };
}

function sorted(texts: readonly (string | null | undefined)[]): string[] {
  return [...new Set(texts.flatMap((text) => text || []))].sort();
}
