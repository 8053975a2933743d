import { isoTime } from "../kernel/clock.ts";
import type { Row } from "../store/schema/tables.ts";

type Event = Pick<Row<"events">, "id" | "kind" | "occurred_at" | "data">;

/** The body of a delivery (contract: Events): the same text at every attempt. */
export function envelopeOf(event: Event): string {
  const { id, kind, occurred_at, data } = event;
  return JSON.stringify({ event: kind, event_id: id, timestamp: isoTime(occurred_at), data });
}
