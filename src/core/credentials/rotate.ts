import { eq } from "drizzle-orm";
import { recordAudit } from "../audit/record.ts";
import { isoTime } from "../kernel/clock.ts";
import { Problem } from "../kernel/problem.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { type IssuedCredential, newSecret, requireCredential } from "./credential.ts";

const replaceSecret = statement((db, t, slot: Slots<{ client_id: string; hash: string; now: number }>) =>
  db
    .update(t.credentials)
    .set({ secret_hash: slot.hash, rotated_at: slot.now })
    .where(eq(t.credentials.client_id, slot.client_id)),
);

/**
 * Replaces the secret; the old one is refused from now on, tokens already issued live on until they expire. Throws
 * `not_found`, `conflict` when the credential is revoked.
 */
export async function rotateCredential(tx: Tx, input: { clientId: string; actor: string }): Promise<IssuedCredential> {
  const row = await requireCredential(tx, input.clientId);
  if (row.revoked_at !== null) throw new Problem("conflict", `${row.client_id} is revoked; create a new credential.`);
  const { secret, hash } = newSecret(tx.ids);
  await replaceSecret(tx, { client_id: row.client_id, hash, now: tx.now });
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
