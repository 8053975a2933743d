import { and, eq } from "drizzle-orm";
import type { ProductId } from "../kernel/brand.ts";
import { readCountry } from "../kernel/country.ts";
import { currencyDecimals } from "../kernel/money.ts";
import { invalid, Problem } from "../kernel/problem.ts";
import type { Row } from "../store/schema/tables.ts";
import type { ProductPurpose } from "../store/schema/values.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { requireSupplier, type SupplierRow } from "../suppliers/supplier.ts";
import { checkOffer, type Offer, offerOf, offersOf, skuOf } from "./offer.ts";
import { type Pricing, pricedAt, ratesToday, requireRates } from "./pricing.ts";
import type { Catalog, Plan, UnreadRow } from "./provider.ts";
import type { SourceRow } from "./sources.ts";
import { differenceOf, type KnownProduct } from "./sync-diff.ts";
import { added, count, emptyReport, type Skipped, type SyncReport } from "./sync-report.ts";

/** What a sync is asked to do. */
export interface SyncAsked extends Readonly<Catalog> {
  supplier: string;
  /** Hundredths of a percent on the cost; left out: as the last sync had it. */
  markupPoints?: number | undefined;
  /** How SKUs of new products begin; left out: as the last sync had it. */
  prefix?: string | undefined;
  /** Countries and regions; empty: all. */
  only: readonly string[];
  /** What new products are priced in; left out: that of this supplier's products, else that of each plan. */
  currency?: string | undefined;
}

/** A product that a sync changes, or adds. */
export type Target =
  | { productId: ProductId; offer: Offer | null }
  | { productId: null; offer: Offer; sku: string; currency: string };

/** What a sync finds, before it writes. */
export interface SyncSurvey {
  /** What it does, or would. */
  report: SyncReport;
  /** What there is to write. */
  targets: Target[];
  /** Products of which nothing is to be written. */
  untouched: number;
  pricing: Pricing;
  prefix: string;
}

const productsOf = statement((db, t, slot: Slots<{ supplier: string; purpose: ProductPurpose }>) =>
  db
    .select({ product: t.products })
    .from(t.productSources)
    .innerJoin(t.products, eq(t.products.id, t.productSources.product_id))
    .where(and(eq(t.productSources.supplier, slot.supplier), eq(t.products.purpose, slot.purpose))),
);

const allSources = statement((db, t, _slot) => db.select().from(t.productSources));
const allSkus = statement((db, t, _slot) => db.select({ sku: t.products.sku }).from(t.products));

async function knownProducts(q: Read, supplier: string): Promise<KnownProduct[]> {
  const sources = Map.groupBy(await allSources(q, {}), ({ product_id }) => product_id);
  // Catalogs list no top-ups: theirs would look like plans that are gone.
  const products = (await productsOf(q, { supplier, purpose: "plan" })).map(({ product }) => product);
  const sorted = products.sort((one, other) => (one.sku < other.sku ? -1 : 1));
  return sorted.flatMap((product) => knownOf(product, sources.get(product.id), supplier));
}

/** A product with its source at a supplier; empty: it has none there. */
export function knownOf(
  product: Row<"products">,
  sources: readonly SourceRow[] = [],
  supplier: string,
): [KnownProduct] | [] {
  const source = sources.find((one) => one.supplier === supplier);
  return source === undefined ? [] : [{ product, source, others: sources.filter((one) => one !== source) }];
}

/**
 * Compares the plans of a supplier with the catalog, and writes nothing. Throws `not_found`, `conflict` for a catalog
 * without any plan, and `validation`: the first sync needs its markup, each pair of currencies its rate.
 */
