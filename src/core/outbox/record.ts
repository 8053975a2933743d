import type { PartnerId } from "../kernel/brand.ts";
import type { Environment } from "../kernel/environment.ts";
import { newId } from "../kernel/ids.ts";
import { insertRow } from "../store/rows.ts";
import type { EventKind } from "../store/schema/event-kinds.ts";
import type { Tx } from "../store/store.ts";
import { fanOut } from "./fan-out.ts";
/** An event that has just come about. */
export interface NewEvent {
  kind: EventKind;
  partnerId: PartnerId;
  environment: Environment;
  /** The order, eSIM or activation it is about. */
  subjectId: string;
  /** The fields of the contract's table for this kind. */
  data: Record<string, unknown>;
  /** `order_esims`: the order's eSIMs join `data` as `esims` when the event is sent. */
  expands?: "order_esims";
}

/**
 * Writes an event, and one delivery for each of the partner's endpoints that subscribed to it, in the transaction of
 * its cause, so that a crash loses neither or both. Answers its event_id.
 */
export async function recordEvent(tx: Tx, event: NewEvent): Promise<string> {
  const id = newId(tx);
  await insertRow(tx, "events", {
    id,
    kind: event.kind,
    partner_id: event.partnerId,
    environment: event.environment,
    subject_id: event.subjectId,
    occurred_at: tx.now,
    data: event.data,
    expands: event.expands ?? null,
  });
  await fanOut(tx, { id, kind: event.kind, partner_id: event.partnerId, environment: event.environment });
  return id;
}
