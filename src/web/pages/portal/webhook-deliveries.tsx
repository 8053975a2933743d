import { showEvent } from "../../../core/feed/show.ts";
import type { DeliveryId, WebhookId } from "../../../core/kernel/brand.ts";
import { withoutHidden } from "../../../core/kernel/hidden-characters.ts";
import { Problem } from "../../../core/kernel/problem.ts";
import { deliveryStatuses } from "../../../core/store/schema/values.ts";
import type { Read } from "../../../core/store/store.ts";
import { type LoggedDelivery, listOwnDeliveries, showOwnDelivery } from "../../../core/webhooks/delivery-log.ts";
import { redeliver } from "../../../core/webhooks/redeliver.ts";
import { showWebhook } from "../../../core/webhooks/webhook.ts";
import { Time } from "../../parts/cell.tsx";
import { ActButton } from "../../parts/form.tsx";
import type { Column } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { backLink, type Fields, pageShown, record } from "../../parts/shown.tsx";
import { dayField } from "../../session/moment-field.ts";
import { portalPage } from "../../session/page.ts";
import { idIn, type PortalVisit, partIn, type Shown } from "../../session/visit.ts";

/** What the address names. Any text may be in it; what is not an own endpoint's, or its delivery's, is not found. */
const namedBy = (visit: PortalVisit) => ({
  id: idIn<WebhookId>(visit),
  delivery: partIn<DeliveryId>(visit, "delivery"),
});

/** The path of the endpoint that the address names. */
export const pathOf = (visit: PortalVisit) => `/developers/webhooks/${namedBy(visit).id}`;

/** The columns of the log of that endpoint. */
export function deliveryColumns(visit: PortalVisit): Column<LoggedDelivery>[] {
  const at = `${pathOf(visit)}/deliveries`;
  return [
    { title: "Event", cell: (one) => ({ text: one.event, to: `${at}/${one.id}` }) },
    { title: "Status", cell: (one) => ({ status: one.status }) },
    { title: "Attempts", right: true, cell: (one) => one.attempts },
    { title: "Response", cell: (one) => (one.last_status_code === null ? one.last_error : `${one.last_status_code}`) },
    { title: "Next attempt", cell: (one) => ({ time: one.next_attempt_at }) },
    { title: "Made", cell: (one) => ({ time: one.created_at }) },
    { title: "Event ID", cell: (one) => one.event_id },
  ];
}

async function deliveriesPage(visit: PortalVisit): Promise<Shown> {
  const { query, owner, store, base, zone } = visit;
  const { id } = namedBy(visit);
  const { url } = await store.read(showWebhook, { owner, id });
  const created = {
    since: dayField(query, { name: "from", zone }),
    until: dayField(query, { name: "to", zone, days: 1 }),
  };
  return listed(visit, {
    ...{ path: `${pathOf(visit)}/deliveries`, title: "Deliveries", columns: deliveryColumns(visit) },
    filters: [
      { name: "status", label: "Status", options: deliveryStatuses },
      { name: "event_id", label: "Event ID" },
      { name: "from", label: "From the day", type: "date" },
      { name: "to", label: "To the day", type: "date" },
    ],
    read: (page, { status, event_id }) =>
      store.list(listOwnDeliveries, { owner, webhookId: id, status, event_id, created, ...page }),
    empty: "No delivery fits. They are kept for 90 days.",
    none: "Nothing was sent yet. Deliveries are kept for 90 days.",
    above: (
      <p>
        To <a href={`${base}${pathOf(visit)}`}>{withoutHidden(url)}</a>
      </p>
    ),
  });
}

async function seen(q: Read, { owner, id, delivery }: Pick<PortalVisit, "owner"> & ReturnType<typeof namedBy>) {
  const { url, status } = await showWebhook(q, { owner, id });
  const shown = await showOwnDelivery(q, { owner, webhookId: id, id: delivery });
  return { url, canSend: status === "active", shown, isInFeed: await isInFeed(q, { owner, id: shown.event_id }) };
}

/** A sample, and an event that was cleared, have no page. */
async function isInFeed(q: Read, event: Parameters<typeof showEvent>[1]): Promise<boolean> {
  try {
    await showEvent(q, event);
    return true;
  } catch (error) {
    if (error instanceof Problem && error.slug === "not_found") return false;
    throw error;
  }
}

async function deliveryPage(visit: PortalVisit): Promise<Shown> {
  const { store, owner } = visit;
  const { url, canSend, shown, isInFeed } = await store.read(seen, { owner, ...namedBy(visit) });
  const { event, event_id } = shown;
  const at = `${pathOf(visit)}/deliveries`;
  const fields: Fields = [
    ["Status", { status: shown.status }],
    ["Endpoint", { text: url, to: pathOf(visit) }],
    ["Event", isInFeed ? { text: event_id, to: `/developers/events/${event_id}` } : event_id],
    ["Attempts", shown.attempts],
    ["Next attempt", { time: shown.next_attempt_at }],
    ["Made", { time: shown.created_at }],
    ["ID", shown.id],
  ];
  const again = visit.may("developers.write") && canSend && (
    <ActButton visit={visit} to={`${at}/${shown.id}/redeliver`} label="Send it again" />
  );
  return pageShown(visit, `Delivery of ${event}`, [
    record(visit, fields, again),
    <section>
      <h2>Attempts</h2>
      {shown.attempt_log.length === 0 && <p>None yet.</p>}
      {shown.attempt_log.map((attempt) => (
        <Attempt visit={visit} attempt={attempt} />
      ))}
    </section>,
    backLink(visit, at, "All deliveries of this endpoint"),
  ]);
}

type Logged = Awaited<ReturnType<typeof showOwnDelivery>>["attempt_log"][number];

function Attempt({ visit, attempt }: { visit: PortalVisit; attempt: Logged }) {
  const { at, status_code, duration_ms, error, response_excerpt } = attempt;
  return (
    <>
      <h3>
        <Time at={at} zone={visit.zone} exact />: {status_code ?? "no response"}, {duration_ms.toLocaleString("en")} ms
      </h3>
      {error !== null && <p>{withoutHidden(error)}</p>}
      {response_excerpt && <pre>{response_excerpt.split(/\r?\n/).map(withoutHidden).join("\n")}</pre>}
    </>
  );
}

async function sendAgain(visit: PortalVisit): Promise<Shown> {
  const { id, delivery } = namedBy(visit);
  await visit.write(redeliver, { id: delivery, of: { owner: visit.owner, webhookId: id } });
  return { to: `${pathOf(visit)}/deliveries/${delivery}`, notice: "The delivery is on its way again." };
}

const at = "/developers/webhooks/:id";
const one = `${at}/deliveries/:delivery`;

export const webhookDeliveryPages = [
  portalPage({ path: `${at}/deliveries`, needs: "developers.read", show: deliveriesPage }),
  portalPage({ path: one, needs: "developers.read", show: deliveryPage }),
  portalPage({ path: `${one}/redeliver`, needs: "developers.write", act: sendAgain, again: deliveryPage }),
];
