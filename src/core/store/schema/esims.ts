import { sql } from "drizzle-orm";
import type { EsimId, OrderId, OrderLineId, PartnerId, ProductId } from "../../kernel/brand.ts";
import type { Environment } from "../../kernel/environment.ts";
import type { catalogTables } from "./catalog.ts";
import type { Kit } from "./kit.ts";
import { iccidEnd } from "./kit.ts";
import type { EsimStatus, InstallState } from "./values.ts";

/**
 * eSIMs: in stock while `order_id` is null, an order's from then on. Those of sandbox orders are computed; they have a
 * row from their first change on.
 */
export function esimsTables(k: Kit, { products }: Pick<ReturnType<typeof catalogTables>, "products">) {
  const esims = k.table(
    "esims",
    {
      id: k.text("id").$type<EsimId>().primaryKey(),
      iccid: k.text("iccid").notNull(),
      product_id: k
        .text("product_id")
        .$type<ProductId>()
        .notNull()
        .references(() => products.id),
      order_id: k.text("order_id").$type<OrderId>(),
      line_id: k.text("line_id").$type<OrderLineId>(),
      partner_id: k.text("partner_id").$type<PartnerId>(),
      environment: k.text("environment").$type<Environment>(),
      eid: k.text("eid"),
      /** Who delivered it, and its name there, which stays where an ICCID is used again; null: it was in stock. */
      supplier: k.text("supplier"),
      supplier_ref: k.text("supplier_ref"),
      /** What a unit of stock cost, in 1/10,000 of the currency; null: as its product says. */
      cost: k.int("cost"),
      cost_currency: k.text("cost_currency"),
      /** What the phone made of it; null: its supplier does not show it. */
      install_state: k.text("install_state").$type<InstallState>(),
      /** When its supplier is asked next about its use (ms); null: it is not. */
      look_at: k.int("look_at"),
      /** Since when its ICCID is another eSIM's: suppliers use those of ended eSIMs again; null: it has it. */
      retired_at: k.int("retired_at"),
      /** All its codes as one JSON text, sealed by the vault. The default fills rows from before the column. */
      sealed: k.text("sealed").notNull().default(""),
      status: k.text("status").$type<EsimStatus>().notNull(),
      /** The moment of the last word about its status; null: none came yet. Older words change nothing. */
      status_at: k.int("status_at"),
      created_at: k.int("created_at").notNull(),
      assigned_at: k.int("assigned_at"),
      activated_at: k.int("activated_at"),
      expires_at: k.int("expires_at"),
      /** As last reported; null: never. */
      used_mb: k.int("used_mb"),
      /** As last reported; null: never, then it is what the product promises. */
      total_mb: k.int("total_mb"),
      usage_at: k.int("usage_at"),
      /** The highest percentage of its present allowance that esim.data_low was sent for; null: none. */
      low_data_percent: k.int("low_data_percent"),
      /** The fewest days before its expiry for which an esim.expiring was due, wanted or not; null: none yet. */
      expiry_notice: k.int("expiry_notice"),
      country: k.text("country"),
      network: k.text("network"),
      location_at: k.int("location_at"),
    },
    (t) => [
      // Sandbox ICCIDs from before they were numbered may in theory meet; those of real eSIMs never may.
      k
        .uniqueIndex("esims_iccid_real")
        .on(t.iccid)
        .where(sql`(${t.environment} is null or ${t.environment} = 'production') and ${t.retired_at} is null`),
      k.index("esims_iccid").on(t.iccid),
      k.index("esims_iccid_end").on(iccidEnd, t.id),
      // Stock is in none of the indexes of what is sold: a sale adds entries, and moves none.
      k.index("esims_sold").on(t.order_id, t.id).where(sql`${t.order_id} is not null`),
      // Only what is sold has an owner, and only what was activated expires.
      k
        .index("esims_owned")
        .on(t.partner_id, t.environment, t.status, t.order_id, t.id)
        .where(sql`${t.partner_id} is not null`),
      k
        .index("esims_expiring")
        .on(t.partner_id, t.environment, t.status, t.expires_at, t.id)
        .where(sql`${t.expires_at} is not null`),
      k.index("esims_sold_line").on(t.line_id, t.id).where(sql`${t.line_id} is not null`),
      // Stock never expires: only what was activated is in it.
      k.index("esims_expiry").on(t.status, t.expires_at, t.id).where(sql`${t.expires_at} is not null`),
      // Not by supplier first: PostgreSQL would read it in the place of the next one.
      k.index("esims_supplied").on(t.supplier_ref, t.supplier, t.id).where(sql`supplier_ref is not null`),
      k.index("esims_look").on(t.supplier, t.look_at, t.id).where(sql`look_at is not null`),
      k.index("esims_sandbox").on(t.id).where(sql`environment = 'sandbox'`),
      k.index("esims_stock").on(t.product_id, t.id).where(sql`${t.order_id} is null`),
    ],
  );
  return { esims };
}