export async function surveySync(q: Read, asked: SyncAsked): Promise<SyncSurvey> {
  const { supplier, plans, unread } = asked;
  const { markupPoints, prefix } = settingsOf(await requireSupplier(q, supplier), asked);
  const known = await knownProducts(q, supplier);
  if (plans.length === 0 && known.length > 0) {
    throw new Problem("conflict", `The catalog of ${supplier} is empty: nothing was changed.`);
  }
  const report = emptyReport(plans.length);
  report.skipped.push(...unread.map((row) => skippedRow(known, row)));
  const within = onlyPlans(asked.only, plans);
  const readable = known.filter(({ source }) => !unread.some(({ plan }) => plan === source.supplier_sku));
  const offered = offeredOf(readable, { plans, within, supplier, report, unread });
  const fresh = freshOf(known, { plans, within, supplier, report, prefix, skus: await allSkus(q, {}) });
  const currencyOf = ({ currency }: Offer) => asked.currency ?? commonCurrency(known) ?? currency;
  const pairs = [
    ...offered.flatMap(({ one, offer }) =>
      offer === null ? [] : [{ ...pairOf(offer, one), needed: one.source.synced }],
    ),
    ...fresh.map(({ offer }) => ({ from: offer.currency, to: currencyOf(offer), needed: true })),
  ];
  const rates = await ratesToday(q, pairs);
  requireRates(
    rates,
    pairs.filter(({ needed }) => needed),
  );
  const pricing: Pricing = { markupPoints, rates };
  const targets: Target[] = [];
  let untouched = 0;
  for (const { one, offer } of offered) {
    const difference = differenceOf(one, offer, pricing);
    count(report, difference);
    if (difference.source === null) untouched += 1;
    else targets.push({ productId: one.product.id, offer });
  }
  for (const { offer, sku } of fresh) {
    const to = currencyOf(offer);
    const price = pricedAt(offer, { to, rates, markupPoints });
    if (price === null) report.skipped.push({ sku, reason: "its price is too large to be counted exactly" });
    else targets.push({ productId: null, offer, sku, currency: to });
    if (price !== null) added(report, { sku, offer, price, currency: to });
  }
  return { report, targets, untouched, pricing, prefix };
}

function settingsOf(row: SupplierRow, asked: SyncAsked): { markupPoints: number; prefix: string } {
  const markupPoints = asked.markupPoints ?? row.markup_points;
  const prefix = asked.prefix ?? row.sku_prefix ?? "";
  const { currency } = asked;
  if (markupPoints === null) {
    throw invalid({ markup: ["is needed by the first sync: percent on the cost, such as --markup 35"] });
  }
  if (!/^[\w.-]{0,40}$/.test(prefix)) throw invalid({ prefix: ["must be at most 40 letters, digits, _ . or -"] });
  if (currency !== undefined && currencyDecimals(currency) === null) {
    throw invalid({ currency: ["must be an ISO 4217 code such as AUD"] });
  }
  return { markupPoints, prefix };
}

/** The one currency of the products that syncs of this supplier have made; undefined: there is none. */
function commonCurrency(known: readonly KnownProduct[]): string | undefined {
  const made = new Set(known.flatMap(({ source, product }) => (source.synced ? [product.currency] : [])));
  return made.size === 1 ? [...made][0] : undefined;
}

function pairOf({ currency: from }: Offer, { product }: KnownProduct): { from: string; to: string } {
  return { from, to: product.currency };
}

interface Compared {
  plans: readonly Plan[];
  within: (plan: Plan) => boolean;
  supplier: string;
  report: SyncReport;
}

/** A row that cannot be read, with the product that is made of its plan, if it is one. */
function skippedRow(known: readonly KnownProduct[], { row, plan, name, reason }: UnreadRow): Skipped {
  const [sku = null, ...more] = known.flatMap(({ product, source }) =>
    source.supplier_sku === plan ? [product.sku] : [],
  );
  return { sku: more.length === 0 ? sku : null, row, supplier_sku: plan, name, reason };
}

/** The products that are known, each with what its supplier has of it now; those beyond the limit are left alone. */
function offeredOf(
  known: readonly KnownProduct[],
  { plans, within, supplier, report, unread }: Compared & Pick<Catalog, "unread">,
) {
  const byCode = new Map(plans.map((plan) => [plan.plan, plan]));
  // What is not there may be such a row: nothing is taken off sale for it.
  const nameless = unread.find(({ plan }) => plan === null);
  return known.flatMap((one): { one: KnownProduct; offer: Offer | null }[] => {
    const { supplier_sku, days, status } = one.source;
    const { sku } = one.product;
    const plan = byCode.get(supplier_sku);
    if (plan !== undefined && !within(plan)) return [];
    if (plan === undefined && status === "active" && nameless !== undefined) {
      const reason = `stays as it is: its plan is missing, and may be row ${nameless.row}, which has no plan code`;
      report.skipped.push({ sku, reason });
      return [];
    }
    const offer = plan === undefined ? null : offerOf(plan, days);
    if (offer === null) return [{ one, offer }];
    const checked = checkOffer(offer, { sku, supplier });
    if ("ok" in checked) return [{ one, offer: checked.ok }];
    report.skipped.push({ sku, reason: checked.problems.join("; ") });
    return [];
  });
}

