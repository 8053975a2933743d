import { eq } from "drizzle-orm";
import type { PartnerId } from "../kernel/brand.ts";
import { isoTime } from "../kernel/clock.ts";
import { notFound } from "../kernel/problem.ts";
import { limitsOf, type PartnerLimits } from "../platform/partner-limits.ts";
import { type PartnerThresholds, thresholdsOf } from "../platform/partner-thresholds.ts";
import { findByKey } from "../store/rows.ts";
import type { Row } from "../store/schema/tables.ts";
import type { PartnerStatus, Tier } from "../store/schema/values.ts";
import { first, type Slots, statement } from "../store/statement.ts";
import type { Read } from "../store/store.ts";
import { allCreditLines, type CreditLine, creditLinesOf } from "./credit-line.ts";
import { ratesOf } from "./rates.ts";

/** A partner as the operator's commands print it. */
export interface Partner {
  id: PartnerId;
  slug: string;
  name: string;
  status: PartnerStatus;
  tier: Tier;
  rate_limit_per_minute: number;
  agent: boolean;
  production_enabled: boolean;
  limits: PartnerLimits;
  /** What has events once it is crossed. */
  thresholds: PartnerThresholds;
  credit_lines: CreditLine[];
  /** Whose prices it has; null: the catalog's. */
  price_list: string | null;
  created_at: string;
  suspended_reason: string | null;
  /** How its customers reach it, as install pages say it. */
  support: string | null;
}

function toPartner(row: Row<"partners">, credit_lines: CreditLine[]): Partner {
  const { each, together } = ratesOf(row);
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    status: row.status,
    tier: row.tier,
    rate_limit_per_minute: each,
    agent: row.agent,
    production_enabled: row.production,
    limits: { ...limitsOf(row), max_requests_per_minute: together },
    thresholds: thresholdsOf(row),
    credit_lines,
    price_list: row.price_list,
    created_at: isoTime(row.created_at),
    suspended_reason: row.suspended_reason,
    support: row.support,
  };
}

const bySlug = statement((db, t, slot: Slots<{ slug: string }>) =>
  db.select().from(t.partners).where(eq(t.partners.slug, slot.slug)),
);

/** The partner's row, or null when no partner has this slug. */
export async function findPartner(q: Read, slug: string): Promise<Row<"partners"> | null> {
  return first(await bySlug(q, { slug }));
}

/** The partner's row. Throws `not_found` when no partner has this slug. */
export async function requirePartner(q: Read, slug: string): Promise<Row<"partners">> {
  const row = await findPartner(q, slug);
  if (row === null) throw notFound("partner", slug);
  return row;
}

/** The row of a partner that is known to exist. */
export async function partnerById(q: Read, id: PartnerId): Promise<Row<"partners">> {
  const row = await findByKey(q, "partners", { id });
  if (row === null) throw notFound("partner");
  return row;
}

const all = statement((db, t, _slot) => db.select().from(t.partners).orderBy(t.partners.slug));

/** Every partner, by slug. */
export async function listPartners(q: Read, _input: null): Promise<Partner[]> {
  const lines = await allCreditLines(q);
  return (await all(q, {})).map((row) => toPartner(row, lines.get(row.id) ?? []));
}

/** One partner. Throws `not_found`. */
export async function showPartner(q: Read, slug: string): Promise<Partner> {
  return wholePartner(q, await requirePartner(q, slug));
}

/** A row as people and programs see it, with what other tables hold of the partner. */
export async function wholePartner(q: Read, row: Row<"partners">): Promise<Partner> {
  return toPartner(row, await creditLinesOf(q, row.id));
}
