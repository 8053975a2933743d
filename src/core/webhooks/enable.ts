import { changesOf } from "../audit/changes.ts";
import { recordAudit } from "../audit/record.ts";
import { assertMove } from "../kernel/state-machine.ts";
import { updateRow } from "../store/rows.ts";
import type { Tx } from "../store/store.ts";
import {
  auditOf,
  toWebhookDetail,
  type WebhookAct,
  type WebhookDetail,
  webhookActedOn,
  webhookTransitions,
} from "./webhook.ts";

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