/** What is not in the catalog yet. An SKU that another product has is named, and left to it. */
function freshOf(
  known: readonly KnownProduct[],
  { plans, within, supplier, report, prefix, skus }: Compared & { prefix: string; skus: readonly { sku: string }[] },
): { offer: Offer; sku: string }[] {
  const keyOf = (plan: string, days: number | null) => `${days ?? ""} ${plan}`;
  const made = new Set(known.flatMap(({ source }) => (source.synced ? [keyOf(source.supplier_sku, source.days)] : [])));
  const own = new Set(known.map(({ product, source }) => `${product.sku} ${keyOf(source.supplier_sku, source.days)}`));
  const taken = new Set(skus.map(({ sku }) => sku));
  return plans.filter(within).flatMap((plan) =>
    offersOf(plan).flatMap((offer) => {
      const key = keyOf(offer.plan, offer.days);
      const sku = skuOf(offer, prefix);
      if (made.has(key) || own.has(`${sku} ${key}`)) return [];
      const checked = checkOffer(offer, { sku, supplier });
      const refusals = [
        ...(taken.has(sku) ? [`is another product's SKU: sources add ${sku} buys it there too`] : []),
        ...("problems" in checked ? checked.problems : []),
      ];
      made.add(key);
      taken.add(sku);
      if (refusals.length === 0 && "ok" in checked) return [{ offer: checked.ok, sku }];
      report.skipped.push({ sku, reason: refusals.join("; ") });
      return [];
    }),
  );
}

/** What the European Union is to suppliers, who have regions of their own. */
const EUROPE: Readonly<Record<string, string>> = { eu: "europe" };

/**
 * Reads the countries and regions that a sync is limited to: a plan is within when its whole coverage is, or when it
 * is one of a region that is named: by its name at the supplier, or by how that begins ("EU" for "EU-42"). Null: no
 * limit. Throws `validation` for a word that is neither a country nor a region of these plans.
 */
function onlyPlans(words: readonly string[], plans: readonly Plan[]): (plan: Plan) => boolean {
  if (words.length === 0) return () => true;
  const regions = new Set(plans.flatMap(({ region }) => region ?? []));
  const countries = new Set<string>();
  const named = new Set<string>();
  const unknown: string[] = [];
  for (const word of words) {
    const country = readCountry(word);
    const found = [...regions].filter((region) => isNamed(region, word));
    if ("code" in country) countries.add(country.code);
    else if (found.length === 0) unknown.push(word);
    for (const region of found) named.add(region);
  }
  if (unknown.length > 0) throw invalid({ only: [unknownWords(unknown, regions)] });
  return ({ coverage, region }) =>
    (region !== null && named.has(region)) || (coverage.length > 0 && coverage.every((code) => countries.has(code)));
}

function isNamed(region: string, word: string): boolean {
  const [name, asked] = [region.toLowerCase(), word.trim().toLowerCase()];
  return [asked, EUROPE[asked]].some(
    (one) => one !== undefined && name.startsWith(one) && !/^\p{L}/u.test(name.slice(one.length)),
  );
}

const MOST_REGIONS = 12;

function unknownWords(words: readonly string[], regions: ReadonlySet<string>): string {
  const listed = [...regions].sort();
  const more = listed.length > MOST_REGIONS ? ", …" : "";
  const known = listed.length === 0 ? "" : `; regions: ${listed.slice(0, MOST_REGIONS).join(", ")}${more}`;
  return `has ${words.map((word) => `"${word}"`).join(", ")}, which is no country or region of this supplier${known}`;
}
