import {
  EVERY_KIND,
  eventCatalog,
  eventKinds,
  type Subscription,
  subscriptions,
} from "../../../core/events/catalog.ts";
import { counted } from "../../../core/kernel/counted.ts";
import { invalid } from "../../../core/kernel/problem.ts";
import { webhookStatuses } from "../../../core/store/schema/values.ts";
import { createWebhook } from "../../../core/webhooks/create.ts";
import { listWebhooks } from "../../../core/webhooks/list.ts";
import type { WebhookDetail } from "../../../core/webhooks/webhook.ts";
import { Field, Form, Submit } from "../../parts/form.tsx";
import type { Column } from "../../parts/list.tsx";
import { portalPage } from "../../session/page.ts";
import { chosen, field, fields, type PortalVisit, requiredField, type Shown } from "../../session/visit.ts";
import { ownList, secretShown } from "./own-pages.tsx";

const PATH = "/developers/webhooks";

/** How an endpoint does, in a few words. */
function healthOf(one: WebhookDetail): string {
  if (one.status === "failed") return "stopped: too many deliveries failed";
  if (one.status === "disabled") return "stopped: nothing is sent";
  if (one.failing_since !== null) return `failing: ${counted(one.failed_attempts, "attempt")} in a row`;
  return one.last_delivery === null ? "nothing sent yet" : "well";
}

const columnsOf = ({ base }: PortalVisit): Column<WebhookDetail>[] => [
  { title: "URL", cell: (one) => ({ text: one.url, href: `${base}${PATH}/${one.id}` }) },
  { title: "Description", cell: (one) => one.description },
  { title: "Status", cell: (one) => ({ status: one.status }) },
  { title: "Health", cell: healthOf },
  { title: "Waiting", right: true, cell: (one) => one.pending_deliveries },
  { title: "Last attempt", cell: (one) => ({ time: one.last_delivery?.at ?? null }) },
  { title: "Events", cell: (one) => one.events.join(", ") },
];

function webhooksPage(visit: PortalVisit): Promise<Shown> {
  const { query, owner, store } = visit;
  const status = chosen(query, "status", webhookStatuses);
  return ownList(visit, {
    path: PATH,
    title: "Webhooks",
    caption: "Endpoints",
    columns: columnsOf(visit),
    filters: [{ name: "status", label: "Status", options: webhookStatuses }],
    read: (page) => store.list(listWebhooks, { owner, status, ...page }),
    empty: `No endpoint in the ${owner.environment} environment. Every event is in the feed of events all the same.`,
    above: visit.may("developers.write") && <NewWebhook visit={visit} />,
  });
}

function NewWebhook({ visit }: { visit: PortalVisit }) {
  return (
    <section>
      <details open={visit.problem !== null}>
        <summary>
          <strong>New endpoint</strong>
        </summary>
        <Form visit={visit} to={PATH}>
          <WebhookFields visit={visit} />
          <Submit>Make the endpoint</Submit>
        </Form>
      </details>
    </section>
  );
}

/** Most characters of a description, as the API has it. */
const MOST_DESCRIPTION = 500;

/** What an endpoint has that its partner may change. */
interface Endpoint {
  url: string;
  events: readonly Subscription[];
  description: string | null;
}

/** The fields of an endpoint, new or known. */
export function WebhookFields({ visit, known }: { visit: PortalVisit; known?: Endpoint }) {
  const { url = "", description, events = [] } = known ?? {};
  const scheme = visit.owner.environment === "production" ? "https" : "http or https";
  const address = { type: "url", hint: `A public ${scheme} address that takes POST.`, required: true };
  const own = { value: description ?? "", hint: "So that you know it again; may be left out." };
  return (
    <>
      <Field visit={visit} name="url" label="URL" value={url} {...address} />
      <Field visit={visit} name="description" label="Description" {...own} />
      <EventBoxes visit={visit} known={events} />
    </>
  );
}

function EventBoxes({ visit, known }: { visit: PortalVisit; known: readonly Subscription[] }) {
  const chosen = "url" in visit.form ? fields(visit.form, "events") : known;
  const errors = visit.problem?.errors?.events ?? [];
  return (
    <fieldset aria-describedby={errors.length > 0 ? "f-events-error" : undefined}>
      <legend>Events</legend>
      {errors.length > 0 && (
        <p class="error" id="f-events-error">
          Events {errors.join(", ")}.
        </p>
      )}
      <Box value={EVERY_KIND} chosen={chosen} words="all kinds, those of later versions included" />
      {eventKinds.map((kind) => (
        <Box value={kind} chosen={chosen} words={whenOf(kind)} />
      ))}
    </fieldset>
  );
}

function whenOf(kind: (typeof eventKinds)[number]): string {
  const { when, emitted } = eventCatalog[kind];
  return emitted ? when : `${when} This version never sends it.`;
}

function Box({ value, chosen, words }: { value: string; chosen: readonly string[]; words: string }) {
  return (
    <label class="tick">
      <input type="checkbox" name="events" value={value} checked={chosen.includes(value)} /> <code>{value}</code>{" "}
      <span class="hint">{words}</span>
    </label>
  );
}

/** An endpoint as it was filled in. Throws `validation`. */
export function webhookIn({ form }: PortalVisit): { url: string; events: Subscription[]; description: string } {
  const asked = fields(form, "events");
  const events = subscriptions.filter((kind) => asked.includes(kind));
  const description = field(form, "description");
  const errors: Record<string, string[]> = {};
  if (events.length === 0) errors.events = ["must have at least one kind"];
  if (description.length > MOST_DESCRIPTION) errors.description = [`must be at most ${MOST_DESCRIPTION} characters`];
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return { url: requiredField(form, "url"), events, description };
}

async function create(visit: PortalVisit): Promise<Shown> {
  const { owner, actor, store, request } = visit;
  const { description, ...endpoint } = webhookIn(visit);
  const described = description === "" ? {} : { description };
  const input = { ...endpoint, ...described, owner, actor };
  const { webhook, secret } = await store.write(createWebhook, input, request.id, owner);
  return secretShown(visit, "The endpoint is made.", {
    secrets: [["webhook-secret", "Signing secret", secret]],
    words: "It signs every delivery. Send a test from the page of the endpoint.",
    back: `${PATH}/${webhook.id}`,
  });
}

export const webhooksPages = [
  portalPage({ path: PATH, needs: "developers.read", show: webhooksPage }),
  portalPage({ path: PATH, needs: "developers.write", act: create, again: webhooksPage, secret: true }),
];
