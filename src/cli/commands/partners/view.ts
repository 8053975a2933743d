import type { Partner } from "../../../core/partners/partner.ts";
import { type Result, recordResult } from "../../output/result.ts";
import type { Column, Sheet } from "../../output/sheet.ts";
import { moment, shown, statusPaint, yesNo } from "../../output/words.ts";

/** The keys of a partner's JSON. */
export const PARTNER_JSON =
  "{id, slug, name, status, suspended_reason, tier, rate_limit_per_minute, agent, production_enabled, created_at, " +
  "limits: " +
  "{max_endpoints, max_pool, max_open_activations, max_sandbox_activations, max_pending_deliveries, max_days_ahead, " +
  "max_requests_per_minute, " +
  "sandbox_activations}, thresholds: {low_wallet: {AUD: cents}, low_data, expiry_days}, " +
  "credit_lines: [{currency, limit_cents, used_cents, available_cents}], price_list, support}";

export const partnerColumns: Column<Partner>[] = [
  { title: "slug", value: (partner) => partner.slug },
  { title: "name", value: (partner) => partner.name, shrinks: true },
  { title: "status", value: (partner) => partner.status, paint: (sheet, { status }) => statusPaint(sheet, status) },
  { title: "tier", value: (partner) => partner.tier, spare: 2 },
  { title: "per minute", value: (partner) => partner.rate_limit_per_minute, align: "right", spare: true },
  { title: "agent", value: (partner) => yesNo(partner.agent), spare: 1 },
  { title: "production", value: (partner) => yesNo(partner.production_enabled) },
];

/** One partner, as all verbs that change or show one print it. */
export function partnerResult(partner: Partner): Result {
  return recordResult(partner, (sheet) => ({
    slug: partner.slug,
    name: shown(partner.name),
    id: partner.id,
    status: statusPaint(sheet, partner.status)(partner.status),
    ...(partner.suspended_reason === null ? {} : { "suspended for": shown(partner.suspended_reason) }),
    tier: `${partner.tier} (${partner.rate_limit_per_minute} requests a minute)`,
    agent: yesNo(partner.agent),
    production: yesNo(partner.production_enabled),
    support: shown(partner.support),
    created: moment(partner.created_at),
    ...limitRows(partner.limits),
    ...thresholdRows(sheet, partner.thresholds),
    "credit line": creditWords(sheet, partner),
    prices: partner.price_list ?? "the catalog's",
  }));
}

function thresholdRows(sheet: Sheet, thresholds: Partner["thresholds"]): Record<string, string> {
  const { low_wallet, low_data, expiry_days } = thresholds;
  const amounts = Object.entries(low_wallet).map(([currency, cents]) => sheet.money(cents, currency));
  return {
    "wallet is low": amounts.length === 0 ? "no threshold" : `below ${amounts.join(", ")}`,
    "data is low": low_data.length === 0 ? "no threshold" : `at ${low_data.join(", ")} %`,
    "eSIM expires": expiry_days.length === 0 ? "no notice" : `notice ${expiry_days.join(", ")} days before`,
  };
}

function creditWords({ money }: Sheet, { credit_lines }: Partner): string {
  const words = credit_lines.map(
    ({ currency, limit_cents, used_cents }) => `${money(limit_cents, currency)}, ${money(used_cents, currency)} drawn`,
  );
  return words.join("; ") || "none";
}

function limitRows({ sandbox_activations, ...bounds }: Partner["limits"]): Record<string, string> {
  const most = (bound: number | null) => (bound === null ? "no limit" : `at most ${bound}`);
  return {
    endpoints: `${most(bounds.max_endpoints)} per environment`,
    pool: `${most(bounds.max_pool)}${bounds.max_pool === null ? "" : " passports per environment"}`,
    "open activations": most(bounds.max_open_activations),
    "sandbox activations": sandbox_activations ? `${most(bounds.max_sandbox_activations)} open` : "not allowed",
    "pending deliveries": `${most(bounds.max_pending_deliveries)} per endpoint`,
    "days ahead": most(bounds.max_days_ahead),
    "requests a minute": `${most(bounds.max_requests_per_minute)} over all credentials`,
  };
}
