import type { PartnerId } from "../kernel/brand.ts";
import { newId } from "../kernel/ids.ts";
import { insertRow } from "../store/rows.ts";
import type { Tx } from "../store/store.ts";

/** Who does a thing: `operator`, `client:<client_id>`, `worker`, `carrier:<name>` or `supplier:<name>`. */
export type Actor = string;

/** Who did what to which thing. */
export interface AuditEntry {
  actor: Actor;
  /** What was done: `partners.suspend`, `orders.approve`, … */
  action: string;
  targetKind: string;
  targetId: string;
  partnerId?: PartnerId | null;
  /** Names of the fields concerned. Never values. */
  fields?: string[];
  /** Words of the person who did it, e.g. a reason. */
  note?: string | null;
}

/** Writes one line of the audit trail in the transaction of what it records. */
export async function recordAudit(tx: Tx, entry: AuditEntry): Promise<void> {
  await insertRow(tx, "auditEntries", {
    id: newId(tx),
    at: tx.now,
    actor: entry.actor,
    action: entry.action,
    target_kind: entry.targetKind,
    target_id: entry.targetId,
    partner_id: entry.partnerId ?? null,
    fields: entry.fields ?? null,
    note: entry.note ?? null,
    request_id: tx.requestId,
  });
}
