import { isoTime } from "../kernel/clock.ts";
import { recordEvent } from "../outbox/record.ts";
import type { Tx } from "../store/store.ts";
import { type LineRow, type OrderRow, progressOrder } from "./order.ts";

/** The last line is delivered: the order is fulfilled, and says so (contract: order.fulfilled; esims.ready). */
export async function finishOrder(tx: Tx, order: OrderRow, lines: LineRow[]): Promise<OrderRow> {
  const finished = await progressOrder(tx, order, {
    status: "fulfilled",
    reason: null,
    due_at: null,
    leased_until: null,
    fulfilled_at: tx.now,
  });
  const about = { partnerId: order.partner_id, environment: order.environment, subjectId: order.id };
  const { id, order_number, external_order_id } = order;
  // Up to 500,000 eSIMs: their codes join both payloads when they are sent, from the order.
  const ended = { status: "fulfilled", fulfilled_at: isoTime(tx.now) } as const;
  const fulfilled = { id, order_number, external_order_id, ...ended };
  await recordEvent(tx, { kind: "order.fulfilled", ...about, data: fulfilled });
  const count = lines.reduce((sum, line) => sum + (line.status === "fulfilled" ? line.assigned : 0), 0);
  if (count > 0) {
    const ready = { order_id: id, order_number, external_order_id, count };
    await recordEvent(tx, { kind: "esims.ready", ...about, data: ready });
  }
  tx.signal("deliveries");
  return finished;
}
