import { isoTime } from "../kernel/clock.ts";
import { recordEvent } from "../outbox/record.ts";
import type { Tx } from "../store/store.ts";
import type { ActivationRow } from "./activation.ts";

/** The steps of a request that webhooks tell of. */
export type ActivationEvent = "submitted" | "confirmed" | "activated" | "failed";

/** What each step adds to the fields that all have (contract: Events). */
const additions: Readonly<Record<ActivationEvent, (row: ActivationRow, at: string) => Record<string, unknown>>> = {
  submitted: (_row, at) => ({ submitted_at: at }),
  confirmed: (row, at) => ({ confirmation_number: row.confirmation_number, confirmed_at: at }),
  activated: ({ mobile_number, confirmation_number }, at) => ({ mobile_number, confirmation_number, activated_at: at }),
  failed: ({ error_type, error_message }, at) => ({ error_type, error_message, failed_at: at }),
};

/** Writes the event of a step that was just taken; `row` is as it stands after it. */
export async function announceStep(tx: Tx, step: ActivationEvent, row: ActivationRow): Promise<void> {
  const { id, iccid, carrier, activation_date, customer_name, status, processing_status } = row;
  await recordEvent(tx, {
    kind: `activation.${step}`,
    partnerId: row.partner_id,
    environment: row.environment,
    subjectId: id,
    data: {
      id,
      iccid,
      carrier,
      activation_date,
      customer_name,
      status,
      processing_status,
      ...additions[step](row, isoTime(tx.now)),
    },
  });
  tx.signal("deliveries");
}
