import { asc, eq } from "drizzle-orm";
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

const all = statement((db, { products: { id, sku, currency }, products }, _slot) =>
  db.select({ id, sku, currency }).from(products).orderBy(asc(sku)),
);

/** Every product as rules name it, for a file of many. */
export function ruleProducts(q: Read, _input: null): Promise<RuleProduct[]> {
  return all(q, {});
}
