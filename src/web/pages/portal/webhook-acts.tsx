import { eventKinds } from "../../../core/events/catalog.ts";
import type { WebhookId } from "../../../core/kernel/brand.ts";
import { counted } from "../../../core/kernel/counted.ts";
import { withoutHidden } from "../../../core/kernel/hidden-characters.ts";
import { invalid } from "../../../core/kernel/problem.ts";
import { deleteWebhook } from "../../../core/webhooks/delete.ts";
import { rotateWebhookSecret } from "../../../core/webhooks/rotate-secret.ts";
import { sendSample } from "../../../core/webhooks/send-sample.ts";
import { updateWebhook } from "../../../core/webhooks/update.ts";
import { showWebhook } from "../../../core/webhooks/webhook.ts";
import { actPage } from "../../parts/act-page.tsx";
import { endpointIs } from "../../parts/endpoint-facts.ts";
import { mergedVisit } from "../../parts/merging.ts";
import { timeWords } from "../../parts/words.ts";
import { portalPage } from "../../session/page.ts";
import { choiceField, idIn, integerField, type PortalVisit, type Shown } from "../../session/visit.ts";
import { secretShown } from "./own-pages.ts";
import { MOST_OVERLAP_HOURS, webhookPage } from "./webhook.tsx";
import { pathOf } from "./webhook-deliveries.tsx";
import { saidByWebhook, webhookIn } from "./webhooks.tsx";

const LIST = "/developers/webhooks";
const HOUR_MS = 3_600_000;

/** The endpoint that the address names, for an act on it. */
function targetOf(visit: PortalVisit) {
  return { id: idIn<WebhookId>(visit), owner: visit.owner };
}

async function change(visit: PortalVisit): Promise<Shown> {
  const known = await visit.store.read(showWebhook, targetOf(visit));
  const { description, ...endpoint } = webhookIn(mergedVisit(visit, saidByWebhook(known)));
  await visit.write(updateWebhook, { ...targetOf(visit), ...endpoint, description: description || null });
  return { to: pathOf(visit), notice: "The endpoint is changed." };
}

async function setStatus(visit: PortalVisit): Promise<Shown> {
  const status = choiceField(visit.form, "status", ["active", "disabled"]);
  await visit.write(updateWebhook, { ...targetOf(visit), status });
  return { to: pathOf(visit), notice: endpointIs(status, "below") };
}

async function test(visit: PortalVisit): Promise<Shown> {
  const kind = choiceField(visit.form, "event", eventKinds);
  const sent = await visit.write(sendSample, { ...targetOf(visit), kind });
  return { to: `${pathOf(visit)}/deliveries/${sent.delivery_id}`, notice: `A sample of ${kind} is on its way.` };
}

async function rotate(visit: PortalVisit): Promise<Shown> {
  const hours = integerField(visit.form, "overlap_hours");
  if (hours < 0 || hours > MOST_OVERLAP_HOURS) {
    throw invalid({ overlap_hours: [`must be between 0 and ${MOST_OVERLAP_HOURS}`] });
  }
  const asked = { ...targetOf(visit), overlapMs: hours * HOUR_MS };
  const { secret, overlap_until } = await visit.write(rotateWebhookSecret, asked);
  const both = "the old one signs X-Webhook-Signature and this one X-Webhook-Signature-Next";
  const after =
    overlap_until === null
      ? "The old one signs nothing any more."
      : `Until ${timeWords(overlap_until, visit.zone)} ${both}; then it signs alone.`;
  const values = [["webhook-secret", "Signing secret", secret]] as const;
  return secretShown(visit, "The secret is replaced.", { values, after, back: pathOf(visit) });
}

const deleting = actPage({
  ...{ verb: "delete", button: "Delete it", bad: true, fields: [], command: deleteWebhook },
  read: (visit: PortalVisit) => visit.store.read(showWebhook, targetOf(visit)),
  at: ({ id }) => `${LIST}/${id}`,
  title: () => "Delete this endpoint?",
  input: (visit) => targetOf(visit),
  foresee: (_deleted, { url, pending_deliveries }) => [
    <p>{withoutHidden(url)}</p>,
    <p>
      {counted(pending_deliveries, "delivery", "deliveries")} that wait for it, and all that is held, are dropped. The
      log of deliveries is not shown any more. The events stay in the feed.
    </p>,
  ],
  done: () => ({ to: LIST, notice: "The endpoint is deleted." }),
});

const at = `${LIST}/:id`;
const write = { needs: "developers.write", again: webhookPage } as const;

export const webhookPages = [
  portalPage({ path: at, needs: "developers.read", show: webhookPage }),
  portalPage({ path: at, ...write, act: change }),
  portalPage({ path: `${at}/status`, ...write, act: setStatus }),
  portalPage({ path: `${at}/test`, ...write, act: test }),
  portalPage({ path: `${at}/rotate`, ...write, act: rotate, secret: true }),
  portalPage({ path: `${at}/delete`, needs: "developers.write", ...deleting }),
];
