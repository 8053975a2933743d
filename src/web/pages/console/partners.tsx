import { createPartner } from "../../../core/partners/create.ts";
import { listPartners, type Partner } from "../../../core/partners/partner.ts";
import { partnerStatuses, tiers } from "../../../core/store/schema/values.ts";
import type { Query } from "../../../core/store/store.ts";
import { type FieldOf, formShown } from "../../parts/act-form.tsx";
import type { Column } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, choiceField, chosen, field, requiredField, type Shown } from "../../session/visit.ts";

const columns: readonly Column<Partner>[] = [
  { title: "Partner", cell: (one) => ({ text: one.slug, to: `/partners/${one.slug}` }) },
  { title: "Name", cell: (one) => one.name },
  { title: "Status", cell: (one) => ({ status: one.status }) },
  { title: "Tier", cell: (one) => one.tier },
  { title: "Agent", cell: (one) => (one.agent ? "yes" : "no") },
  { title: "Production", cell: (one) => (one.production_enabled ? "open" : "closed") },
  { title: "Since", cell: (one) => ({ time: one.created_at }) },
];

interface PartnerSearch {
  text: string;
  status: Partner["status"] | undefined;
  limit: number;
  /** The slug that the page before ended with. */
  after: string;
}

/** The partners whose slug or name has a text in it, in the order of their slugs. */
const named: Query<PartnerSearch, { rows: Partner[]; next: string | null }> = async (
  q,
  { text, status, limit, after },
) => {
  const sought = text.toLowerCase();
  const fits = ({ slug, name, status: own }: Partner) =>
    slug > after && (status ?? own) === own && `${slug}\n${name.toLowerCase()}`.includes(sought);
  const found = (await listPartners(q, null)).filter(fits);
  const rows = found.slice(0, limit);
  return { rows, next: found.length > limit ? (rows.at(-1)?.slug ?? null) : null };
};

function partnersPage(visit: ConsoleVisit): Promise<Shown> {
  const { query, store } = visit;
  const filter = { text: field(query, "text"), status: chosen(query, "status", partnerStatuses) };
  return listed(visit, {
    title: "Partners",
    path: "/partners",
    caption: "Partners",
    columns,
    filters: [
      { name: "text", label: "Slug or name" },
      { name: "status", label: "Status", options: partnerStatuses },
    ],
    read: ({ limit, cursor = "" }) => store.list(named, { ...filter, limit, after: cursor }),
    empty: "No partner fits. Leave a filter out to see more.",
    none: "No partners yet.",
    above:
      visit.may("partners.write") &&
      formShown(visit, {
        ...{ title: "New partner", folded: { open: visit.problem !== null } },
        ...{ to: "/partners", fields: newPartner, submit: "Create the partner" },
      }),
  });
}

const slugHint = "Lower-case letters, digits and hyphens, for example acme-travel. It stays as it is.";

const newPartner: readonly FieldOf[] = [
  { name: "slug", label: "Slug", hint: slugHint, required: true },
  { name: "name", label: "Name", required: true },
  { name: "tier", label: "Tier", options: tiers, value: "standard" },
  { tick: "agent", label: "Agent: identity pool and bulk activations" },
  { tick: "production", label: "Open production" },
];

async function create(visit: ConsoleVisit): Promise<Shown> {
  const { form } = visit;
  const asked = {
    slug: requiredField(form, "slug"),
    name: requiredField(form, "name"),
    tier: choiceField(form, "tier", tiers),
    agent: field(form, "agent") !== "",
    production: field(form, "production") !== "",
  };
  const { slug } = await visit.write(createPartner, asked);
  return { to: `/partners/${slug}`, notice: `${slug} is created. Invite its people, or make it a credential.` };
}

export const partnersPages = [
  consolePage({ path: "/partners", needs: "partners.read", show: partnersPage }),
  consolePage({ path: "/partners", needs: "partners.write", act: create, again: partnersPage }),
];
