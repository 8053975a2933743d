import { recordAudit } from "../audit/record.ts";
import type { PassportId } from "../kernel/brand.ts";
import type { Owner } from "../kernel/owner.ts";
import { updateRow } from "../store/rows.ts";
import type { Tx } from "../store/store.ts";
import { refuseInUse } from "./edit.ts";
import { requireAgent, requireOwnPassport } from "./passport.ts";

/**
 * Takes a passport out of the caller's pool; the record stays until it is purged (contract: DELETE
 * /kyc/passports/{id}). Throws `not_found`, `passport_in_use`, `no_agent_record`.
 */
export async function withdrawPassport(
  tx: Tx,
  input: { owner: Owner; id: PassportId; actor: string },
): Promise<{ ok: true; id: PassportId; status: "withdrawn" }> {
  const { owner, id, actor } = input;
  await requireAgent(tx, owner.partnerId);
  refuseInUse(await requireOwnPassport(tx, owner, id));
  const withdrawn = { pool_key: id, withdrawn_at: tx.now, drawable: false, updated_at: tx.now };
  await updateRow(tx, "passports", { id }, withdrawn);
  const { partnerId } = owner;
  await recordAudit(tx, { actor, action: "passports.withdraw", targetKind: "passport", targetId: id, partnerId });
  return { ok: true, id, status: "withdrawn" };
}
