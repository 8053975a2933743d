import { isoTime } from "../kernel/clock.ts";
import type { Row } from "../store/schema/tables.ts";

type Event = Pick<Row<"events">, "id" | "kind" | "occurred_at" | "data">;

/** An event whose data is the JSON text that is kept of it. */
export interface EventText extends Omit<Event, "data"> {
  data: string;
}

/** What says of an event that it happened (contract: Events): the body of a delivery, and an element of the feed. */
export function envelope({ id, kind, occurred_at, data }: Event) {
  return { ...headOf({ id, kind, occurred_at }), data };
}

/**
 * The body of a delivery (contract: Events): the same text at every attempt, that of `envelope`. The data is in it as
 * it is kept, neither parsed nor written again.
 */
export function envelopeOf({ data, ...event }: EventText): string {
  return `${JSON.stringify(headOf(event)).slice(0, -1)},"data":${data}}`;
}

function headOf({ id, kind, occurred_at }: Omit<Event, "data">) {
  return { event: kind, event_id: id, timestamp: isoTime(occurred_at) };
}
