import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Cost } from "../../../../core/kernel/brand.ts";
import { costOf } from "../../../../core/kernel/cost.ts";
import { countryCode } from "../../../../core/kernel/country.ts";
import { sharedRun } from "../../../../core/kernel/shared-run.ts";
import type { Catalog, EsimRef, Plan } from "../../../../core/supply/provider.ts";
import { catalogOf, faultsOf, type ReadRow } from "../catalog-rows.ts";
import { done, mapped, type Reply, shaped, unclear } from "../reply.ts";
import { costIn, distinct, Maybe, maybe, present, TextOrNumber } from "../values.ts";
import { type Client, CURRENCY } from "./client.ts";

const PricingOf = Type.Object({ ...maybe(Type.String(), "model"), ...maybe(TextOrNumber, "discount_percentage") });
const Pricing = maybe(PricingOf, "pricing");
type Pricing = Static<typeof PricingOf> | null | undefined;

/** Amounts by currency; an empty table comes as a list. */
const Table = Type.Union([Type.Record(Type.String(), Maybe(TextOrNumber)), Type.Array(Type.Unknown())]);
const Package = Type.Object({
  id: Type.String({ minLength: 1 }),
  day: TextOrNumber,
  ...maybe(Type.String(), "type", "title", "fair_usage_policy"),
  ...maybe(TextOrNumber, "price", "net_price", "amount", "voice"),
  ...maybe(Type.Object(maybe(Table, "net_price")), "prices"),
  ...maybe(Type.Boolean(), "is_unlimited"),
});
const packageRow = Compile(Package);

const Network = Type.Object({ ...maybe(Type.String(), "name"), ...maybe(Type.Array(Type.String()), "types") });
const Coverage = Type.Object({ ...maybe(Type.String(), "code"), ...maybe(Type.Array(Network), "networks") });
const Operator = Type.Object({
  ...maybe(Type.String(), "activation_policy"),
  ...maybe(Type.Boolean(), "is_kyc_verify"),
  ...maybe(Type.Integer(), "install_window_days"),
  ...maybe(Type.Array(Type.Object(maybe(Type.String(), "country_code"))), "countries"),
  ...maybe(Type.Array(Coverage), "coverages"),
  packages: Type.Array(Type.Unknown()),
});
const Operators = Type.Array(Operator);
const Place = Type.Object({ title: Type.String(), ...maybe(Type.String(), "country_code"), operators: Operators });
const meta = maybe(Type.Object(maybe(Type.Integer(), "last_page")), "meta");
const catalog = Compile(Type.Object({ ...Pricing, data: Type.Array(Place), ...meta }));
const topups = Compile(Type.Object({ ...Pricing, data: Type.Array(Type.Unknown()) }));

type Way = Client["ask"];

/** So long (ms) costs are taken as they were read: Airalo's pages advise to read the whole catalog once an hour. */
const FRESH_MS = 3_600_000;
/** With a token before it this ends within the lease of a unit. */
const PRICES_TIMEOUT_MS = 60_000;
const names = ["id", "title"] as const;

/**
 * The plans of the catalog, each once, without top-ups. Its some 3,200 packages are one answer: pages after the first
 * have another form. The page says 80 calls a minute, and 40.
 */
export async function wholeCatalog(way: Way, timeoutMs = 120_000): Promise<Reply<Catalog>> {
  const own = { bucket: "packages", aMinute: 40 };
  const reply = shaped(await way({ method: "GET", path: "/packages", own, timeoutMs }), catalog);
  if (reply.kind !== "done") return reply;
  const { data, pricing, meta } = reply.value;
  // Plans on a page that was not read would look as if they were gone.
  if ((meta?.last_page ?? 1) > 1) return unclear("it is not the whole catalog");
  const operators = data.flatMap((place) => place.operators.map((one) => ({ ...one, shared: sharedOf(place, one) })));
  const rows = operators.flatMap(({ packages, shared }) =>
    packages.map((row) => [row, planOf(row, pricing, shared, "sim")] as const),
  );
  return catalogOf(rows, names);
}

