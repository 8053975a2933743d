import { isoTime } from "../kernel/clock.ts";
import type { Row } from "../store/schema/tables.ts";

type Event = Pick<Row<"events">, "id" | "kind" | "occurred_at" | "data">;

/** What says of an event that it happened (contract: Events): the body of a delivery, and an element of the feed. */
export function envelope({ id, kind, occurred_at, data }: Event) {
  return { event: kind, event_id: id, timestamp: isoTime(occurred_at), data };
}

/** The body of a delivery (contract: Events): the same text at every attempt. */
export function envelopeOf(event: Event): string {
  return JSON.stringify(envelope(event));
}
