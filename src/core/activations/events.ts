import { type ActivationStep, activationStep } from "../outbox/activation-step.ts";
import { recordEvent } from "../outbox/record.ts";
import type { Tx } from "../store/store.ts";
import type { ActivationRow } from "./activation.ts";

/** The steps of a request that have a webhook event. */
export type ActivationEvent = ActivationStep;

/** Writes the event of a step that was just taken; `row` is the row after it. */
export async function announceStep(tx: Tx, step: ActivationEvent, row: ActivationRow): Promise<void> {
  const { id, iccid, carrier, activation_date, customer_name } = row;
  await recordEvent(tx, {
    partnerId: row.partner_id,
    environment: row.environment,
    subjectId: id,
    ...activationStep(step, { id, iccid, carrier, activation_date, customer_name }, row, tx.now),
  });
  tx.signal("deliveries");
}
