import { type ActivationStep, activationStep } from "../outbox/activation-step.ts";
import { recordEvent } from "../outbox/record.ts";
import type { Tx } from "../store/store.ts";
import type { ItemRow } from "./items.ts";
import type { OrderRow } from "./order.ts";

/** The steps of an item that webhooks tell of. */
export type ItemEvent = ActivationStep;

/** Records the event of a traveller's item: `id` is the item's, `carrier` null. Items without a traveller have none. */
export async function announceItem(tx: Tx, order: OrderRow, item: ItemRow, step: ItemEvent, iccid: string | null) {
  const { id, traveller } = item;
  if (traveller === null) return;
  const { activation_date, customer_name } = traveller;
  const { id: order_id, order_number, external_order_id } = order;
  const traveling = { activation_date, customer_name };
  const subject = { id, order_id, order_number, external_order_id, iccid, carrier: null, ...traveling };
  const result = { ...item, mobile_number: null };
  await recordEvent(tx, {
    partnerId: order.partner_id,
    environment: order.environment,
    subjectId: id,
    ...activationStep(step, subject, result, tx.now),
  });
  tx.signal("deliveries");
}
