import type { ComponentChildren } from "preact";
import { viewAs } from "../../../core/accounts/sessions.ts";
import { auditOfPartner } from "../../../core/audit/list.ts";
import { failingEndpoints } from "../../../core/insight/status.ts";
import { type Partner, requirePartner, showPartner } from "../../../core/partners/partner.ts";
import type { Read } from "../../../core/store/store.ts";
import { walletBalances } from "../../../core/wallet/balances.ts";
import { formShown } from "../../parts/act-form.tsx";
import { type Fields, pageShown, record, table } from "../../parts/shown.tsx";
import { plain } from "../../parts/words.ts";
import { consolePage } from "../../session/page.ts";
import type { ConsoleVisit, Shown } from "../../session/visit.ts";
import { auditHistory } from "./audit-history.ts";
import { cutShown, timelineShown } from "./history.tsx";
import { PartnerLinks, slugOf } from "./partner-links.tsx";
import { moneyShown } from "./partner-wallet.tsx";

const HISTORY_LINES = 50;

async function seen(q: Read, slug: string) {
  const partner = await showPartner(q, slug);
  const { id: partnerId } = partner;
  const { balances } = await walletBalances(q, partnerId);
  const failing = (await failingEndpoints(q)).filter((one) => one.partner === partner.slug);
  return { partner, balances, failing, audit: await auditOfPartner(q, { partnerId, limit: HISTORY_LINES }) };
}

/** A partner: what holds for it, its money, what fails, and its history. */
export async function partnerPage(visit: ConsoleVisit): Promise<Shown> {
  const { partner, balances, failing, audit } = await visit.store.read(seen, slugOf(visit));
  const { slug } = partner;
  const { sandbox_activations: _, ...bounds } = partner.limits;
  const history = auditHistory(audit, { money: visit.may("money.read") });
  const limits = Object.entries(bounds).map(([name, most]) => [plain(name), most ?? "no limit"] as const);
  const body = (
    <>
      <PartnerLinks visit={visit} slug={slug} />
      {record(visit, factsOf(partner))}
      <details>
        <summary>Limits</summary>
        {record(visit, limits)}
      </details>
      {visit.may("money.read") && moneyShown(visit, slug, balances)}
      {table(visit, { title: "Endpoints that fail", rows: failing }, [
        { title: "Address", cell: ({ url, id }) => ({ text: url, to: `/deliveries?status=failed&endpoint=${id}` }) },
        { title: "Status", cell: (one) => ({ status: one.status }) },
        { title: "Since", cell: (one) => ({ time: one.failing_since }) },
        { title: "Failed attempts", right: true, cell: (one) => one.failed_attempts },
        { title: "Last answer", right: true, cell: (one) => one.last_status_code },
        { title: "ID", cell: ({ id }) => ({ text: id, to: `/partners/${slug}/endpoints/${id}` }) },
      ])}
      {visit.may("partners.write") && access(visit, partner)}
      {await timelineShown(visit, history)}
      {cutShown(visit, { moments: history, most: HISTORY_LINES, filter: { partner: slug } })}
    </>
  );
  return pageShown(visit, partner.name, body);
}

const factsOf = (partner: Partner): Fields => [
  ["Status", { status: partner.status }],
  ...(partner.status === "suspended" ? [["Reason", partner.suspended_reason] as const] : []),
  ["Slug", partner.slug],
  ["Tier", `${partner.tier}, ${partner.rate_limit_per_minute} requests a minute`],
  ["Prices", { text: partner.price_list ?? "the catalog's", to: `/partners/${partner.slug}/prices` }],
  ["Production", partner.production_enabled ? "open" : "closed"],
  ["Agent", partner.agent ? "yes" : "no"],
  ["Sandbox activations", partner.limits.sandbox_activations ? "allowed" : "not allowed"],
  ["Customers reach it by", partner.support],
  ["Since", { time: partner.created_at }],
  ["ID", partner.id],
];

/** Where a partner loses its access, or gets it back. */
function access(visit: ConsoleVisit, { slug, status }: Partner): ComponentChildren {
  const hint = "For your colleagues; the partner does not see it.";
  if (status !== "suspended") {
    return formShown(visit, {
      ...{ title: "Access", to: `/partners/${slug}/suspend`, submit: "Suspend the partner", bad: true },
      fields: [{ name: "reason", label: "Reason", hint }],
    });
  }
  const resume = { title: "Access", to: `/partners/${slug}/resume`, submit: "Resume the partner" };
  return formShown(visit, { ...resume, fields: [] });
}

async function look(visit: ConsoleVisit): Promise<Shown> {
  const { store, session } = visit;
  const { id: partnerId } = await store.read(requirePartner, slugOf(visit));
  await visit.write(viewAs, { id: session.id, partnerId });
  return { face: "portal", to: "" };
}

export const partnerPages = [
  consolePage({ path: "/partners/:slug", needs: "partners.read", show: partnerPage }),
  consolePage({ path: "/partners/:slug/view-as", needs: "view_as", act: look }),
];
