import { sql } from "drizzle-orm";
import type { PartnerId } from "../../kernel/brand.ts";
import type { Environment } from "../../kernel/environment.ts";
import type { Kit } from "./kit.ts";
import type { PartnerStatus, SpendCap, Tier } from "./values.ts";

/** Partners, their credentials, and the keys that sign their tokens. */
export function partnersTables(k: Kit) {
  const partners = k.table("partners", {
    id: k.text("id").$type<PartnerId>().primaryKey(),
    slug: k.text("slug").notNull().unique("partners_slug"),
    name: k.text("name").notNull(),
    status: k.text("status").$type<PartnerStatus>().notNull(),
    /** How its customers reach it, as install pages say it; null: it is not known. */
    support: k.text("support"),
    /** Why it is suspended, for operators; null: it is not, or no reason was given. */
    suspended_reason: k.text("suspended_reason"),
    tier: k.text("tier").$type<Tier>().notNull(),
    /** Requests a minute per client id; null: the tier's own limit. */
    rate_limit: k.int("rate_limit"),
    /** Whose prices it has; null: the catalog's. */
    price_list: k.text("price_list"),
    agent: k.flag("agent").notNull(),
    production: k.flag("production").notNull(),
    /** Bounds that the operator set; null: the default, see platform/partner-limits.ts. */
    max_endpoints: k.int("max_endpoints"),
    max_pool: k.int("max_pool"),
    max_open_activations: k.int("max_open_activations"),
    max_sandbox_activations: k.int("max_sandbox_activations"),
    max_pending_deliveries: k.int("max_pending_deliveries"),
    max_days_ahead: k.int("max_days_ahead"),
    max_requests_per_minute: k.int("max_requests_per_minute"),
    /** Whether its sandbox credentials may submit activation requests, which are real. */
    sandbox_activations: k.flag("sandbox_activations").notNull().default(sql`1`),
    /** By currency, the least balance that is not low (minor units); null: none is set. */
    low_wallet: k.json<Record<string, number>>("low_wallet"),
    /** Percents of an eSIM's data, and days before its expiry, that have events; null: the default. */
    low_data: k.json<number[]>("low_data"),
    expiry_days: k.json<number[]>("expiry_days"),
    /** Whether its people sign in with a second factor only. */
    factor_required: k.flag("factor_required").notNull().default(sql`0`),
    created_at: k.int("created_at").notNull(),
    updated_at: k.int("updated_at").notNull(),
  });

  const credentials = k.table(
    "credentials",
    {
      client_id: k.text("client_id").primaryKey(),
      partner_id: k
        .text("partner_id")
        .$type<PartnerId>()
        .notNull()
        .references(() => partners.id),
      environment: k.text("environment").$type<Environment>().notNull(),
      /** The keyed mark of the 256-bit random secret (vault.ts). */
      secret_hash: k.text("secret_hash").notNull(),
      scopes: k.json<string[]>("scopes").notNull(),
      label: k.text("label"),
      created_at: k.int("created_at").notNull(),
      rotated_at: k.int("rotated_at"),
      revoked_at: k.int("revoked_at"),
      /** Guard rails; null: none. Networks in CIDR notation that it may be used from. */
      allowed_addresses: k.json<string[]>("allowed_addresses"),
      /** From when on it is invalid. */
      expires_at: k.int("expires_at"),
      spend_caps: k.json<SpendCap[]>("spend_caps"),
      /** Whether it is refused what has to do with identities: passports, and submitting or editing activations. */
      no_identity: k.flag("no_identity").notNull().default(sql`0`),
      /** The credential whose guard rails hold in place of its own: the one that created it, or that one's own. */
      guarded_by: k.text("guarded_by"),
    },
    (t) => [
      k.index("credentials_partner").on(t.partner_id, t.created_at, t.client_id),
      k.index("credentials_guarded").on(t.guarded_by).where(sql`guarded_by is not null`),
    ],
  );

  const credentialSpending = k.table(
    "credential_spending",
    {
      /** The credential whose caps count it. */
      client_id: k
        .text("client_id")
        .notNull()
        .references(() => credentials.client_id),
      environment: k.text("environment").$type<Environment>().notNull(),
      currency: k.text("currency").notNull(),
      /** The UTC day that the sum is of, YYYY-MM-DD. */
      day: k.text("day").notNull(),
      /** The totals of the orders of that day; refunds do not lower it. */
      spent_cents: k.int("spent_cents").notNull(),
    },
    (t) => [k.primaryKey({ columns: [t.client_id, t.environment, t.currency] })],
  );

  const signingKeys = k.table("signing_keys", {
    kid: k.text("kid").primaryKey(),
    public_jwk: k.json<{ kty: string; crv: string; x: string }>("public_jwk").notNull(),
    /** The private JWK, sealed by the vault. */
    private_sealed: k.text("private_sealed").notNull(),
    created_at: k.int("created_at").notNull(),
    /** Since when it signs nothing more; it verifies until the last token it signed has expired. */
    retired_at: k.int("retired_at"),
  });

  return { partners, credentials, credentialSpending, signingKeys };
}

/** How far the sandbox clock of each partner is ahead. A partner without a row has the system's time. */
export function sandboxTables(k: Kit, { partners }: Pick<ReturnType<typeof partnersTables>, "partners">) {
  const sandboxClocks = k.table("sandbox_clocks", {
    partner_id: k
      .text("partner_id")
      .$type<PartnerId>()
      .primaryKey()
      .references(() => partners.id),
    ahead_ms: k.int("ahead_ms").notNull(),
    /** Until when, by this clock, all notices of expiry are written. Null: an earlier version advanced the clock. */
    notices_through: k.int("notices_through"),
  });
  return { sandboxClocks };
}
