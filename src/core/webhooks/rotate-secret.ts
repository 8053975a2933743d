import { recordAudit } from "../audit/record.ts";
import type { WebhookId } from "../kernel/brand.ts";
import { isoTime, isoTimeOrNull } from "../kernel/clock.ts";
import { Problem } from "../kernel/problem.ts";
import { updateRow } from "../store/rows.ts";
import type { Tx } from "../store/store.ts";
import { newWebhookSecret, type SealedSecrets } from "./signature.ts";
import { auditOf, requireWebhook } from "./webhook.ts";

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
export async function rotateWebhookSecret(
  tx: Tx,
  input: { id: WebhookId; overlapMs: number; actor: string },
): Promise<RotatedSecret> {
  const row = await requireWebhook(tx, input.id);
  const { next_secret_sealed, next_secret_from } = row;
  const running = next_secret_from !== null && next_secret_from > tx.now;
  if (running && input.overlapMs > 0) {
    throw new Problem("conflict", `The overlap of the last rotation runs until ${isoTime(next_secret_from)}.`);
  }
  const secret = newWebhookSecret(tx.ids);
  const sealed = tx.vault.seal(secret);
  // After an overlap the next secret is the current one, though its column is not yet updated.
  const current = running || next_secret_sealed === null ? row.secret_sealed : next_secret_sealed;
  const until = input.overlapMs > 0 ? tx.now + input.overlapMs : null;
  const secrets: SealedSecrets = {
    secret_sealed: until === null ? sealed : current,
    next_secret_sealed: until === null ? null : sealed,
    next_secret_from: until,
  };
  await updateRow(tx, "webhookEndpoints", { id: row.id }, { ...secrets, updated_at: tx.now });
  await recordAudit(tx, { ...auditOf(row, "webhooks.rotate-secret", input.actor), fields: ["secret"] });
  return { id: row.id, secret, overlap_until: isoTimeOrNull(until) };
}
