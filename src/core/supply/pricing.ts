import type { MinorUnits } from "../kernel/brand.ts";
import { priceOfCost } from "../kernel/cost.ts";
import { invalid } from "../kernel/problem.ts";
import { rateToday } from "../prices/rates.ts";
import type { Read } from "../store/store.ts";

/** A cost's currency and a price's. */
interface Pair {
  from: string;
  to: string;
}

/** How the plans of a supplier are priced. */
export interface Pricing {
  markupPoints: number;
  /** What one unit of a currency is in another today, by both with a space between. */
  rates: ReadonlyMap<string, string>;
}

/** The rates of today for these pairs; one that is not known is left out. */
export async function ratesToday(q: Read, pairs: readonly Pair[]): Promise<Map<string, string>> {
  const rates = new Map<string, string>();
  for (const { from, to } of pairs) {
    if (rates.has(`${from} ${to}`)) continue;
    const rate = await rateToday(q, from, to);
    if (rate !== null) rates.set(`${from} ${to}`, rate);
  }
  return rates;
}

/** Throws `validation` naming the pairs whose rate is not known. */
export function requireRates(rates: ReadonlyMap<string, string>, pairs: readonly Pair[]): void {
  const lacking = new Set(pairs.map(({ from, to }) => `${from} ${to}`).filter((pair) => !rates.has(pair)));
  if (lacking.size === 0) return;
  const words = [...lacking].map((pair) => `needs a rate of today: fx set ${pair} RATE`);
  throw invalid({ currency: words });
}

/** A price in `to` for a cost: without a markup where none is given. Null: no rate, or too large to be counted. */
export function pricedAt(
  { cost, currency: from }: { cost: number; currency: string },
  { to, rates, markupPoints }: { to: string; rates: Pricing["rates"]; markupPoints: number },
): MinorUnits | null {
  const rate = rates.get(`${from} ${to}`);
  return rate === undefined ? null : priceOfCost({ cost, rate, markupPoints, currency: to });
}

/** A markup as it was typed, in hundredths of a percent. Throws `validation`. */
export function parseMarkup(text: string): number {
  const match = /^(\d{1,4})(?:\.(\d{1,2}))?$/.exec(text.trim());
  if (match === null) throw invalid({ markup: [`must be percent on the cost such as 35 or 32.5, not "${text}"`] });
  return Number(match[1]) * 100 + Number((match[2] ?? "").padEnd(2, "0"));
}
