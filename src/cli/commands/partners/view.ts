import type { Partner } from "../../../core/partners/partner.ts";
import { type Result, recordResult } from "../../output/result.ts";
import type { Column } from "../../output/sheet.ts";
import { moment, shown, statusPaint, yesNo } from "../../output/words.ts";

/** The keys of a partner's JSON. */
export const PARTNER_JSON =
  "{id, slug, name, status, tier, rate_limit_per_minute, agent, production_enabled, created_at}";

export const partnerColumns: Column<Partner>[] = [
  { title: "slug", value: (partner) => partner.slug },
  { title: "name", value: (partner) => partner.name, shrinks: true },
  { title: "status", value: (partner) => partner.status, paint: (sheet, { status }) => statusPaint(sheet, status) },
  { title: "tier", value: (partner) => partner.tier },
  { title: "per minute", value: (partner) => partner.rate_limit_per_minute, align: "right" },
  { title: "agent", value: (partner) => yesNo(partner.agent) },
  { title: "production", value: (partner) => yesNo(partner.production_enabled) },
];

/** One partner, as all verbs that change or show one print it. */
export function partnerResult(partner: Partner): Result {
  return recordResult(partner, (sheet) => ({
    slug: partner.slug,
    name: shown(partner.name),
    id: partner.id,
    status: statusPaint(sheet, partner.status)(partner.status),
    tier: `${partner.tier} (${partner.rate_limit_per_minute} requests a minute)`,
    agent: yesNo(partner.agent),
    production: yesNo(partner.production_enabled),
    created: moment(partner.created_at),
  }));
}
