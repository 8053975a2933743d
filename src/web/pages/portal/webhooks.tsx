import type { ComponentChildren } from "preact";
import { EVERY_KIND, eventCatalog, eventKinds, type Subscription } from "../../../core/events/catalog.ts";
import { invalid } from "../../../core/kernel/problem.ts";
import { webhookStatuses } from "../../../core/store/schema/values.ts";
import { createWebhook } from "../../../core/webhooks/create.ts";
import { listWebhooks } from "../../../core/webhooks/list.ts";
import type { WebhookDetail } from "../../../core/webhooks/webhook.ts";
import { bodyReader } from "../../../daemon/plugins/validation.ts";
import { NewWebhook } from "../../../daemon/schemas/webhook.ts";
import { formShown } from "../../parts/act-form.tsx";
import { endpointHealth, subscriptionWords } from "../../parts/endpoint-facts.ts";
import type { Column } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { merged, type Said } from "../../parts/merging.ts";
import { portalPage } from "../../session/page.ts";
import { fields, type PortalVisit, type Shown } from "../../session/visit.ts";
import { secretShown } from "./own-pages.ts";

const PATH = "/developers/webhooks";

const columns: readonly Column<WebhookDetail>[] = [
  { title: "URL", cell: (one) => ({ text: one.url, to: `${PATH}/${one.id}` }) },
  { title: "Description", cell: (one) => one.description },
  { title: "Status", cell: (one) => ({ status: one.status }) },
  { title: "Health", cell: endpointHealth },
  { title: "Waiting", right: true, cell: (one) => one.pending_deliveries },
  { title: "Last attempt", cell: (one) => ({ time: one.last_delivery?.at ?? null }) },
  { title: "Events", cell: (one) => subscriptionWords(one.events) },
];

function webhooksPage(visit: PortalVisit): Promise<Shown> {
  const { owner, store } = visit;
  return listed(visit, {
    ...{ path: PATH, title: "Webhooks", caption: "Endpoints", columns },
    filters: [{ name: "status", label: "Status", options: webhookStatuses }],
    read: (page, chosen) => store.list(listWebhooks, { owner, ...chosen, ...page }),
    empty: `No endpoint in the ${owner.environment} environment. Every event is in the feed of events all the same.`,
    above:
      visit.may("developers.write") &&
      webhookForm(visit, {
        ...{ title: "New endpoint", to: PATH, submit: "Make the endpoint", open: visit.problem !== null },
        known: { url: "", description: null, events: [] },
      }),
  });
}

interface WebhookForm {
  title: string;
  to: string;
  submit: string;
  open: boolean;
  /** What the endpoint has that its partner may change. */
  known: { url: string; events: readonly Subscription[]; description: string | null };
}

/** What an endpoint says in its form. */
export function saidByWebhook({ url, description, events }: WebhookForm["known"]): Said {
  return { url, description: description ?? "", events };
}

/** The form of an endpoint, new or known. */
export function webhookForm(visit: PortalVisit, { title, to, submit, open, known }: WebhookForm): ComponentChildren {
  const scheme = visit.owner.environment === "production" ? "https" : "http or https";
  const address = { type: "url", hint: `A public ${scheme} address that takes POST.`, required: true };
  const own = { value: known.description ?? "", hint: "So that you know it again; may be left out." };
  const said = saidByWebhook(known);
  return formShown(visit, {
    ...{ title, to, submit, folded: { open }, class: "", ofRecord: said },
    fields: [
      { name: "url", label: "URL", value: known.url, ...address },
      { name: "description", label: "Description", ...own },
    ],
    after: eventBoxes({ ...visit, form: merged(visit.form, said) }, known.events),
  });
}

function eventBoxes(visit: PortalVisit, known: readonly Subscription[]): ComponentChildren {
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
        <Box value={kind} chosen={chosen} words={withCode(eventCatalog[kind].when)} />
      ))}
    </fieldset>
  );
}

/** Words with what is `code` in them. */
function withCode(words: string): ComponentChildren {
  return words.split("`").map((part, at) => (at % 2 === 1 ? <code>{part}</code> : part));
}

interface BoxProps {
  value: string;
  chosen: readonly string[];
  words: ComponentChildren;
}

function Box({ value, chosen, words }: BoxProps) {
  return (
    <label class="tick">
      <input type="checkbox" name="events" value={value} checked={chosen.includes(value)} /> <code>{value}</code>{" "}
      <span class="hint">{words}</span>
    </label>
  );
}

/** Reads an endpoint as the API does. */
const readWebhook = bodyReader(NewWebhook);

/** An endpoint as it was filled in. Throws `validation`. */
export function webhookIn({ form }: PortalVisit): { url: string; events: Subscription[]; description: string } {
  const events = fields(form, "events");
  if (events.length === 0) throw invalid({ events: ["must have at least one kind"] });
  return { description: "", ...readWebhook({ ...form, events }) };
}

async function create(visit: PortalVisit): Promise<Shown> {
  const { description, ...endpoint } = webhookIn(visit);
  const described = description === "" ? {} : { description };
  const { webhook, secret } = await visit.write(createWebhook, { ...endpoint, ...described, owner: visit.owner });
  return secretShown(visit, "The endpoint is made.", {
    values: [["webhook-secret", "Signing secret", secret]],
    after: "It signs every delivery. Send a test from the page of the endpoint.",
    back: `${PATH}/${webhook.id}`,
  });
}

export const webhooksPages = [
  portalPage({ path: PATH, needs: "developers.read", show: webhooksPage }),
  portalPage({ path: PATH, needs: "developers.write", act: create, again: webhooksPage, secret: true }),
];
