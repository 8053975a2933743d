import { formatCost, priceOfCost } from "../kernel/cost.ts";
import type { PricedProduct } from "../prices/price.ts";
import { rateToday } from "../prices/rates.ts";
import type { Read } from "../store/store.ts";
import { type Priced, priceChanges } from "./price-changes.ts";

/** A product's cost, and a price of it in its own currency (minor units). */
type Sold = Pick<PricedProduct, "currency" | "cost" | "cost_currency" | "price_cents">;

/** Says that a price is below the product's cost at the rate of today; null: it is not, or one of them is not known. */
export async function belowCost(q: Read, { currency, cost, cost_currency, price_cents }: Sold): Promise<string | null> {
  if (cost === null || cost_currency === null) return null;
  const rate = await rateToday(q, cost_currency, currency);
  const least = rate === null ? null : priceOfCost({ cost, rate, markupPoints: 0, currency });
  if (least === null || price_cents >= least) return null;
  return `it is below the cost of ${formatCost(cost)} ${cost_currency}`;
}

/** Why a person should look at a price again before a product has it; its cost too. Empty: nothing is doubtful. */
export async function priceDoubts(q: Read, product: Priced & Sold): Promise<string[]> {
  const loss = await belowCost(q, product);
  const changes = await priceChanges(q, [product]);
  return [...changes.flatMap(({ doubts }) => doubts), ...(loss === null ? [] : [loss])];
}
