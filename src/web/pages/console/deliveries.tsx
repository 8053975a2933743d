import type { DeliveryId, WebhookId } from "../../../core/kernel/brand.ts";
import { listPartners, partnerById } from "../../../core/partners/partner.ts";
import type { Read } from "../../../core/store/store.ts";
import { type Delivery, type DeliveryFilter, listDeliveries, showDelivery } from "../../../core/webhooks/deliveries.ts";
import { AGAIN, onTheWay } from "../../../core/webhooks/on-the-way.ts";
import { redeliver } from "../../../core/webhooks/redeliver.ts";
import { findWebhooks } from "../../../core/webhooks/webhook.ts";
import { actPage } from "../../parts/act-page.tsx";
import { ActButton } from "../../parts/form.tsx";
import type { Column } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { backLink, changeWords, links, pageShown, record, table } from "../../parts/shown.tsx";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, field, idIn, type Shown } from "../../session/visit.ts";
import { dayFilters, overAll, partnerFilter } from "./all-partners.ts";
import { narrowing, sendAllAgain } from "./deliveries-again.tsx";

const PATH = "/deliveries";

type Listed = Delivery & { partner: string | null };

/** A page of deliveries, each with its partner; null where its endpoint was deleted. */
async function withPartners(q: Read, filter: DeliveryFilter): Promise<{ data: Listed[]; next_cursor: string | null }> {
  const { data, next_cursor } = await listDeliveries(q, filter);
  const endpoints = await findWebhooks(
    q,
    data.map(({ endpoint_id }) => endpoint_id),
  );
  const slugs = new Map((await listPartners(q, null)).map(({ id, slug }) => [id, slug]));
  const partnerOf = ({ endpoint_id }: Delivery): string | null => {
    const endpoint = endpoints.get(endpoint_id);
    if (endpoint === undefined) return null;
    const slug = slugs.get(endpoint.partner_id) ?? endpoint.partner_id;
    return endpoint.environment === "sandbox" ? `${slug} (sandbox)` : slug;
  };
  return { data: data.map((one) => ({ ...one, partner: partnerOf(one) })), next_cursor };
}

/** What the endpoint answered last, or why nothing was sent. */
function answerOf({ attempts, held_reason }: Delivery): string | null {
  if (held_reason === "pending_limit") return "held: too many wait for this endpoint";
  const last = attempts.at(-1);
  if (last === undefined) return null;
  return last.status_code === null ? last.error : `${last.status_code}`;
}

const columns: readonly Column<Listed>[] = [
  { title: "Event", cell: (one) => ({ text: one.event, to: `${PATH}/${one.id}` }) },
  { title: "Partner", cell: (one) => one.partner },
  { title: "Endpoint", cell: (one) => one.url ?? "(deleted)" },
  { title: "Status", cell: (one) => ({ status: one.status }) },
  { title: "Attempts", right: true, cell: (one) => one.attempts.length },
  { title: "Response", cell: answerOf },
  { title: "Next attempt", cell: (one) => ({ time: one.next_attempt_at }) },
  { title: "Made", cell: (one) => ({ time: one.created_at }) },
  { title: "Event ID", cell: (one) => one.event_id },
];

async function deliveriesPage(visit: ConsoleVisit): Promise<Shown> {
  const { query, store } = visit;
  const { environment: _, partnerId, ...created } = await overAll(visit);
  const of = partnerId && { partnerId };
  const hidden = Object.fromEntries(narrowing.map((name) => [name, field(query, name)]));
  return listed(visit, {
    title: "Webhook deliveries",
    path: PATH,
    caption: "Deliveries to the endpoints of all partners, newest first",
    columns,
    filters: [
      await partnerFilter(visit),
      { name: "status", label: "Status", options: [["failed", "held or exhausted"]] },
      { name: "endpoint", label: "Endpoint (ID)" },
      ...dayFilters,
    ],
    read: (page, { status, endpoint }) => {
      // Any text: one that is no endpoint's id is not found.
      const endpointId = endpoint as WebhookId | undefined;
      return store.list(withPartners, { of, endpointId, failed: status === "failed", created, ...page });
    },
    empty: "No delivery fits. They are kept for 90 days.",
    none: "Nothing was sent yet. Deliveries are kept for 90 days.",
    above: visit.may("deliveries.write") && (
      <div class="acts">
        <ActButton visit={visit} to={`${PATH}/redeliver`} label="Send again what failed of these" hidden={hidden} />
      </div>
    ),
  });
}

async function seen(q: Read, id: DeliveryId) {
  const delivery = await showDelivery(q, id);
  return { ...delivery, partner: (await partnerById(q, delivery.partner_id)).slug };
}

const seenIn = (visit: ConsoleVisit) => visit.store.read(seen, idIn<DeliveryId>(visit)); // the database decides

async function deliveryPage(visit: ConsoleVisit): Promise<Shown> {
  const one = await seenIn(visit);
  const { endpoint_status: state, endpoint_id, url } = one;
  const fields = [
    ["Status", { status: one.status }],
    ["Why", one.cleared ? "its body was cleared with the personal data in it: it cannot be sent" : answerOf(one)],
    ["Partner", `${one.partner} (${one.environment})`],
    ["Endpoint", url === null ? "(deleted)" : { text: url, to: `${PATH}?endpoint=${endpoint_id}` }],
    ["Endpoint is", state && { status: state }],
    ["Next attempt", { time: one.next_attempt_at }],
    ["Made", { time: one.created_at }],
    ["Event ID", one.event_id],
    ["ID", one.id],
  ] as const;
  const canSend = visit.may("deliveries.write") && state === "active" && !one.cleared;
  return pageShown(visit, `Delivery of ${one.event}`, [
    record(
      visit,
      fields,
      links(visit, [
        canSend ? [`${PATH}/${one.id}/redeliver`, "Send it again"] : null,
        url === null ? null : [`/partners/${one.partner}/endpoints/${endpoint_id}`, "The endpoint"],
      ]),
    ),
    table(visit, { title: "Attempts", rows: one.attempts, empty: "None yet." }, [
      { title: "At", cell: ({ at }) => ({ time: at, exact: true }) },
      { title: "Code", right: true, cell: ({ status_code: code }) => code },
      { title: "ms", right: true, cell: ({ latency_ms: ms }) => ms },
      { title: "Error", cell: ({ error }) => error },
    ]),
    backLink(visit, PATH, "All deliveries"),
  ]);
}

const sending = actPage({
  ...{ verb: "redeliver", button: "Send it again", fields: [], command: redeliver, read: seenIn },
  at: ({ id }) => `${PATH}/${id}`,
  title: ({ event }) => `Send ${event} again?`,
  input: (_visit, { id }) => ({ id }),
  foresee: (_sent, { url, partner, environment, status }) => [
    <p>{`It is sent to ${url} of ${partner} (${environment}) at once, ${AGAIN}.`}</p>,
    status === "delivered" && <p>It arrived before: the endpoint gets it twice.</p>,
    <p>{changeWords(status, "pending")}</p>,
  ],
  done: () => onTheWay(1),
});

const act = { needs: "deliveries.write" } as const;

/** What goes to partners' endpoints, and sending again what did not arrive. */
export const deliveryPages = [
  consolePage({ path: PATH, needs: "partners.read", show: deliveriesPage }),
  consolePage({ ...act, path: `${PATH}/redeliver`, act: sendAllAgain }),
  consolePage({ path: `${PATH}/:id`, needs: "partners.read", show: deliveryPage }),
  consolePage({ ...act, path: `${PATH}/:id/redeliver`, ...sending }),
];
