import { sql } from "drizzle-orm";
import type { StoredPayload } from "../../events/catalog.ts";
import type { ProductId } from "../../kernel/brand.ts";
import type { Kit } from "./kit.ts";
import type { DeliveryMethod, PlanType, ProductPurpose, ProductStatus, ProductType, WhenShort } from "./values.ts";

/** The catalog: what partners can browse and order. */
export function catalogTables(k: Kit) {
  const products = k.table(
    "products",
    {
      id: k.text("id").$type<ProductId>().primaryKey(),
      sku: k.text("sku").notNull().unique("products_sku"),
      name: k.text("name").notNull(),
      description: k.text("description"),
      region: k.text("region").notNull(),
      /** The region as look-ups spell it, see `regionKey`. The default fills rows from before the column. */
      region_key: k.text("region_key").notNull().default(""),
      coverage: k.json<string[]>("coverage").notNull(),
      /** The countries of `coverage` as look-ups spell them, see kernel/country.ts. The default is as above. */
      coverage_key: k.text("coverage_key").notNull().default(""),
      data_amount_mb: k.int("data_amount_mb").notNull(),
      validity_days: k.int("validity_days").notNull(),
      price_cents: k.int("price_cents").notNull(),
      currency: k.text("currency").notNull(),
      type: k.text("type").$type<PlanType>().notNull(),
      status: k.text("status").$type<ProductStatus>().notNull(),
      product_type: k.text("product_type").$type<ProductType>().notNull(),
      delivery_method: k.text("delivery_method").$type<DeliveryMethod>().notNull(),
      supplier: k.text("supplier"),
      purpose: k.text("purpose").$type<ProductPurpose>().notNull().default("plan"),
      /** Whether it has sources: its units are bought one by one, each from the source that the policy picks. */
      sourced: k.flag("sourced").notNull().default(sql`0`),
      /** What a unit costs, in 1/10,000 of the currency: as its first source says, or the operator; null: unknown. */
      cost: k.int("cost"),
      cost_currency: k.text("cost_currency"),
      /** Why it waits for the operator before it is on sale; null: it does not. */
      held: k.text("held"),
      features: k.json<string[]>("features"),
      activation_policy: k.text("activation_policy"),
      network_type: k.text("network_type"),
      compatible_devices: k.json<string[]>("compatible_devices"),
      /** Available eSIMs below which the operator is alerted; null: no number is too low. */
      low_stock: k.int("low_stock"),
      /** What becomes of it when its stock ends; null: its orders wait in review. */
      when_short: k.text("when_short").$type<WhenShort>(),
      created_at: k.int("created_at").notNull(),
      updated_at: k.int("updated_at").notNull(),
    },
    (t) => [
      // One index a sort; status is nearly always given, the other filters narrow what the index already orders.
      k.index("products_status_created").on(t.status, t.created_at, t.id),
      k.index("products_status_price").on(t.status, t.price_cents, t.id),
      k.index("products_status_name").on(t.status, t.name, t.id),
      k.index("products_status_region_key").on(t.status, t.region_key, t.created_at, t.id),
      k.index("products_low_stock").on(t.sku).where(sql`low_stock is not null`),
      k.index("products_when_short").on(t.sku).where(sql`when_short = 'out_of_stock'`),
    ],
  );

  /** How many eSIMs of a stocked product are free: one row a product, so that a reservation is one small write. */
  const stockPools = k.table("stock_pools", {
    product_id: k
      .text("product_id")
      .$type<ProductId>()
      .primaryKey()
      .references(() => products.id),
    available: k.int("available").notNull(),
  });

  /** Changes of products whose events are not all written yet: they may be for many partners. */
  const productChanges = k.table("product_changes", {
    id: k.text("id").primaryKey(),
    at: k.int("at").notNull(),
    changes: k.json<StoredPayload<"product.updated">[]>("changes").notNull(),
    /** The owner of endpoints whose events were written last, in the order of partner and environment. */
    after_partner: k.text("after_partner").notNull(),
    after_environment: k.text("after_environment").notNull(),
  });

  return { products, stockPools, productChanges };
}

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
