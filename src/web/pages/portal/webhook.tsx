import { eventKinds } from "../../../core/events/catalog.ts";
import type { WebhookId } from "../../../core/kernel/brand.ts";
import { counted } from "../../../core/kernel/counted.ts";
import type { Read } from "../../../core/store/store.ts";
import { listOwnDeliveries } from "../../../core/webhooks/delivery-log.ts";
import { FAILURES_TO_GIVE_UP } from "../../../core/webhooks/retries.ts";
import { showWebhook, type WebhookDetail } from "../../../core/webhooks/webhook.ts";
import { formShown } from "../../parts/act-form.tsx";
import { endpointFacts } from "../../parts/endpoint-facts.ts";
import { ActButton } from "../../parts/form.tsx";
import { backLink, LinkButton, pageShown, record, table } from "../../parts/shown.tsx";
import { timeWords } from "../../parts/words.ts";
import { idIn, type PortalVisit, type Shown } from "../../session/visit.ts";
import { historyShown } from "./history.tsx";
import { deliveryColumns, pathOf } from "./webhook-deliveries.tsx";
import { replayForm } from "./webhook-replay.tsx";
import { webhookForm } from "./webhooks.tsx";

/** Most hours that both secrets sign, once one is replaced. */
export const MOST_OVERLAP_HOURS = 168;

async function seen(q: Read, { owner, id }: Pick<PortalVisit, "owner"> & { id: WebhookId }) {
  const webhook = await showWebhook(q, { owner, id });
  const { data: latest } = await listOwnDeliveries(q, { owner, webhookId: id, limit: 10 });
  return { webhook, latest };
}

/** An endpoint: how it does, its latest deliveries, its history, and what can be done with it. */
export async function webhookPage(visit: PortalVisit): Promise<Shown> {
  const { webhook, latest } = await visit.store.read(seen, { owner: visit.owner, id: idIn<WebhookId>(visit) });
  const mayWrite = visit.may("developers.write");
  const deliveries = { title: "Latest deliveries", rows: latest, empty: "Nothing was sent yet. Send a test." };
  const open = "url" in visit.form;
  return pageShown(visit, webhook.description ?? webhook.url, [
    troubleShown(visit, webhook),
    record(visit, endpointFacts(webhook)),
    mayWrite && actsShown(visit, webhook),
    table(visit, deliveries, deliveryColumns(visit)),
    latest.length > 0 && backLink(visit, `${pathOf(visit)}/deliveries`, "All deliveries"),
    mayWrite && webhook.status === "active" && replayForm(visit),
    mayWrite && webhookForm(visit, { title: "Change it", to: pathOf(visit), submit: "Save", open, known: webhook }),
    await historyShown(visit, { id: webhook.id, operator: true }),
    backLink(visit, "/developers/webhooks", "All endpoints"),
  ]);
}

/** What is wrong, and what to do about it. */
function troubleShown(visit: PortalVisit, { status, failing_since, failed_attempts }: WebhookDetail) {
  if (status === "failed") {
    return (
      <p class="alert bad">
        {FAILURES_TO_GIVE_UP} deliveries in a row were given up, so nothing is sent any more. Mend the receiver, enable
        the endpoint, then send again what did not arrive.
      </p>
    );
  }
  if (status === "disabled") return <p class="alert">Events are kept for this endpoint, and nothing is sent to it.</p>;
  if (failing_since === null) return null;
  return (
    <p class="alert bad">
      {counted(failed_attempts, "attempt")} in a row failed, since {timeWords(failing_since, visit.zone)}.
    </p>
  );
}

function actsShown(visit: PortalVisit, webhook: WebhookDetail) {
  const at = pathOf(visit);
  const isActive = webhook.status === "active";
  const [label, status] = isActive ? ["Disable", "disabled"] : ["Enable", "active"];
  const kinds = { value: "order.created", options: eventKinds.map((kind) => [kind, kind] as const) };
  const hours = { type: "number", min: "0", max: String(MOST_OVERLAP_HOURS), value: "24" };
  const look = { class: "acts", plain: true };
  return (
    <section>
      {isActive &&
        formShown(visit, {
          ...{ ...look, to: `${at}/test`, submit: "Send a test" },
          fields: [{ name: "event", label: "Sample event", ...kinds }],
        })}
      {formShown(visit, {
        ...{ ...look, to: `${at}/rotate`, submit: "Replace the secret" },
        fields: [{ name: "overlap_hours", label: "Hours that both secrets sign", ...hours }],
      })}
      <div class="acts">
        <ActButton visit={visit} to={`${at}/status`} label={label} hidden={{ status }} />
        <LinkButton visit={visit} to={`${at}/delete`} words="Delete" />
      </div>
    </section>
  );
}
