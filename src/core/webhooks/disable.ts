import { and, eq, sql } from "drizzle-orm";
import { changesOf } from "../audit/changes.ts";
import { recordAudit } from "../audit/record.ts";
import type { WebhookId } from "../kernel/brand.ts";
import { assertMove } from "../kernel/state-machine.ts";
import { updateRow } from "../store/rows.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import {
  auditOf,
  toWebhookDetail,
  type WebhookAct,
  type WebhookDetail,
  type WebhookRow,
  webhookActedOn,
  webhookTransitions,
} from "./webhook.ts";

// The lease of an attempt under way stays, so that a 2xx that is still to come counts.
const holdWaiting = statement((db, t, slot: Slots<{ id: WebhookId; now: number }>) =>
  db
    .update(t.deliveries)
    .set({ status: "held", due_at: slot.now })
    .where(and(eq(t.deliveries.endpoint_id, slot.id), sql`${t.deliveries.status} = 'pending'`)),
);

/** Takes an endpoint out of service; everything that waits for it is held. */
export async function stopEndpoint(tx: Tx, row: WebhookRow, status: "disabled" | "failed"): Promise<WebhookRow> {
  assertMove(webhookTransitions, row.status, status);
  const stopped = { status, due_at: null, updated_at: tx.now };
  await updateRow(tx, "webhookEndpoints", { id: row.id }, stopped);
  await holdWaiting(tx, { id: row.id, now: tx.now });
  return { ...row, ...stopped };
}

/** Disables an endpoint: events are held from now on. Safe to repeat. Throws `not_found`. */
export async function disableWebhook(tx: Tx, input: WebhookAct): Promise<WebhookDetail> {
  const row = await webhookActedOn(tx, input);
  if (row.status === "disabled") return toWebhookDetail(tx, row);
  const stopped = await stopEndpoint(tx, row, "disabled");
  const changes = changesOf(row, stopped, ["status"]);
  await recordAudit(tx, { ...auditOf(row, "webhooks.disable", input.actor), changes });
  return toWebhookDetail(tx, stopped);
}
