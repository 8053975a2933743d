import { sql } from "drizzle-orm";
import type { Kit } from "./kit.ts";
import type { CarrierAdapter, KycField } from "./values.ts";

/** Carriers of physical SIMs, by the prefix of their ICCIDs. */
export function carriersTables(k: Kit) {
  const carriers = k.table("carriers", {
    /** Digits; the longest one that an ICCID begins with decides. */
    prefix: k.text("prefix").primaryKey(),
    name: k.text("name").notNull(),
    region: k.text("region").notNull(),
    /** Carriers of one brand share the cap on passport uses. */
    brand: k.text("brand").notNull(),
    required_fields: k.json<KycField[]>("required_fields").notNull(),
    adapter: k.text("adapter").$type<CarrierAdapter>().notNull(),
    /** Where requests are posted; only the http adapter has one. */
    url: k.text("url"),
    /** Whether the operator allows an address beyond loopback without TLS. */
    insecure: k.flag("insecure").notNull().default(sql`0`),
    /** The key of both signatures, sealed by the vault. */
    secret_sealed: k.text("secret_sealed"),
    /** How long one exchange may take. */
    timeout_ms: k.int("timeout_ms").notNull(),
    /** How long after acceptance the final answer may take. */
    answer_within_ms: k.int("answer_within_ms").notNull(),
    created_at: k.int("created_at").notNull(),
    updated_at: k.int("updated_at").notNull(),
  });
  return { carriers };
}
