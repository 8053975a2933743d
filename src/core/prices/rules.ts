import { and, eq, isNotNull } from "drizzle-orm";
import type { ProductId } from "../kernel/brand.ts";
import { together } from "../kernel/together.ts";
import { loader } from "../store/batch-context.ts";
import type { Row } from "../store/schema/tables.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import type { PricedProduct, PriceRule } from "./price.ts";

interface OfProduct {
  list: string;
  product_id: ProductId;
}

const ofProduct = statement((db, { priceRules: rules }, slot: Slots<OfProduct>) =>
  db
    .select()
    .from(rules)
    .where(and(eq(rules.list, slot.list), eq(rules.product_id, slot.product_id))),
);

const ofProducts = statement((db, { priceRules: rules }, slot: Slots<{ list: string }>) =>
  db
    .select()
    .from(rules)
    .where(and(eq(rules.list, slot.list), isNotNull(rules.product_id))),
);

const ofRegions = statement((db, { priceRules: rules }, slot: Slots<{ list: string }>) =>
  db
    .select()
    .from(rules)
    .where(and(eq(rules.list, slot.list), isNotNull(rules.region_key))),
);

const productRules = loader<OfProduct, PriceRule[]>({
  name: ({ list, product_id }) => `${product_id} ${list}`,
  loadMany: (q, keys) => together(...keys.map((key) => ofProduct(q, { ...key }))),
});

const regionRules = loader<string, PriceRule[]>({
  loadMany: (q, lists) => together(...lists.map((list) => ofRegions(q, { list }))),
});

/** The rows of a list about one product, or about regions (null). */
export function storedRules(q: Read, list: string, product_id: ProductId | null): Promise<Row<"priceRules">[]> {
  return product_id === null ? ofRegions(q, { list }) : ofProduct(q, { list, product_id });
}

const withPrice = statement((db, { priceLists: lists, priceRules: rules }, slot: Slots<{ product_id: ProductId }>) =>
  db
    .selectDistinct({ list: lists.name })
    .from(lists)
    .innerJoin(rules, and(eq(rules.list, lists.name), eq(rules.product_id, slot.product_id)))
    .where(isNotNull(rules.price_cents))
    .orderBy(lists.name),
);

/** The lists that have a price of a product, which is in its currency. */
export async function listsWithPrice(q: Read, product_id: ProductId): Promise<string[]> {
  return (await withPrice(q, { product_id })).map(({ list }) => list);
}

/** Finds the rules of one list that may be about a product. */
export type FindRules = (product: Pick<PricedProduct, "id">) => Promise<readonly PriceRule[]>;

/** Finds them product by product: for few products. */
export function rulesByProduct(q: Read, list: string): FindRules {
  return async ({ id: product_id }) => {
    const [own, others] = await together(productRules.get(q, { list, product_id }), regionRules.get(q, list));
    return own.length === 0 ? others : [...own, ...others];
  };
}

/** Reads the whole list, and finds them in it: for many products. */
export async function rulesOfList(q: Read, list: string): Promise<FindRules> {
  const [own, others] = await together(ofProducts(q, { list }), ofRegions(q, { list }));
  const byProduct = Map.groupBy(own, ({ product_id }) => product_id);
  return async ({ id }) => [...(byProduct.get(id) ?? []), ...others];
}
