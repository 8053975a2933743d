import { type Actor, recordAudit } from "../audit/record.ts";
import type { OrderId, PartnerId } from "../kernel/brand.ts";
import { counted } from "../kernel/counted.ts";
import type { Tx } from "../store/store.ts";

/** An operator's reading of activation codes in a partner's name. */
interface CodesRead {
  actor: Actor;
  partnerId: PartnerId;
  orderId: OrderId;
  /** How many eSIMs were shown. */
  codes: number;
}

/** Records in the audit trail that the operator read the activation codes of an order. */
export async function auditCodesRead(tx: Tx, { actor, partnerId, orderId, codes }: CodesRead): Promise<void> {
  await recordAudit(tx, {
    actor,
    action: "orders.read-codes",
    targetKind: "order",
    targetId: orderId,
    partnerId,
    fields: ["activation_code"],
    note: counted(codes, "eSIM"),
  });
}
