import { statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";

/** A product's price, and what it is compared by. */
export interface Priced {
  sku: string;
  price_cents: number;
  currency: string;
  data_amount_mb: number;
}

/** A price that is about to change, or that a new product gets and that is doubtful. */
export interface PriceChange {
  sku: string;
  /** In minor units; null: the product is new. */
  from_cents: number | null;
  from_currency: string | null;
  to_cents: number;
  currency: string;
  /** In percent of the price before, one decimal; null where there is none in this currency, or it was 0. */
  percent: number | null;
  /** Why a person should look at it; empty: it is within the bounds. */
  doubts: string[];
}

const MOST_PERCENT = 50;
const MOST_TIMES = 10;
/** Products of the same currency and data size, without which nothing is said of their median. */
const LEAST_SIBLINGS = 3;

const prices = statement((db, { products: p }, _slot) =>
  db
    .select({ sku: p.sku, price_cents: p.price_cents, currency: p.currency, data_amount_mb: p.data_amount_mb })
    .from(p)
    .orderBy(p.sku),
);

/**
 * What importing these products changes about prices, in their order: each price that changes, and the doubtful ones of
 * new products. A price is doubtful that changes by over 50 % or its currency, that is 0, or that is over ten times or
 * under a tenth of the median of its siblings, stored and given.
 */
export async function priceChanges(q: Read, given: readonly Priced[]): Promise<PriceChange[]> {
  const stored = new Map<string, Priced>((await prices(q, {})).map((product) => [product.sku, product]));
  const after = new Map([...stored, ...given.map((product) => [product.sku, product] as const)]);
  const siblings = groupsOf(after.values());
  return given.flatMap((product) => {
    const before = stored.get(product.sku) ?? null;
    if (before !== null && before.price_cents === product.price_cents && before.currency === product.currency)
      return [];
    const change = changeOf(before, product, siblings.get(groupOf(product)) ?? []);
    return before === null && change.doubts.length === 0 ? [] : [change];
  });
}

function groupOf({ currency, data_amount_mb }: Priced): string {
  return `${currency} ${data_amount_mb}`;
}

function groupsOf(products: Iterable<Priced>): Map<string, Priced[]> {
  return Map.groupBy(products, groupOf);
}

function changeOf(
  before: Priced | null,
  { sku, price_cents, currency }: Priced,
  group: readonly Priced[],
): PriceChange {
  const comparable = before !== null && before.currency === currency && before.price_cents > 0;
  const percent = comparable ? Math.round((price_cents / before.price_cents - 1) * 1000) / 10 : null;
  const median = medianOf(group.filter((one) => one.sku !== sku).map((one) => one.price_cents));
  const doubts = [
    ...(before !== null && before.currency !== currency ? [`the currency was ${before.currency}`] : []),
    ...(price_cents === 0 ? ["the price is 0"] : []),
    ...(percent !== null && Math.abs(percent) > MOST_PERCENT ? [`changes by ${signed(percent)} %`] : []),
    ...(median !== null && price_cents > median * MOST_TIMES ? ["over ten times the price of its like"] : []),
    ...(median !== null && price_cents * MOST_TIMES < median ? ["under a tenth of the price of its like"] : []),
  ];
  const from = { from_cents: before?.price_cents ?? null, from_currency: before?.currency ?? null };
  return { sku, ...from, to_cents: price_cents, currency, percent, doubts };
}

/** A percentage with its sign: "+12.5". */
export function signed(percent: number): string {
  return `${percent > 0 ? "+" : ""}${percent}`;
}

function medianOf(numbers: number[]): number | null {
  if (numbers.length < LEAST_SIBLINGS) return null;
  const sorted = numbers.sort((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const [low = 0, high = 0] = sorted.length % 2 === 1 ? [sorted[middle], sorted[middle]] : sorted.slice(middle - 1);
  return (low + high) / 2;
}
