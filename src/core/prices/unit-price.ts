import { isoTime } from "../kernel/clock.ts";
import { together } from "../kernel/together.ts";
import type { Read } from "../store/store.ts";
import { type PricedProduct, priceFor, type Rate, rateOn } from "./price.ts";
import { currentRates, type RateKey } from "./rates.ts";
import { type FindRules, rulesByProduct, rulesOfList } from "./rules.ts";

/** What a unit is sold at, and what it costs, as a line of an order keeps them. */
export interface UnitPrice {
  unit_price_cents: number;
  /** The list whose rule makes the price; null: it is the catalog's. */
  price_list: string | null;
  cost: number | null;
  cost_currency: string | null;
  /** What one of the cost's currency is in the price's; null: no cost or no rate is known. */
  fx_rate: string | null;
}

/** Prices a unit of a product, one of so many. */
export type PriceUnit = (product: PricedProduct, quantity: number) => Promise<UnitPrice>;

/** Prices few products by a list, as they are ordered; null: at the catalog's prices. */
export function pricesByProduct(q: Read, list: string | null): PriceUnit {
  return pricing(q, list, list === null ? noRules : rulesByProduct(q, list));
}

/** Prices many products by a list, which is read whole; on another UTC day than today where one is given. */
export async function pricesOfList(q: Read, list: string, day?: string): Promise<PriceUnit> {
  return pricing(q, list, await rulesOfList(q, list), { findRate: ratesOnce(q), day });
}

const noRules: FindRules = async () => [];
const noRate = Promise.resolve(null);

type FindRate = (key: RateKey) => Promise<Rate | null>;

/** A list is of few currencies: each rate is read once. */
function ratesOnce(q: Read): FindRate {
  const known = new Map<string, Promise<Rate | null>>();
  return (key) => {
    const pair = `${key.from} ${key.to}`;
    const rate = known.get(pair) ?? currentRates.get(q, key);
    known.set(pair, rate);
    return rate;
  };
}

interface Manner {
  findRate?: FindRate;
  /** Today, unless given. */
  day?: string | undefined;
}

function pricing(
  q: Read,
  list: string | null,
  findRules: FindRules,
  { findRate = (key) => currentRates.get(q, key), day = isoTime(q.now).slice(0, 10) }: Manner = {},
): PriceUnit {
  return async (product, quantity) => {
    const { cost, cost_currency, currency: to } = product;
    // A price in the currency of its cost needs no rate.
    const pair = cost === null || cost_currency === null ? null : { from: cost_currency, to, day };
    const [rules, rate] = await together(
      findRules(product),
      pair === null || pair.from === to ? noRate : findRate(pair),
    );
    const rates = rate === null ? [] : [rate];
    const { cents, rule } = priceFor({ product, rules, rates, day, quantity });
    const fx_rate = pair === null ? null : rateOn(rates, pair);
    return { unit_price_cents: cents, price_list: rule === null ? null : list, cost, cost_currency, fx_rate };
  };
}
