import type { WebhookId } from "../../../core/kernel/brand.ts";
import { withoutHidden } from "../../../core/kernel/hidden-characters.ts";
import { notFound } from "../../../core/kernel/problem.ts";
import { requirePartner } from "../../../core/partners/partner.ts";
import type { Read } from "../../../core/store/store.ts";
import { webhooksOfPartner } from "../../../core/webhooks/list.ts";
import { updateWebhook } from "../../../core/webhooks/update.ts";
import { requireWebhook, toWebhookDetail, type WebhookDetail } from "../../../core/webhooks/webhook.ts";
import { ABOUT_DISABLING, ABOUT_ENABLING } from "../../../core/webhooks/words.ts";
import { actPage } from "../../parts/act-page.tsx";
import { endpointFacts, endpointHealth, endpointIs } from "../../parts/endpoint-facts.ts";
import type { Column } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { partOfWhole } from "../../parts/part-of-whole.ts";
import { backLink, changeWords, links, pageShown, record } from "../../parts/shown.tsx";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, idIn, type Shown } from "../../session/visit.ts";
import { storyOf } from "./audit-history.ts";
import { timelineShown } from "./history.tsx";
import { PartnerLinks, slugOf } from "./partner-links.tsx";

const pathOf = (slug: string) => `/partners/${slug}/endpoints`;

const columnsOf = (slug: string): readonly Column<WebhookDetail>[] => [
  { title: "URL", cell: (one) => ({ text: one.url, to: `${pathOf(slug)}/${one.id}` }) },
  { title: "Environment", cell: (one) => one.environment },
  { title: "Description", cell: (one) => one.description },
  { title: "Status", cell: (one) => ({ status: one.status }) },
  { title: "Health", cell: endpointHealth },
  { title: "Waiting", right: true, cell: (one) => one.pending_deliveries },
  { title: "Last attempt", cell: (one) => ({ time: one.last_delivery?.at ?? null }) },
];

async function allOf(q: Read, slug: string): Promise<WebhookDetail[]> {
  return webhooksOfPartner(q, (await requirePartner(q, slug)).id);
}

async function endpointsPage(visit: ConsoleVisit): Promise<Shown> {
  const slug = slugOf(visit);
  const all = await visit.store.read(allOf, slug);
  return listed(visit, {
    ...{ title: `Endpoints of ${slug}`, path: pathOf(slug), columns: columnsOf(slug) },
    read: async (page) => partOfWhole(all, page),
    empty: "None. Every event is in the feed of events all the same.",
    above: <PartnerLinks visit={visit} slug={slug} />,
  });
}

interface Asked {
  slug: string;
  id: WebhookId;
}

/** An endpoint of a partner. Throws `not_found`. */
async function seen(q: Read, { slug, id }: Asked) {
  const { id: partnerId } = await requirePartner(q, slug);
  const row = await requireWebhook(q, id);
  if (row.partner_id !== partnerId) throw notFound("webhook");
  const { environment } = row;
  const history = await storyOf(q, id);
  return { slug, owner: { partnerId, environment }, webhook: await toWebhookDetail(q, row), history };
}

const seenIn = (visit: ConsoleVisit) => visit.store.read(seen, { slug: slugOf(visit), id: idIn<WebhookId>(visit) });

type Endpoint = Awaited<ReturnType<typeof seen>>;

const at = ({ slug, webhook }: Endpoint) => `${pathOf(slug)}/${webhook.id}`;

async function endpointPage(visit: ConsoleVisit): Promise<Shown> {
  const endpoint = await seenIn(visit);
  const { slug, owner, webhook, history } = endpoint;
  const verb = webhook.status === "active" ? "disable" : "enable";
  const acts = links(visit, [
    [`/deliveries?endpoint=${webhook.id}`, "Its deliveries"],
    visit.may("deliveries.write") ? [`${at(endpoint)}/${verb}`, verbs[verb].title] : null,
  ]);
  return pageShown(visit, webhook.description ?? webhook.url, [
    record(visit, [["Partner", `${slug} (${owner.environment})`], ...endpointFacts(webhook)], acts),
    await timelineShown(visit, history),
    backLink(visit, pathOf(slug), "All endpoints of the partner"),
  ]);
}

const verbs = {
  disable: { title: "Disable", status: "disabled", words: ABOUT_DISABLING },
  enable: { title: "Enable", status: "active", words: ABOUT_ENABLING },
} as const;

const act = (verb: keyof typeof verbs) => {
  const { title, status, words } = verbs[verb];
  return actPage({
    ...{ verb, button: title, bad: verb === "disable", fields: [], command: updateWebhook, read: seenIn, at },
    title: () => `${title} this endpoint?`,
    input: (_visit, { owner, webhook }) => ({ id: webhook.id, owner, status }),
    foresee: (changed, { slug, webhook }) => [
      <p>{`${withoutHidden(webhook.url)} of ${slug} (${webhook.environment})`}</p>,
      <p>{words}</p>,
      <p>{changeWords(webhook.status, changed.status)}</p>,
    ],
    done: () => endpointIs(status, "in its deliveries"),
  });
};

const path = "/partners/:slug/endpoints";

/** The endpoints of a partner with their health, and where one is disabled or enabled. */
export const partnerEndpointPages = [
  consolePage({ path, needs: "partners.read", show: endpointsPage }),
  consolePage({ path: `${path}/:id`, needs: "partners.read", show: endpointPage }),
  ...(["disable", "enable"] as const).map((verb) =>
    consolePage({ path: `${path}/:id/${verb}`, needs: "deliveries.write", ...act(verb) }),
  ),
];
