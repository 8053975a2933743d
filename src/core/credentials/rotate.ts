import { recordAudit } from "../audit/record.ts";
import { isoTime } from "../kernel/clock.ts";
import { Problem } from "../kernel/problem.ts";
import { updateRow } from "../store/rows.ts";
import type { Tx } from "../store/store.ts";
import { type IssuedCredential, newSecret, requireCredential } from "./credential.ts";

/**
 * Replaces the secret; the old one is refused from now on, tokens already issued live on until they expire. Throws
 * `not_found`, `conflict` when the credential is revoked.
 */
export async function rotateCredential(tx: Tx, input: { clientId: string; actor: string }): Promise<IssuedCredential> {
  const row = await requireCredential(tx, input.clientId);
  if (row.revoked_at !== null) throw new Problem("conflict", `${row.client_id} is revoked; create a new credential.`);
  const { secret, mark } = newSecret(tx, row.client_id);
  await updateRow(tx, "credentials", { client_id: row.client_id }, { secret_hash: mark, rotated_at: tx.now });
  await recordAudit(tx, {
    actor: input.actor,
    action: "credentials.rotate",
    targetKind: "credential",
    targetId: row.client_id,
    partnerId: row.partner_id,
  });
  await tx.touch();
  const { client_id, environment, scopes, label, created_at } = row;
  return { client_id, client_secret: secret, environment, scopes, label, created_at: isoTime(created_at) };
}
