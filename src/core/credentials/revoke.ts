import { and, eq, isNull } from "drizzle-orm";
import { recordAudit } from "../audit/record.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { type Credential, requireCredential, toCredential } from "./credential.ts";

const markRevoked = statement((db, t, slot: Slots<{ client_id: string; now: number }>) =>
  db
    .update(t.credentials)
    .set({ revoked_at: slot.now })
    .where(and(eq(t.credentials.client_id, slot.client_id), isNull(t.credentials.revoked_at))),
);

/** Ends a credential and every token it got, at once. Revoking twice changes nothing. Throws `not_found`. */
export async function revokeCredential(tx: Tx, input: { clientId: string; actor: string }): Promise<Credential> {
  const row = await requireCredential(tx, input.clientId);
  if (row.revoked_at === null) {
    await markRevoked(tx, { client_id: row.client_id, now: tx.now });
    await recordAudit(tx, {
      actor: input.actor,
      action: "credentials.revoke",
      targetKind: "credential",
      targetId: row.client_id,
      partnerId: row.partner_id,
    });
    await tx.touch();
  }
  return toCredential(await requireCredential(tx, row.client_id));
}
