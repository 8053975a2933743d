import type { DeliveryId, WebhookId } from "../../../core/kernel/brand.ts";
import { counted } from "../../../core/kernel/counted.ts";
import { withoutHidden } from "../../../core/kernel/hidden-characters.ts";
import { replayAll, replayStep } from "../../../core/webhooks/redeliver.ts";
import { showWebhook } from "../../../core/webhooks/webhook.ts";
import { consequenceShown, isConfirmed } from "../../parts/consequence.tsx";
import { Field, Form, Submit } from "../../parts/form.tsx";
import { timeWords } from "../../parts/words.ts";
import { momentField } from "../../session/moment-field.ts";
import { portalPage } from "../../session/page.ts";
import { idIn, type PortalVisit, type Shown } from "../../session/visit.ts";
import { titled } from "./own-pages.tsx";
import { pathOf } from "./webhook-deliveries.tsx";

/** Asks since when what did not arrive is sent again. */
export function ReplayForm({ visit }: { visit: PortalVisit }) {
  const moment = { type: "datetime-local", hint: `In your time zone, ${visit.zone}.`, required: true };
  return (
    <Form visit={visit} to={`${pathOf(visit)}/replay`} class="acts">
      <Field visit={visit} name="since" label="Failed or held since" {...moment} />
      <Submit kind="plain">Send again what did not arrive</Submit>
    </Form>
  );
}

async function replayPage(visit: PortalVisit): Promise<Shown> {
  const { store, owner } = visit;
  const { url } = await store.read(showWebhook, { owner, id: idIn<WebhookId>(visit) });
  const body = (
    <>
      <p>{withoutHidden(url)}</p>
      <ReplayForm visit={visit} />
    </>
  );
  return titled(visit, "Send again what did not arrive", { body, back: [pathOf(visit), "Back to the endpoint"] });
}

async function replay(visit: PortalVisit): Promise<Shown> {
  const { owner, actor, store, request, zone } = visit;
  const since = momentField(visit, "since");
  const input = { endpointId: idIn<WebhookId>(visit), owner, since, actor };
  const since_words = timeWords(new Date(since).toISOString(), zone);
  if (!isConfirmed(visit)) {
    const { count, next } = await store.rehearse(replayStep, { ...input, after: null });
    if (count === 0) return { to: pathOf(visit), notice: `Nothing failed since ${since_words}.` };
    return consequenceShown(visit, {
      title: "Send again what did not arrive?",
      to: `${pathOf(visit)}/replay`,
      carried: ["since"],
      act: "Send again",
      back: pathOf(visit),
      children: (
        <p>
          {next === null ? "" : "At least "}
          {counted(count, "delivery", "deliveries")} since {since_words}, oldest first, each with all its attempts and
          the same event ID.
        </p>
      ),
    });
  }
  const step = (after: DeliveryId | null) => store.write(replayStep, { ...input, after }, request.id, owner);
  const count = await replayAll(step);
  return { to: pathOf(visit), notice: `${counted(count, "delivery", "deliveries")} on the way again.` };
}

export const webhookReplayPages = [
  portalPage({ path: "/developers/webhooks/:id/replay", needs: "developers.write", show: replayPage, act: replay }),
];
