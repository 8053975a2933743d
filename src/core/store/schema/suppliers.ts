import { sql } from "drizzle-orm";
import type { Kit } from "./kit.ts";
import type { SupplierAdapter } from "./values.ts";

/** Who delivers what is not in stock: reached by a signed HTTP exchange or by e-mail. */
export function suppliersTables(k: Kit) {
  const suppliers = k.table("suppliers", {
    name: k.text("name").primaryKey(),
    adapter: k.text("adapter").$type<SupplierAdapter>().notNull(),
    /** Only the HTTP adapter has it. */
    url: k.text("url"),
    /** Whether the operator allows an address beyond loopback without TLS. */
    insecure: k.flag("insecure").notNull().default(sql`0`),
    secret_sealed: k.text("secret_sealed"),
    /** Only the e-mail adapter has these: whom to write to, and the operator's own template. */
    to_address: k.text("to_address"),
    template: k.text("template"),
    created_at: k.int("created_at").notNull(),
    updated_at: k.int("updated_at").notNull(),
  });
  return { suppliers };
}
