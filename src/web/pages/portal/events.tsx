import { type EventKind, eventCatalog, eventKinds } from "../../../core/events/catalog.ts";
import { type RecentEvent, recentEvents } from "../../../core/feed/read.ts";
import { showEvent } from "../../../core/feed/show.ts";
import { isoTime } from "../../../core/kernel/clock.ts";
import { HIDDEN } from "../../../core/kernel/hidden-characters.ts";
import type { Read } from "../../../core/store/store.ts";
import { deliveriesOfEvent } from "../../../core/webhooks/deliveries.ts";
import { envelope } from "../../../core/webhooks/envelope.ts";
import type { Column } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { backLink, pageShown, record, table } from "../../parts/shown.tsx";
import { portalPage } from "../../session/page.ts";
import { idIn, type PortalVisit, type Shown } from "../../session/visit.ts";

const PATH = "/developers/events";

const columns: readonly Column<RecentEvent>[] = [
  { title: "Event", cell: (one) => ({ text: one.kind, to: `${PATH}/${one.id}` }) },
  { title: "Happened", cell: (one) => ({ time: one.occurred_at }) },
  { title: "About", cell: (one) => `${eventCatalog[one.kind].subject} ${one.subject_id}` },
  { title: "Event ID", cell: (one) => one.id },
];

function eventsPage(visit: PortalVisit): Promise<Shown> {
  const { owner, store, base } = visit;
  return listed(visit, {
    ...{ path: PATH, title: "Events", columns },
    filters: [{ name: "kind", label: "Kind", options: eventKinds.map((one) => [one, one] as const) }],
    read: (page, chosen) => store.list(recentEvents, { owner, ...chosen, ...page }),
    empty: "No event fits. They are kept for 90 days.",
    none: "Nothing has happened yet. Events are kept for 90 days.",
    emptyPage: "None among these: go on to the next page.",
    above: (
      <p>
        Everything that happened in the {owner.environment} environment, newest first. Programs follow the feed by{" "}
        <code>GET /api/v1/events</code>, or get each event by a <a href={`${base}/developers/webhooks`}>webhook</a>.
      </p>
    ),
  });
}

async function seen(q: Read, { owner, id }: Pick<PortalVisit, "owner"> & { id: string }) {
  const event = await showEvent(q, { owner, id });
  const deliveries = await deliveriesOfEvent(q, id);
  // Those of an endpoint that was deleted cannot be looked at.
  return { event, deliveries: deliveries.filter(({ url }) => url !== null) };
}

type Sent = Awaited<ReturnType<typeof seen>>["deliveries"];

const deliveryColumns: readonly Column<Sent[number]>[] = [
  {
    title: "Endpoint",
    cell: ({ url, delivery: { endpoint_id, id } }) => ({
      text: url ?? "",
      to: `/developers/webhooks/${endpoint_id}/deliveries/${id}`,
    }),
  },
  { title: "Status", cell: ({ delivery }) => ({ status: delivery.status }) },
  { title: "Attempts", right: true, cell: ({ delivery }) => delivery.attempts },
];

async function eventPage(visit: PortalVisit): Promise<Shown> {
  const { event, deliveries } = await visit.store.read(seen, { owner: visit.owner, id: idIn(visit) });
  const { kind, expands } = event;
  const { when, subject, namesPeople } = eventCatalog[kind];
  const sent = envelope({ ...event, data: withoutPeople(kind, event.data) });
  const empty = "No endpoint asked for it when it happened.";
  return pageShown(visit, kind, [
    <p>{when}</p>,
    record(visit, [
      ["Happened", { time: isoTime(event.occurred_at) }],
      ["About", `${subject} ${event.subject_id}`],
      ["Event ID", event.id],
    ]),
    <section>
      <h2>Body</h2>
      <pre>{visibleJson(sent)}</pre>
      {expands !== null && <p class="hint">When it is sent, the order's eSIMs join its data as `esims`.</p>}
      {namesPeople && <p class="hint">Who the customer is, is sent, and not shown here.</p>}
    </section>,
    table(visit, { title: "Deliveries", rows: deliveries, empty }, deliveryColumns),
    backLink(visit, PATH, "All events"),
  ]);
}

type Payload = Readonly<{ [name: string]: unknown }>;

/** Fields of kinds that name people: who the customer is, and free text of carriers, which may quote it. */
const PERSONAL = ["customer_name", "mobile_number", "error_message"];

/** The payload without what says who a customer is. */
function withoutPeople(kind: EventKind, data: Payload): Payload {
  if (!eventCatalog[kind].namesPeople) return data;
  const shown = ([name, value]: [string, unknown]) =>
    PERSONAL.includes(name) && value !== null ? [name, "(not shown)"] : [name, value];
  return Object.fromEntries(Object.entries(data).map(shown));
}

const hidden = new RegExp(`[${HIDDEN}]`, "gu");

/** JSON over several lines, in which characters that hide are spelled out. */
function visibleJson(value: object): string {
  const spell = (one: string) =>
    one
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join("");
  const lines = JSON.stringify(value, null, 2).split("\n");
  return lines.map((line) => line.replace(hidden, spell)).join("\n");
}

export const eventPages = [
  portalPage({ path: PATH, needs: "developers.read", show: eventsPage }),
  portalPage({ path: `${PATH}/:id`, needs: "developers.read", show: eventPage }),
];
