import { counted } from "../kernel/counted.ts";
import type { RuleInList } from "./show.ts";

/** What is said of a price before it is set, in terminal and console alike. */
export const KEPT_PRICES = "Orders already placed keep their price.";
export const ABOUT_MARKUPS =
  "A markup is on the product's cost, at the rate of the day; while cost or rate is not known, the product has its " +
  "own price.";

/** What is said of a rule before it is removed. */
export const AFTER_REMOVAL = "Then the next rule holds, or the catalog's price.";

/** Prices below the cost that are named; of more it is said how many there are. */
export const MOST_BELOW_COST = 10;

/** What is said of so many prices of a file. */
export function belowCostWords(count: number): string {
  return `Look at ${counted(count, "price")} again, below the product's cost`;
}

/** What is said of a price list before it is deleted. */
export const ABOUT_DELETING = "Its rules go with it. Lines of orders keep its name.";

/** What is said of a rate before it is set. */
export const ABOUT_RATES =
  "Holds from the day on, until a rate of a later day begins: prices by a markup follow it at midnight UTC. A rate " +
  "of the same day is replaced. Orders already placed keep theirs.";

/** That a rule is of a region that no product has: it may be set before the first one is there, or be mistyped. */
export function unknownRegionWords(region: string): string {
  return `No product on sale has the region ${region} so far.`;
}

/** That a markup gives some of its products no price; null: it gives one to each. */
export function unknownCostWords({ products, unknown }: { products: number; unknown: number }): string | null {
  if (unknown === 0) return null;
  const some = `${unknown} of ${counted(products, "product")} on sale`;
  return `No cost, or no rate of today, is known of ${some}: without it a product has its own price.`;
}

type Money = (cents: number, currency: string) => string;

/** The price or markup of a rule, as `money` writes minor units. */
export function amountWords({ rule, currency }: RuleInList, money: Money): string {
  if (rule.price_cents !== undefined) return money(rule.price_cents, currency ?? "");
  return `cost + ${rule.markup ?? 0} %`;
}

/** When a rule holds, by the names of what bounds it. */
export function boundsWords({ rule }: RuleInList): { "from units": string; from: string; to: string } {
  return { "from units": String(rule.min_quantity), from: rule.from ?? "at once", to: rule.to ?? "for good" };
}
