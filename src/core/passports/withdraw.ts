import { eq } from "drizzle-orm";
import { recordAudit } from "../audit/record.ts";
import type { PassportId } from "../kernel/brand.ts";
import { type Slots, statement } from "../store/statement.ts";
import type { Tx } from "../store/store.ts";
import { requireAgent } from "./agent.ts";
import { refuseInUse } from "./edit.ts";
import { type Owner, requireOwnPassport } from "./passport.ts";

const withdraw = statement((db, t, slot: Slots<{ id: PassportId; now: number }>) =>
  db
    .update(t.passports)
    .set({ pool_key: slot.id, withdrawn_at: slot.now, drawable: false, updated_at: slot.now })
    .where(eq(t.passports.id, slot.id)),
);

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
  await withdraw(tx, { id, now: tx.now });
  const { partnerId } = owner;
  await recordAudit(tx, { actor, action: "passports.withdraw", targetKind: "passport", targetId: id, partnerId });
  return { ok: true, id, status: "withdrawn" };
}
