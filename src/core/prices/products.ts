import { and, asc, eq } from "drizzle-orm";
import { regionKey } from "../kernel/search-keys.ts";
import type { ProductStatus } from "../store/schema/values.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { type Costed, pricesAtCost } from "./at-cost.ts";
import type { RuleProduct } from "./rule-input.ts";

const bySku = statement((db, { products: { id, sku, currency }, products }, slot: Slots<{ sku: string }>) =>
  db.select({ id, sku, currency }).from(products).where(eq(sku, slot.sku)),
);

/** The product that a rule names, or null. */
export async function findRuleProduct(q: Read, sku: string): Promise<RuleProduct | null> {
  return first(await bySku(q, { sku }));
}

const ofRegion = statement((db, { products }, slot: Slots<{ status: ProductStatus; region_key: string }>) =>
  db
    .select({ id: products.id })
    .from(products)
    .where(and(eq(products.status, slot.status), eq(products.region_key, slot.region_key)))
    .limit(1),
);

/** Whether any product on sale is of a region, in any case. */
export async function hasRegion(q: Read, region: string): Promise<boolean> {
  return first(await ofRegion(q, { status: "active", region_key: regionKey(region) })) !== null;
}

const all = statement((db, { products: { id, sku, currency, cost, cost_currency }, products }, _slot) =>
  db.select({ id, sku, currency, cost, cost_currency }).from(products).orderBy(asc(sku)),
);

/** A product as a file of rules is compared with it. */
export interface ListedProduct extends RuleProduct, Costed {
  currency: string;
  /** What it costs today, in minor units of its price's currency; null: cost or rate is not known. */
  least_cents: number | null;
}

/** Every product, for a file of many rules. */
export async function ruleProducts(q: Read, _input: null): Promise<ListedProduct[]> {
  const atCost = pricesAtCost(q);
  const products = await all(q, {});
  return Promise.all(products.map(async (one) => ({ ...one, least_cents: await atCost(one) })));
}
