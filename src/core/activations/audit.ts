import { type Actor, recordAudit } from "../audit/record.ts";
import type { Tx } from "../store/store.ts";
import type { ActivationRow } from "./activation.ts";

interface Act {
  /** What was done: `activations.cancel`, `activations.edit`, … */
  action: string;
  actor: Actor;
  fields?: string[];
  note?: string | null;
}

/** Records in the audit trail what was done to a request, or read of it. */
export async function auditActivation(tx: Tx, row: ActivationRow, act: Act): Promise<void> {
  await recordAudit(tx, { ...act, targetKind: "activation", targetId: row.id, partnerId: row.partner_id });
}