/** The plans that top up one eSIM; none for one that was recycled, or is not of this account. */
export async function topupPlansOf(way: Way, { iccid }: EsimRef): Promise<Reply<Plan[]>> {
  const reply = await way({ method: "GET", path: `/sims/${encodeURIComponent(iccid)}/topups` });
  if (reply.kind === "refused" && ["73", "404"].includes(reply.code)) return done([]);
  const listed = shaped(reply, topups);
  if (listed.kind !== "done") return listed;
  const { data, pricing } = listed.value;
  const shared = sharedOf({ title: "", operators: [] }, { packages: [] });
  const rows = data.map((row) => [row, planOf(row, pricing, shared, "topup")] as const);
  return mapped(catalogOf(rows, names), ({ plans }) => plans);
}

/** What these plans cost, by their names. */
export function costsOf(plans: readonly Plan[]): Map<string, Cost> {
  return new Map(plans.map(({ plan, cost }) => [plan, cost]));
}

/** What the catalog's plans cost, as this account saw it last. */
export type Prices = ReturnType<typeof createPrices>;

/** Makes the prices of one account. */
export function createPrices(client: Client, now: () => number) {
  let costs = costsOf([]);
  let freshUntil = 0;
  const read = sharedRun(async () => {
    const reply = mapped(await wholeCatalog(client.send, PRICES_TIMEOUT_MS), ({ plans }) => costsOf(plans));
    if (reply.kind === "done") [costs, freshUntil] = [reply.value, now() + FRESH_MS];
    return reply;
  });
  return {
    /** Reads the catalog first where that was long ago; purchases at the same time share one reading. */
    current: async () => (now() < freshUntil ? done(costs) : read()),
    /** Keeps what the answer to an order shows. */
    keep: (plan: string, cost: Cost) => void costs.set(plan, cost),
  };
}

/** Null: of another type. */
function planOf(row: unknown, pricing: Pricing, { place, ...shared }: Shared, type: "sim" | "topup"): ReadRow {
  if (!packageRow.Check(row)) return faultsOf(packageRow, row);
  if ((row.type ?? type) !== type) return null;
  const cost = costOfPackage(row, pricing);
  const [days, megabytes] = [Number(row.day), Number(row.amount ?? 0)];
  const unlimited = row.is_unlimited === true;
  const isCount = (value: number) => Number.isSafeInteger(value) && value > 0;
  if (cost === null) return `it has no cost in ${CURRENCY}`;
  if (!isCount(days)) return "day must be a whole number of at least 1";
  if (!unlimited && !isCount(megabytes)) return "amount must be a whole number of megabytes";
  const fair = row.fair_usage_policy?.trim();
  return {
    ...shared,
    ...{ plan: row.id, name: `${place} ${row.title ?? row.id}`.trim(), cost, currency: CURRENCY },
    // The amount of an unlimited package says nothing.
    ...{ dataMb: unlimited ? 0 : megabytes, unlimited, validityDays: days, daily: false },
    ...{ voice: Number(row.voice ?? 0) > 0, topup: type === "topup" },
    notes: present([fair && `Fair use: ${fair}`, ...shared.notes]),
  };
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

/** What all packages of an operator have in common. */
type Shared = ReturnType<typeof sharedOf>;

function sharedOf({ title, country_code }: Static<typeof Place>, operator: Static<typeof Operator>) {
  const { activation_policy: policy, install_window_days: days } = operator;
  const networks = (operator.coverages ?? []).flatMap((coverage) => coverage.networks ?? []);
  const codes = [operator.countries?.map((one) => one.country_code), operator.coverages?.map(({ code }) => code)];
  const types = networks.flatMap((network) => network.types ?? []);
  return {
    place: title,
    coverage: distinct((codes.find((list) => list?.length) ?? [country_code]).map((code) => countryCode(code ?? ""))),
    region: country_code ? null : title || null,
    // LTE is the fourth generation.
    speed: distinct(types.map((type) => type.trim().toUpperCase().replace(/^LTE$/, "4G"))).join("/") || null,
    networks: distinct(networks.map(({ name }) => name)),
    activation: policy === "first-usage" ? "at its first use" : (policy ?? null),
    notes: present([
      typeof days === "number" && `To be installed within ${days} days`,
      operator.is_kyc_verify === true && "The traveler's identity is verified before it works",
    ]),
  };
}
