import { sql } from "drizzle-orm";
import type { ProductId } from "../../kernel/brand.ts";
import type { catalogTables } from "./catalog.ts";
import type { Kit } from "./kit.ts";
import type { CircuitState, SourceStatus, SupplierAdapter } from "./values.ts";

/** Who delivers what is not in stock: how each is reached, what it sells, and whether it works. */
export function suppliersTables(k: Kit, { products }: Pick<ReturnType<typeof catalogTables>, "products">) {
  const suppliers = k.table("suppliers", {
    name: k.text("name").primaryKey(),
    adapter: k.text("adapter").$type<SupplierAdapter>().notNull(),
    /** The e-mail adapter has none. */
    url: k.text("url"),
    /** Whether the operator allows an address beyond loopback without TLS. */
    insecure: k.flag("insecure").notNull().default(sql`0`),
    secret_sealed: k.text("secret_sealed"),
    /** Only the e-mail adapter has these: whom to write to, and the operator's own template. */
    to_address: k.text("to_address"),
    template: k.text("template"),
    /** The secret part of the path that a provider calls back at; only providers have it. */
    callback_sealed: k.text("callback_sealed"),
    /** How the last sync priced its plans: hundredths of a percent on the cost, and the beginning of their SKUs. */
    markup_points: k.int("markup_points"),
    sku_prefix: k.text("sku_prefix"),
    synced_at: k.int("synced_at"),
    /** What its account held when it was last asked, in 1/10,000 of the currency. */
    balance: k.int("balance"),
    balance_currency: k.text("balance_currency"),
    balance_at: k.int("balance_at"),
    /** The balance below which nothing more is bought; null: none is set. */
    low_balance: k.int("low_balance"),
    created_at: k.int("created_at").notNull(),
    updated_at: k.int("updated_at").notNull(),
  });

  /** A provider's access token, for all nodes. */
  const supplierTokens = k.table("supplier_tokens", {
    supplier: k.text("supplier").primaryKey(),
    token_sealed: k.text("token_sealed").notNull(),
    expires_at: k.int("expires_at").notNull(),
  });

  /** What all nodes together asked a provider for in the present window of one of its limits. */
  const supplierLimits = k.table(
    "supplier_limits",
    {
      supplier: k.text("supplier").notNull(),
      bucket: k.text("bucket").notNull(),
      window_at: k.int("window_at").notNull(),
      used: k.int("used").notNull(),
      /** Until when the provider said to wait; 0: it did not. */
      blocked_until: k.int("blocked_until").notNull(),
    },
    (t) => [k.primaryKey({ columns: [t.supplier, t.bucket] })],
  );

  /** Whether a supplier is asked for more. Without a row its circuit is closed, and no fault is counted. */
  const circuits = k.table("circuits", {
    supplier: k.text("supplier").primaryKey(),
    state: k.text("state").$type<CircuitState>().notNull(),
    since: k.int("since").notNull(),
    /** Why it is not closed. */
    reason: k.text("reason"),
    /** Faults in a row. */
    failures: k.int("failures").notNull(),
    /** How often in a row it opened: each time it stays open longer. */
    openings: k.int("openings").notNull(),
    /** From when on one unit is bought to see whether it works; null while it is closed. */
    probe_at: k.int("probe_at"),
  });

  /** Which plan of which supplier a product can be bought as. */
  const productSources = k.table(
    "product_sources",
    {
      product_id: k
        .text("product_id")
        .$type<ProductId>()
        .notNull()
        .references(() => products.id),
      supplier: k.text("supplier").notNull(),
      /** As the supplier names the plan. */
      supplier_sku: k.text("supplier_sku").notNull(),
      /** For how many days a daily plan is bought; null: the plan has its own validity. */
      days: k.int("days"),
      /** 1 is asked first. */
      priority: k.int("priority").notNull(),
      /** What a unit costs, in 1/10,000 of the currency; null: it is not known. */
      cost: k.int("cost"),
      currency: k.text("currency"),
      /** The price that the last sync made of it (minor units); a product with another one was priced by hand. */
      price_cents: k.int("price_cents"),
      /** Whether `suppliers sync` keeps it, and not the operator. */
      synced: k.flag("synced").notNull(),
      status: k.text("status").$type<SourceStatus>().notNull(),
      created_at: k.int("created_at").notNull(),
      updated_at: k.int("updated_at").notNull(),
    },
    (t) => [
      k.primaryKey({ columns: [t.product_id, t.supplier] }),
      k.index("product_sources_supplier").on(t.supplier, t.supplier_sku, t.product_id),
    ],
  );

  /** Plans of which one purchase is under way, where its supplier keeps no reference that sets two of them apart. */
  const supplierHolds = k.table(
    "supplier_holds",
    {
      supplier: k.text("supplier").notNull(),
      /** The plan as the supplier names it. */
      plan: k.text("plan").notNull(),
      /** The order item or top-up that holds it. */
      holder: k.text("holder").notNull(),
      since: k.int("since").notNull(),
    },
    (t) => [k.primaryKey({ columns: [t.supplier, t.plan] })],
  );

  return { suppliers, supplierTokens, supplierLimits, supplierHolds, circuits, productSources };
}
