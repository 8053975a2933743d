import { type EventKind, type Expansion, expansionOf, type Happening, type SentPayload } from "../events/catalog.ts";
import type { PartnerId } from "../kernel/brand.ts";
import type { Environment } from "../kernel/environment.ts";
import { newId } from "../kernel/ids.ts";
import { insertRow } from "../store/rows.ts";
import type { Tx } from "../store/store.ts";
import { fanOut } from "./fan-out.ts";

interface Audience {
  partnerId: PartnerId;
  environment: Environment;
  /** The order, eSIM or activation it is about. */
  subjectId: string;
}

/** An event that has just come about: its kind, and the payload that the catalog has for this kind. */
export type NewEvent = Audience & Happening;

/** A made-up event with its whole payload. */
export type SampleEvent = Audience & { kind: EventKind; data: SentPayload<EventKind> & { test: true } };

/**
 * Writes an event, and one delivery for each of the partner's endpoints that subscribed to it, in the transaction of
 * its cause, so that a crash loses neither or both. Answers its event_id.
 */
export function recordEvent(tx: Tx, event: NewEvent): Promise<string> {
  return insertEvent(tx, event, expansionOf(event.kind));
}

/** The same for a sample: nothing joins its payload when it is sent. */
export function recordSample(tx: Tx, event: SampleEvent): Promise<string> {
  return insertEvent(tx, event, null);
}

async function insertEvent(tx: Tx, event: NewEvent | SampleEvent, expands: Expansion | null): Promise<string> {
  const id = newId(tx);
  await insertRow(tx, "events", {
    id,
    kind: event.kind,
    partner_id: event.partnerId,
    environment: event.environment,
    subject_id: event.subjectId,
    occurred_at: tx.now,
    data: event.data,
    expands,
  });
  await fanOut(tx, { id, kind: event.kind, partner_id: event.partnerId, environment: event.environment });
  return id;
}
