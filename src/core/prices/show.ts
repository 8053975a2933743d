import { and, eq, isNotNull } from "drizzle-orm";
import { together } from "../kernel/together.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { requirePriceList } from "./lists.ts";
import { markupOf } from "./rule-input.ts";

/** A rule as the operator's commands print it: it has one of sku and region, and one of price_cents and markup. */
export interface ShownRule {
  list: string;
  sku?: string;
  region?: string;
  price_cents?: number;
  /** Percent on the product's cost. */
  markup?: number;
  min_quantity: number;
  /** UTC days: the first on which it holds, and the first on which it no longer does; null: no bound. */
  from: string | null;
  to: string | null;
}

interface Shown {
  sku: string | null;
  region: string | null;
  price_cents: number | null;
  markup_points: number | null;
  min_quantity: number;
  from_day: string | null;
  to_day: string | null;
}

/** A rule without what it does not have. */
export function shownRule(list: string, rule: Shown): ShownRule {
  const { sku, region, price_cents, markup_points, min_quantity, from_day, to_day } = rule;
  return {
    list,
    ...(sku === null ? {} : { sku }),
    ...(region === null ? {} : { region }),
    ...(price_cents === null ? {} : { price_cents }),
    ...(markup_points === null ? {} : { markup: markupOf(markup_points) }),
    min_quantity,
    from: from_day,
    to: to_day,
  };
}

/** A rule, and the currency of its price; null: it is a markup. */
export interface RuleInList {
  rule: ShownRule;
  currency: string | null;
}

const ofProducts = statement((db, { priceRules: rules, products }, slot: Slots<{ list: string }>) =>
  db
    .select({ rule: rules, sku: products.sku, currency: products.currency })
    .from(rules)
    .innerJoin(products, eq(products.id, rules.product_id))
    .where(and(eq(rules.list, slot.list), isNotNull(rules.product_id))),
);

const ofRegions = statement((db, { priceRules: rules }, slot: Slots<{ list: string }>) =>
  db
    .select()
    .from(rules)
    .where(and(eq(rules.list, slot.list), isNotNull(rules.region_key))),
);

/** The rules of a list: those of products by SKU, then those of regions, each from few units up. Throws `not_found`. */
export async function showPriceList(q: Read, list: string): Promise<RuleInList[]> {
  await requirePriceList(q, list);
  const [own, others] = await together(ofProducts(q, { list }), ofRegions(q, { list }));
  const rules = [
    ...own.map(({ rule, sku, currency }) => ({ ...rule, sku, currency })),
    ...others.map((rule) => ({ ...rule, sku: null, currency: null })),
  ];
  return rules.sort(inOrder).map((rule) => ({
    rule: shownRule(list, rule),
    currency: rule.price_cents === null ? null : rule.currency,
  }));
}

type InOrder = Pick<Shown, "sku" | "region" | "min_quantity" | "from_day">;

function inOrder(one: InOrder, other: InOrder): number {
  const keys = ({ sku, region, from_day, min_quantity }: InOrder) => [
    sku === null ? "2" : "1",
    sku ?? region ?? "",
    String(min_quantity).padStart(6, "0"),
    from_day ?? "",
  ];
  const [mine, theirs] = [keys(one), keys(other)];
  const at = mine.findIndex((key, place) => key !== theirs[place]);
  return at === -1 ? 0 : (mine[at] ?? "") < (theirs[at] ?? "") ? -1 : 1;
}
