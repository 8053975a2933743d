import { and, asc, eq } from "drizzle-orm";
import { regionKey } from "../kernel/search-keys.ts";
import type { ProductStatus } from "../store/schema/values.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
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

const all = statement((db, { products: { id, sku, currency }, products }, _slot) =>
  db.select({ id, sku, currency }).from(products).orderBy(asc(sku)),
);

/** Every product as rules name it, for a file of many. */
export function ruleProducts(q: Read, _input: null): Promise<RuleProduct[]> {
  return all(q, {});
}
