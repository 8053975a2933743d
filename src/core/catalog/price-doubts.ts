import { type Costed, lossOf, pricesAtCost } from "../prices/at-cost.ts";
import type { Row } from "../store/schema/tables.ts";
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
 * How many products on sale a rule is about, by its product or its region, and how many of these have no known cost, or
 * none at a rate of today: a markup gives them no price.
 */
export async function costsOfRule(
  q: Read,
  { product, region }: { product: Row<"products"> | null; region?: string | undefined },
): Promise<{ products: number; unknown: number }> {
  const products = product === null ? await matching(q, { status: "active", region }) : [product].filter(isOnSale);
  const least = pricesAtCost(q);
  const costs = await Promise.all(products.map(least));
  return { products: products.length, unknown: costs.filter((one) => one === null).length };
}

function isOnSale({ status }: Row<"products">): boolean {
  return status === "active";
}

/** Why a person should look at a price again before a product has it; its cost too. Empty: nothing is doubtful. */
export async function priceDoubts(q: Read, product: Priced & Sold): Promise<string[]> {
  const loss = await belowCost(q, product);
  const changes = await priceChanges(q, [product]);
  return [...changes.flatMap(({ doubts }) => doubts), ...(loss === null ? [] : [loss])];
}
