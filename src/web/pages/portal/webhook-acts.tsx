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
import { consequenceShown, isConfirmed } from "../../parts/consequence.tsx";
import { timeWords } from "../../parts/words.ts";
import { portalPage } from "../../session/page.ts";
import { choiceField, idIn, integerField, type PortalVisit, type Shown } from "../../session/visit.ts";
import { secretShown } from "./own-pages.tsx";
import { MOST_OVERLAP_HOURS, webhookPage } from "./webhook.tsx";
import { pathOf } from "./webhook-deliveries.tsx";
import { webhookIn } from "./webhooks.tsx";

const LIST = "/developers/webhooks";
const HOUR_MS = 3_600_000;

/** The endpoint that the address names, for an act on it. */
function targetOf(visit: PortalVisit) {
  const { owner, actor } = visit;
  return { id: idIn<WebhookId>(visit), owner, actor };
}

async function change(visit: PortalVisit): Promise<Shown> {
  const { owner, store, request } = visit;
  const { description, ...endpoint } = webhookIn(visit);
  const input = { ...targetOf(visit), ...endpoint, description: description || null };
  await store.write(updateWebhook, input, request.id, owner);
  return { to: pathOf(visit), notice: "The endpoint is changed." };
}

async function setStatus(visit: PortalVisit): Promise<Shown> {
  const { owner, store, request, form } = visit;
  const status = choiceField(form, "status", ["active", "disabled"]);
  await store.write(updateWebhook, { ...targetOf(visit), status }, request.id, owner);
  const enabled = "The endpoint is enabled. What was held is not sent by itself: send it again below.";
  return { to: pathOf(visit), notice: status === "active" ? enabled : "The endpoint is disabled: events are kept." };
}

async function test(visit: PortalVisit): Promise<Shown> {
  const { owner, store, request, form } = visit;
  const kind = choiceField(form, "event", eventKinds);
  const sent = await store.write(sendSample, { ...targetOf(visit), kind }, request.id, owner);
  return { to: `${pathOf(visit)}/deliveries/${sent.delivery_id}`, notice: `A sample of ${kind} is on its way.` };
}

async function rotate(visit: PortalVisit): Promise<Shown> {
  const { owner, store, request, form, zone } = visit;
  const hours = integerField(form, "overlap_hours");
  if (hours < 0 || hours > MOST_OVERLAP_HOURS) {
    throw invalid({ overlap_hours: [`must be between 0 and ${MOST_OVERLAP_HOURS}`] });
  }
  const input = { ...targetOf(visit), overlapMs: hours * HOUR_MS };
  const { secret, overlap_until } = await store.write(rotateWebhookSecret, input, request.id, owner);
  const both = "the old one signs X-Webhook-Signature and this one X-Webhook-Signature-Next";
  const words =
    overlap_until === null
      ? "The old one signs nothing any more."
      : `Until ${timeWords(overlap_until, zone)} ${both}; then it signs alone.`;
  const secrets = [["webhook-secret", "Signing secret", secret]] as const;
  return secretShown(visit, "The secret is replaced.", { secrets, words, back: pathOf(visit) });
}

async function deletePage(visit: PortalVisit): Promise<Shown> {
  const webhook = await visit.store.read(showWebhook, targetOf(visit));
  const waiting = counted(webhook.pending_deliveries, "delivery", "deliveries");
  return consequenceShown(visit, {
    title: "Delete this endpoint?",
    to: `${pathOf(visit)}/delete`,
    carried: [],
    act: "Delete it",
    kind: "bad",
    back: pathOf(visit),
    children: (
      <>
        <p>{withoutHidden(webhook.url)}</p>
        <p>
          {waiting} that wait for it, and all that is held, are dropped. The log of deliveries is not shown any more.
          The events stay in the feed.
        </p>
      </>
    ),
  });
}

async function remove(visit: PortalVisit): Promise<Shown> {
  if (!isConfirmed(visit)) return deletePage(visit);
  await visit.store.write(deleteWebhook, targetOf(visit), visit.request.id, visit.owner);
  return { to: LIST, notice: "The endpoint is deleted." };
}

const at = `${LIST}/:id`;
const write = { needs: "developers.write", again: webhookPage } as const;

export const webhookPages = [
  portalPage({ path: at, needs: "developers.read", show: webhookPage }),
  portalPage({ path: at, ...write, act: change }),
  portalPage({ path: `${at}/status`, ...write, act: setStatus }),
  portalPage({ path: `${at}/test`, ...write, act: test }),
  portalPage({ path: `${at}/rotate`, ...write, act: rotate, secret: true }),
  portalPage({ path: `${at}/delete`, needs: "developers.write", show: deletePage, act: remove }),
];
