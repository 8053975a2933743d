import { changesOf } from "../audit/changes.ts";
import { recordAudit } from "../audit/record.ts";
import type { Subscription } from "../events/catalog.ts";
import type { Owner } from "../kernel/owner.ts";
import { updateRow } from "../store/rows.ts";
import type { Tx } from "../store/store.ts";
import { requireEndpointUrl } from "./create.ts";
import { disableWebhook } from "./disable.ts";
import { enableWebhook } from "./enable.ts";
import { auditOf, toWebhookDetail, type WebhookAct, type WebhookDetail, webhookActedOn } from "./webhook.ts";

/** What is to change of an endpoint; what is left out stays. */
export interface WebhookChange extends WebhookAct {
  owner: Owner;
  url?: string | undefined;
  /** At least one; repetitions count once. */
  events?: Subscription[] | undefined;
  /** Null: none any more. */
  description?: string | null | undefined;
  status?: "active" | "disabled" | undefined;
}

/**
 * Changes an endpoint. Enabling resets the count of failures and sends nothing of what was held. What waits is sent to
 * the new URL. Throws `not_found`, `validation`.
 */
export async function updateWebhook(tx: Tx, input: WebhookChange): Promise<WebhookDetail> {
  const { url, events, description, status } = input;
  const row = await webhookActedOn(tx, input);
  if (url !== undefined) await requireEndpointUrl(tx, url, input.owner);
  const changed = {
    ...row,
    ...(url === undefined ? {} : { url }),
    ...(events === undefined ? {} : { events: [...new Set(events)] }),
    ...(description === undefined ? {} : { description }),
  };
  const changes = changesOf(row, changed, ["url", "events", "description"]);
  if (changes.length > 0) {
    const { url, events, description } = changed;
    await updateRow(tx, "webhookEndpoints", { id: row.id }, { url, events, description, updated_at: tx.now });
    await recordAudit(tx, { ...auditOf(row, "webhooks.update", input.actor), changes });
  }
  if (status === "active") return enableWebhook(tx, input);
  if (status === "disabled") return disableWebhook(tx, input);
  return toWebhookDetail(await webhookActedOn(tx, input));
}
