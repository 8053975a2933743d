import { sql } from "drizzle-orm";
import type { PartnerId, PassportId } from "../../kernel/brand.ts";
import type { Environment } from "../../kernel/environment.ts";
import type { Kit } from "./kit.ts";
import type { partnersTables } from "./partners.ts";
import type { NamedKind, Verification } from "./values.ts";

/** The identity pools of partners, and which request used which passport. */
export function passportsTables(k: Kit, { partners }: Pick<ReturnType<typeof partnersTables>, "partners">) {
  const passports = k.table(
    "passports",
    {
      id: k.text("id").$type<PassportId>().primaryKey(),
      partner_id: k
        .text("partner_id")
        .$type<PartnerId>()
        .notNull()
        .references(() => partners.id),
      environment: k.text("environment").$type<Environment>().notNull(),
      /** ISO 3166-1 alpha-3. */
      passport_country: k.text("passport_country").notNull(),
      passport_expiry: k.text("passport_expiry").notNull(),
      /** The partner's own note of it. */
      reference: k.text("reference"),
      /** Names, number, date of birth and address as one JSON text, sealed by the vault. */
      sealed: k.text("sealed").notNull(),
      /** Blind index of the normalized number. */
      number_index: k.text("number_index").notNull(),
      verification: k.text("verification").$type<Verification>().notNull(),
      /** Why it was rejected. */
      rejection: k.text("rejection"),
      onshore: k.flag("onshore").notNull(),
      /** Verified, onshore and not withdrawn: may be drawn on dates before its expiry. */
      drawable: k.flag("drawable").notNull(),
      /** Draws that were not released, over all brands. Above 0 it is in use. */
      use_count: k.int("use_count").notNull(),
      /** The request that drew it last, unless that draw was released. */
      assigned_request_id: k.text("assigned_request_id"),
      /** `IN_POOL`; once it is withdrawn its own id, so that country and number are free again. */
      pool_key: k.text("pool_key").notNull(),
      withdrawn_at: k.int("withdrawn_at"),
      /** The `passport_expiry` that passport.expiring was sent for; null: none. */
      expiry_notice: k.text("expiry_notice"),
      created_at: k.int("created_at").notNull(),
      updated_at: k.int("updated_at").notNull(),
    },
    (t) => [
      // Led by the number: one index keeps the pool free of duplicates and finds a number in any pool.
      k.uniqueIndex("passports_number").on(t.number_index, t.partner_id, t.environment, t.passport_country, t.pool_key),
      k.index("passports_list").on(t.partner_id, t.environment, t.pool_key, t.created_at, t.id),
      k.index("passports_list_expiry").on(t.partner_id, t.environment, t.pool_key, t.passport_expiry, t.id),
      k.index("passports_queue").on(t.pool_key, t.verification, t.created_at, t.id),
      k.index("passports_draw").on(t.partner_id, t.environment, t.drawable, t.use_count, t.id),
      k.index("passports_expiry").on(t.passport_expiry, t.id),
      k
        .index("passports_expiry_notice")
        .on(t.pool_key, t.passport_expiry, t.id)
        .where(sql`expiry_notice is null or expiry_notice <> passport_expiry`),
      k.index("passports_withdrawn").on(t.withdrawn_at, t.id),
    ],
  );

  const passportUses = k.table(
    "passport_uses",
    {
      id: k.text("id").primaryKey(),
      /** No foreign key: who used it stays known when the passport itself is purged. */
      passport_id: k.text("passport_id").$type<PassportId>().notNull(),
      brand: k.text("brand").notNull(),
      request_id: k.text("request_id").notNull(),
      carrier: k.text("carrier").notNull(),
      /** Who caused the draw, as the audit trail names them. */
      actor: k.text("actor").notNull(),
      drawn_at: k.int("drawn_at").notNull(),
      released_at: k.int("released_at"),
    },
    (t) => [
      k.index("passport_uses_passport").on(t.passport_id, t.brand, t.released_at),
      k.index("passport_uses_request").on(t.request_id, t.id),
    ],
  );

  return { passports, passportUses };
}

/** The blind index of the people that records name. */
export function peopleTables(k: Kit) {
  const peopleIndex = k.table(
    "people_index",
    {
      /** A keyed mark of a word, an address or the end of a number, within one partner and environment. */
      digest: k.text("digest").notNull(),
      record_id: k.text("record_id").notNull(),
      kind: k.text("kind").$type<NamedKind>().notNull(),
    },
    (t) => [
      k.primaryKey({ columns: [t.digest, t.record_id] }),
      // Leads to the rows of a record that is cleared or deleted.
      k.index("people_index_record").on(t.record_id),
    ],
  );
  return { peopleIndex };
}
