import type { DeliveryId, WebhookId } from "../../../core/kernel/brand.ts";
import { counted } from "../../../core/kernel/counted.ts";
import { withoutHidden } from "../../../core/kernel/hidden-characters.ts";
import { AGAIN, onTheWay } from "../../../core/webhooks/on-the-way.ts";
import { replayAll, replayStep } from "../../../core/webhooks/redeliver.ts";
import { showWebhook } from "../../../core/webhooks/webhook.ts";
import { formShown } from "../../parts/act-form.tsx";
import { consequenceShown, isConfirmed } from "../../parts/consequence.tsx";
import { backLink, pageShown } from "../../parts/shown.tsx";
import { timeWords } from "../../parts/words.ts";
import { momentField, momentTyped } from "../../session/moment-field.ts";
import { portalPage } from "../../session/page.ts";
import { idIn, type PortalVisit, type Shown } from "../../session/visit.ts";
import { pathOf } from "./webhook-deliveries.tsx";

const DAY_MS = 86_400_000;

/** Asks since when what did not arrive is sent again: the last 24 hours, unless another moment is typed. */
export function replayForm(visit: PortalVisit) {
  const { context, zone } = visit;
  const value = momentTyped(context.clock.now() - DAY_MS, zone);
  const moment = { type: "datetime-local", hint: `In your time zone, ${zone}.`, required: true, value };
  return formShown(visit, {
    ...{ to: `${pathOf(visit)}/replay`, class: "acts", plain: true, submit: "Send again what did not arrive" },
    fields: [{ name: "since", label: "Failed or held since", ...moment }],
  });
}

async function replayPage(visit: PortalVisit): Promise<Shown> {
  const { url } = await visit.store.read(showWebhook, { owner: visit.owner, id: idIn<WebhookId>(visit) });
  const back = backLink(visit, pathOf(visit), "Back to the endpoint");
  return pageShown(visit, "Send again what did not arrive", [<p>{withoutHidden(url)}</p>, replayForm(visit), back]);
}

async function replay(visit: PortalVisit): Promise<Shown> {
  const { owner, zone } = visit;
  const since = momentField(visit, "since");
  const input = { endpointId: idIn<WebhookId>(visit), owner, since };
  const since_words = timeWords(new Date(since).toISOString(), zone);
  if (!isConfirmed(visit)) {
    const { count, next } = await visit.rehearse(replayStep, { ...input, after: null });
    if (count === 0) return { to: pathOf(visit), notice: `Nothing failed since ${since_words}.` };
    return consequenceShown(visit, {
      ...{ title: "Send again what did not arrive?", act: "Send again", carried: ["since"] },
      ...{ to: `${pathOf(visit)}/replay`, back: pathOf(visit) },
      children: (
        <p>
          {next === null ? "" : "At least "}
          {counted(count, "delivery", "deliveries")} since {since_words}, oldest first, each {AGAIN}.
        </p>
      ),
    });
  }
  const count = await replayAll((after: DeliveryId | null) => visit.write(replayStep, { ...input, after }));
  return { to: pathOf(visit), notice: onTheWay(count) };
}

export const webhookReplayPages = [
  portalPage({ path: "/developers/webhooks/:id/replay", needs: "developers.write", show: replayPage, act: replay }),
];
