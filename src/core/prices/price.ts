import { priceOfCost } from "../kernel/cost.ts";
import type { Row } from "../store/schema/tables.ts";

/** A product as far as its price concerns. */
export type PricedProduct = Pick<
  Row<"products">,
  "id" | "region_key" | "price_cents" | "currency" | "cost" | "cost_currency"
>;

/** A rule of a price list. */
export type PriceRule = Pick<
  Row<"priceRules">,
  | "id"
  | "product_id"
  | "region_key"
  | "price_cents"
  | "markup_points"
  | "min_quantity"
  | "from_day"
  | "to_day"
  | "created_at"
>;

/** What one currency is in another from a day on. */
export type Rate = Pick<Row<"fxRates">, "from_currency" | "to_currency" | "day" | "rate">;

/** What decides the price of a unit. */
export interface Pricing {
  product: PricedProduct;
  /** Those of one list. */
  rules: readonly PriceRule[];
  rates: readonly Rate[];
  /** The UTC day, YYYY-MM-DD. */
  day: string;
  /** Units of the line. */
  quantity: number;
}

/** The price of a unit, and the rule that makes it; null: none holds, and it is the product's own price. */
export function priceFor(pricing: Pricing): { cents: number; rule: PriceRule | null } {
  let best: { cents: number; rule: PriceRule } | null = null;
  for (const rule of pricing.rules) {
    if (!isInForce(rule, pricing) || (best !== null && !isCloser(rule, best.rule))) continue;
    const cents = priceBy(rule, pricing);
    if (cents !== null) best = { cents, rule };
  }
  return best ?? { cents: pricing.product.price_cents, rule: null };
}

/** The rate of a day: "1" within one currency, the newest that has begun, or null where none is known. */
export function rateOn(
  rates: readonly Rate[],
  { from, to, day }: { from: string; to: string; day: string },
): string | null {
  if (from === to) return "1";
  let newest: Rate | null = null;
  for (const rate of rates) {
    if (rate.from_currency !== from || rate.to_currency !== to || rate.day > day) continue;
    if (newest === null || rate.day > newest.day) newest = rate;
  }
  return newest?.rate ?? null;
}

function isInForce(rule: PriceRule, { product, day, quantity }: Pricing): boolean {
  const isAbout = rule.product_id === null ? rule.region_key === product.region_key : rule.product_id === product.id;
  return (
    isAbout &&
    rule.min_quantity <= quantity &&
    (rule.from_day === null || rule.from_day <= day) &&
    (rule.to_day === null || day < rule.to_day)
  );
}

/** Whether a rule goes before another: a product before a region, then more units, then the newer one. */
function isCloser(rule: PriceRule, other: PriceRule): boolean {
  const isOfProduct = rule.product_id !== null;
  if (isOfProduct !== (other.product_id !== null)) return isOfProduct;
  if (rule.min_quantity !== other.min_quantity) return rule.min_quantity > other.min_quantity;
  if (rule.created_at !== other.created_at) return rule.created_at > other.created_at;
  return rule.id > other.id;
}

/** Null: it is a markup on a cost that is not known in the product's currency, or too large to be counted exactly. */
function priceBy({ price_cents, markup_points }: PriceRule, { product, rates, day }: Pricing): number | null {
  if (price_cents !== null) return price_cents;
  const { cost, cost_currency: from, currency } = product;
  if (markup_points === null || cost === null || from === null) return null;
  const rate = rateOn(rates, { from, to: currency, day });
  return rate === null ? null : priceOfCost({ cost, rate, markupPoints: markup_points, currency });
}
