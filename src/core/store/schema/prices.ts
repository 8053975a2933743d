import { sql } from "drizzle-orm";
import type { ProductId } from "../../kernel/brand.ts";
import type { Kit } from "./kit.ts";

/** Prices of partners, and what one currency is in another. */
export function pricesTables(k: Kit) {
  const priceLists = k.table("price_lists", {
    name: k.text("name").primaryKey(),
    created_at: k.int("created_at").notNull(),
    updated_at: k.int("updated_at").notNull(),
  });

  const priceRules = k.table(
    "price_rules",
    {
      id: k.text("id").primaryKey(),
      list: k
        .text("list")
        .notNull()
        .references(() => priceLists.name),
      /** One of the two: a product, or a region as look-ups spell it. */
      product_id: k.text("product_id").$type<ProductId>(),
      region_key: k.text("region_key"),
      /** The region as it was given. */
      region: k.text("region"),
      /** One of the two: a price in the product's currency, or hundredths of a percent on its cost. */
      price_cents: k.int("price_cents"),
      markup_points: k.int("markup_points"),
      /** From how many units of a line on it holds. */
      min_quantity: k.int("min_quantity").notNull(),
      /** UTC days, YYYY-MM-DD: the first it holds on, and the first it no longer does; null: no bound. */
      from_day: k.text("from_day"),
      to_day: k.text("to_day"),
      created_at: k.int("created_at").notNull(),
    },
    (t) => [
      k.index("price_rules_product").on(t.list, t.product_id, t.id).where(sql`product_id is not null`),
      k.index("price_rules_region").on(t.list, t.region_key, t.id).where(sql`region_key is not null`),
    ],
  );

  const fxRates = k.table(
    "fx_rates",
    {
      from_currency: k.text("from_currency").notNull(),
      to_currency: k.text("to_currency").notNull(),
      /** The first UTC day that it holds on, YYYY-MM-DD. */
      day: k.text("day").notNull(),
      /** Units of `to_currency` for one of `from_currency`: a decimal. */
      rate: k.text("rate").notNull(),
      created_at: k.int("created_at").notNull(),
    },
    (t) => [k.primaryKey({ columns: [t.from_currency, t.to_currency, t.day] })],
  );

  return { priceLists, priceRules, fxRates };
}
