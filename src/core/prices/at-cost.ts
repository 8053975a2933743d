import { formatCost, priceOfCost } from "../kernel/cost.ts";
import type { Read } from "../store/store.ts";
import type { PricedProduct } from "./price.ts";
import { rateToday } from "./rates.ts";

/** A product's cost, and the currency of its price. */
export type Costed = Pick<PricedProduct, "currency" | "cost" | "cost_currency">;

/** Finds the least price (minor units) that is not below a product's cost today; null: cost or rate is not known. */
export type PriceAtCost = (product: Costed) => Promise<number | null>;

/** Finds such prices of products; each rate is read once. */
export function pricesAtCost(q: Read): PriceAtCost {
  const rates = new Map<string, Promise<string | null>>();
  return async ({ cost, cost_currency: from, currency }) => {
    if (cost === null || from === null) return null;
    const pair = `${from} ${currency}`;
    const known = rates.get(pair) ?? rateToday(q, from, currency);
    rates.set(pair, known);
    const rate = await known;
    return rate === null ? null : priceOfCost({ cost, rate, markupPoints: 0, currency });
  };
}

/** A price that is below the product's cost at the rate of today. */
export interface BelowCost {
  price_cents: number;
  currency: string;
  /** A plain decimal of `cost_currency`. */
  cost: string;
  cost_currency: string;
}

/** A price against the least one that is not below the cost; null: it is not below, or that is not known. */
export function lossOf(price_cents: number, product: Costed, least: number | null): BelowCost | null {
  const { currency, cost, cost_currency } = product;
  if (least === null || cost === null || cost_currency === null || price_cents >= least) return null;
  return { price_cents, currency, cost: formatCost(cost), cost_currency };
}
