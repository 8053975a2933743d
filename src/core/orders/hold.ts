import { recordAudit } from "../audit/record.ts";
import type { Tx } from "../store/store.ts";
import { type OrderRow, progressOrder } from "./order.ts";

/**
 * Holds a paid order for people; one that is held already gets the newest reason. The audit trail keeps `cause`, also
 * once the order has ended: like `reason`, but without what others wrote, which may name a traveller.
 */
export async function holdOrder(tx: Tx, order: OrderRow, reason: string, cause: string): Promise<void> {
  if (order.status !== "paid" && order.status !== "waiting_review") return;
  await progressOrder(tx, order, { status: "waiting_review", reason });
  const { id: targetId, partner_id: partnerId } = order;
  const held = { actor: "worker", action: "orders.hold", targetKind: "order", targetId, partnerId, note: cause };
  await recordAudit(tx, held);
}
