import { isoTime } from "../kernel/clock.ts";
import { recordEvent } from "../outbox/record.ts";
import type { Tx } from "../store/store.ts";
import type { ItemRow } from "./items.ts";
import type { OrderRow } from "./order.ts";

/** The steps of an item that webhooks tell of. */
export type ItemEvent = "submitted" | "confirmed" | "activated" | "failed";

const statuses: Readonly<Record<ItemEvent, { status: string; processing_status: string }>> = {
  submitted: { status: "processing", processing_status: "processing" },
  confirmed: { status: "processing", processing_status: "confirmed" },
  activated: { status: "completed", processing_status: "completed" },
  failed: { status: "failed", processing_status: "failed" },
};

/** What each step adds to the fields that all have (contract: Events). */
const additions: Readonly<Record<ItemEvent, (item: ItemRow, at: string) => Record<string, unknown>>> = {
  submitted: (_item, at) => ({ submitted_at: at }),
  confirmed: ({ confirmation_number }, at) => ({ confirmation_number, confirmed_at: at }),
  activated: ({ confirmation_number }, at) => ({ mobile_number: null, confirmation_number, activated_at: at }),
  failed: ({ error_type, error_message }, at) => ({ error_type, error_message, failed_at: at }),
};

/** Tells of a traveller's item as of a physical activation: `id` is the item's, `carrier` null. Lots tell nothing. */
export async function announceItem(tx: Tx, order: OrderRow, item: ItemRow, step: ItemEvent, iccid: string | null) {
  const { traveller } = item;
  if (traveller === null) return;
  await recordEvent(tx, {
    kind: `activation.${step}`,
    partnerId: order.partner_id,
    environment: order.environment,
    subjectId: item.id,
    data: {
      id: item.id,
      order_id: order.id,
      order_number: order.order_number,
      external_order_id: order.external_order_id,
      iccid,
      carrier: null,
      activation_date: traveller.activation_date,
      customer_name: traveller.customer_name,
      ...statuses[step],
      ...additions[step](item, isoTime(tx.now)),
    },
  });
  tx.signal("deliveries");
}
