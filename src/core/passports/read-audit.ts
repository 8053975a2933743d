import { type Actor, recordAudit } from "../audit/record.ts";
import type { PassportId } from "../kernel/brand.ts";
import { counted } from "../kernel/counted.ts";
import type { Owner } from "../kernel/owner.ts";
import type { Tx } from "../store/store.ts";

/** Records in the audit trail that the operator read whole records of a partner's pool. */
export async function auditPoolRead(tx: Tx, input: Owner & { ids: PassportId[]; actor: Actor }): Promise<void> {
  const { actor, partnerId, ids } = input;
  const [only] = ids;
  if (only === undefined) return;
  const target =
    ids.length === 1
      ? { targetKind: "passport", targetId: only }
      : {
          targetKind: "partner",
          targetId: partnerId,
          note: `${counted(ids.length, "passport")}, ${only} to ${ids.at(-1)}`,
        };
  await recordAudit(tx, { actor, action: "passports.read", partnerId, ...target });
}
