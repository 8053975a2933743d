import { recordAudit } from "../audit/record.ts";
import type { WebhookId } from "../kernel/brand.ts";
import { isoTime, isoTimeOrNull } from "../kernel/clock.ts";
import { Problem } from "../kernel/problem.ts";
import { updateRow } from "../store/rows.ts";
import type { Tx } from "../store/store.ts";
import { currentSecret, newWebhookSecret, nextSecret, type SealedSecrets, signingSecrets } from "./signature.ts";
import { auditOf, type WebhookAct, webhookActedOn } from "./webhook.ts";

/** What a rotation made. */
export interface RotatedSecret {
  id: WebhookId;
  /** The new secret, this once. */
  secret: string;
  /** Until when the old one signs X-Webhook-Signature; null: it signs nothing any more. */
  overlap_until: string | null;
}

/**
 * Gives an endpoint a new secret. For `overlapMs` the old one goes on signing X-Webhook-Signature and the new one signs
 * X-Webhook-Signature-Next; 0 replaces it at once. Throws `not_found`, `conflict` while another overlap runs: the
 * partner holds a secret that is not yet active.
 */
export async function rotateWebhookSecret(tx: Tx, input: WebhookAct & { overlapMs: number }): Promise<RotatedSecret> {
  const row = await webhookActedOn(tx, input);
  const { id, next_secret_from } = row;
  const running = next_secret_from !== null && next_secret_from > tx.now;
  if (running && input.overlapMs > 0) {
    throw new Problem("conflict", `The overlap of the last rotation runs until ${isoTime(next_secret_from)}.`);
  }
  const secret = newWebhookSecret(tx.ids);
  const until = input.overlapMs > 0 ? tx.now + input.overlapMs : null;
  // After an overlap the next secret is the current one, though its column is not yet updated. Replaced at once, the
  // current one is not opened: it may be unreadable.
  const first = until === null ? secret : signingSecrets(tx.vault, row, tx.now).current;
  const secrets: SealedSecrets = {
    secret_sealed: tx.vault.seal(first, currentSecret(id)),
    next_secret_sealed: until === null ? null : tx.vault.seal(secret, nextSecret(id)),
    next_secret_from: until,
  };
  await updateRow(tx, "webhookEndpoints", { id: row.id }, { ...secrets, updated_at: tx.now });
  await recordAudit(tx, { ...auditOf(row, "webhooks.rotate-secret", input.actor), fields: ["secret"] });
  return { id: row.id, secret, overlap_until: isoTimeOrNull(until) };
}
