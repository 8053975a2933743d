import { changesOf } from "../audit/changes.ts";
import { recordAudit } from "../audit/record.ts";
import type { Subscription } from "../events/catalog.ts";
import type { Owner } from "../kernel/owner.ts";
import { assertMove } from "../kernel/state-machine.ts";
import { updateRow } from "../store/rows.ts";
import type { Tx } from "../store/store.ts";
import { requireEndpointUrl } from "./create.ts";
import { disableWebhook } from "./disable.ts";
import { lockEndpoints, lookAgain } from "./look-again.ts";
import {
  auditOf,
  toWebhookDetail,
  type WebhookAct,
  type WebhookDetail,
  type WebhookRow,
  webhookActedOn,
  webhookTransitions,
} from "./webhook.ts";

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
    if (url !== row.url) await endWait(tx, row);
    await recordAudit(tx, { ...auditOf(row, "webhooks.update", input.actor), changes });
  }
  if (status === "active") return enableWebhook(tx, input);
  if (status === "disabled") return disableWebhook(tx, input);
  return toWebhookDetail(tx, await webhookActedOn(tx, input));
}

/** What was cut off came from another address. */
async function endWait(tx: Tx, { id }: WebhookRow): Promise<void> {
  await updateRow(tx, "webhookEndpoints", { id }, { cut_attempts: 0, waits_until: null });
  await lockEndpoints(tx, new Set([id]));
  await lookAgain(tx, new Set([id]));
}

/** Enables an endpoint: resets the count, sends nothing of what was held. Safe to repeat. Throws `not_found`. */
export async function enableWebhook(tx: Tx, input: WebhookAct): Promise<WebhookDetail> {
  const row = await webhookActedOn(tx, input);
  if (row.status === "active") return toWebhookDetail(tx, row);
  assertMove(webhookTransitions, row.status, "active");
  const health = {
    consecutive_failures: 0,
    failed_attempts: 0,
    failing_since: null,
    cut_attempts: 0,
    waits_until: null,
  };
  const enabled = { status: "active", ...health, due_at: null, updated_at: tx.now } as const;
  await updateRow(tx, "webhookEndpoints", { id: row.id }, enabled);
  const changes = changesOf<typeof row>(row, enabled, ["status"]);
  await recordAudit(tx, { ...auditOf(row, "webhooks.enable", input.actor), changes });
  return toWebhookDetail(tx, { ...row, ...enabled });
}
