import { type Costed, lossOf, pricesAtCost } from "../prices/at-cost.ts";
import type { Read } from "../store/store.ts";
import { matching } from "./list.ts";
import { type Priced, priceChanges } from "./price-changes.ts";

/** A product's cost, and a price of it in its own currency (minor units). */
type Sold = Costed & { price_cents: number };

/** Says that a price is below the product's cost at the rate of today; null: it is not, or one of them is not known. */
export async function belowCost(q: Read, product: Sold): Promise<string | null> {
  const loss = lossOf(product.price_cents, product, await pricesAtCost(q)(product));
  return loss && `it is below the cost of ${loss.cost} ${loss.cost_currency}`;
}

/**
 * How many products on sale a rule is about, and how many of these have no known cost, or none at a rate of today: a
 * markup gives them no price.
 */
export async function costsOfRule(
  q: Read,
  { sku, region }: { sku?: string | undefined; region?: string | undefined },
): Promise<{ products: number; unknown: number }> {
  const onSale = await matching(q, { status: "active", region });
  const products = sku === undefined ? onSale : onSale.filter((one) => one.sku === sku);
  const least = pricesAtCost(q);
  const costs = await Promise.all(products.map(least));
  return { products: products.length, unknown: costs.filter((one) => one === null).length };
}

/** Why a person should look at a price again before a product has it; its cost too. Empty: nothing is doubtful. */
export async function priceDoubts(q: Read, product: Priced & Sold): Promise<string[]> {
  const loss = await belowCost(q, product);
  const changes = await priceChanges(q, [product]);
  return [...changes.flatMap(({ doubts }) => doubts), ...(loss === null ? [] : [loss])];
}
