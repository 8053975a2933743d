import { isoTime } from "../kernel/clock.ts";
import type { Row } from "../store/schema/tables.ts";

type Event = Pick<Row<"events">, "id" | "kind" | "occurred_at" | "data">;

/** The body of a delivery (contract: Events): the same text at every attempt. */
export function envelopeOf(event: Event): string {
  const { id, kind, occurred_at, data } = event;
  return JSON.stringify({ event: kind, event_id: id, timestamp: isoTime(occurred_at), data });
}

/** The same in two halves, between which a list of JSON texts, separated by commas, becomes `data.esims`. */
export function envelopeAround(event: Event): { head: string; tail: string } {
  const whole = envelopeOf({ ...event, data: { ...event.data, esims: [] } });
  // `esims` is the last member of the last member.
  return { head: whole.slice(0, -"]}}".length), tail: "]}}" };
}
