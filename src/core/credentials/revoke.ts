import { recordAudit } from "../audit/record.ts";
import { updateRow } from "../store/rows.ts";
import type { Tx } from "../store/store.ts";
import { type Credential, requireCredential, showCredential } from "./credential.ts";

/** Ends a credential and every token it got, at once. Revoking twice changes nothing. Throws `not_found`. */
export async function revokeCredential(tx: Tx, input: { clientId: string; actor: string }): Promise<Credential> {
  const row = await requireCredential(tx, input.clientId);
  if (row.revoked_at === null) {
    await updateRow(tx, "credentials", { client_id: row.client_id }, { revoked_at: tx.now });
    await recordAudit(tx, {
      actor: input.actor,
      action: "credentials.revoke",
      targetKind: "credential",
      targetId: row.client_id,
      partnerId: row.partner_id,
    });
    await tx.touch();
  }
  return showCredential(tx, row.client_id);
}
